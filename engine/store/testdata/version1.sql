-- A file of schema version 1, as it was written.
CREATE TABLE saved (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
	seq INTEGER PRIMARY KEY, time INTEGER NOT NULL,
	level TEXT NOT NULL, kind TEXT NOT NULL, vendor TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL, data TEXT NOT NULL);
INSERT INTO saved VALUES
	('clean', 'true'), ('seq', '3'), ('revision', '4'),
	('weights', '{"at":"2026-12-01T10:00:00Z","weights":{"lanyun":71.5,"bailian":28.5},"configured":{"lanyun":75,"bailian":25}}'),
	('pin', 'null'), ('manual', 'null'), ('drained', '{"bailian":"operator:li"}'), ('disabled', 'null'), ('limits', 'null'), ('setlimit', 'null');
INSERT INTO events VALUES
	(2, 1796119200000000000, 'info', 'operator', 'bailian', 'operator:li', 'bailian drained', '{"command":"baton drain bailian"}'),
	(3, 1796119201500000000, 'crit', 'health', 'lanyun', 'controller', '蓝耘 ejected: 5 failures in a row', '{"from":"healthy","to":"ejected"}');
PRAGMA application_id = 0x6261746e;
PRAGMA user_version = 1;
