package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // the driver "sqlite", and its errors
)

// SQLite's primary result codes (https://www.sqlite.org/rescode.html).
const (
	codeCorrupt = 11
	codeNotADB  = 26
)

// file is the database, open.
type file struct {
	path    string
	db      *sql.DB
	conn    *sql.Conn // the only one: the file is opened exclusively
	info    os.FileInfo
	copied  string            // the directory of a copy, "" for the file itself
	written map[string]string // the rows of saved that are known to be in it
}

// openFile opens the database at path, or begins one, and brings it forward.
func openFile(ctx context.Context, path string) (*file, error) {
	// SQLite would make it readable for all; its log takes the file's mode.
	h, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = h.Chmod(0o600); err != nil {
		_ = h.Close()
		return nil, err
	}
	info, err := h.Stat()
	var version [1]byte
	_, _ = h.ReadAt(version[:], 18) // the file format's write version: 2 is WAL (https://www.sqlite.org/fileformat.html)
	// Closing a descriptor drops every lock that this process has on the file, so
	// it comes before SQLite takes its own.
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	f := &file{path: path, info: info, written: map[string]string{}}
	if f.db, err = sql.Open("sqlite", dsn(path, version[0] == 2)); err != nil {
		return nil, err
	}
	f.db.SetMaxOpenConns(1)
	if f.conn, err = f.db.Conn(ctx); err == nil {
		if err = f.check(ctx); err == nil {
			err = migrate(ctx, f.conn, path, migrations)
		}
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// dsn is the driver's name of the file and its settings. The lock's mode comes
// first: the log's index is in the heap only if it is exclusive by then. A file
// that has a log already must not be told to have one: that would map an index.
func dsn(path string, logged bool) string {
	d := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_txlock=immediate&_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)"
	if !logged {
		d += "&_pragma=journal_mode(WAL)"
	}
	return d + "&_pragma=synchronous(FULL)&_pragma=journal_size_limit(4194304)"
}

// check looks at every page once.
func (f *file) check(ctx context.Context) error {
	said := ""
	if err := f.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return &foreign{said}
	}
	return nil
}

// close ends the use of the file; what was committed is in it.
func (f *file) close() {
	if f.conn != nil {
		_ = f.conn.Close()
	}
	_ = f.db.Close()
}

// moved says whether another file, or none, has taken the place of this one.
func (f *file) moved() bool {
	now, err := os.Stat(f.path)
	return err != nil || !os.SameFile(now, f.info)
}

// corrupt says whether err is about what the file holds, not about reaching it.
func corrupt(err error) bool {
	if _, ok := errors.AsType[*foreign](err); ok {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == codeCorrupt || e.Code()&0xff == codeNotADB)
}

// setAside gives the file at path, with its log, another name and returns that.
func setAside(path string, now time.Time) (string, error) {
	stamp := now.UTC().Format("20060102T150405Z")
	to := path + ".corrupt-" + stamp
	for n := 2; exists(to); n++ {
		to = fmt.Sprintf("%s.corrupt-%s-%d", path, stamp, n)
	}
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	for _, with := range []string{"-wal", "-shm"} {
		if exists(path + with) {
			if err := os.Rename(path+with, to+with); err != nil {
				return to, err // a new file must not find the log of another
			}
		}
	}
	return to, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readCopy reads a file where nothing can be written: SQLite needs a place for
// its log even to read, so it gets a copy elsewhere.
func readCopy(ctx context.Context, path string) (saved savedState, err error) {
	f, err := openCopy(ctx, path)
	if err != nil {
		return saved, err
	}
	defer f.remove()
	defer f.close()
	return f.read(ctx)
}

// openCopy opens a copy, which is to be removed after its close.
func openCopy(ctx context.Context, path string) (*file, error) {
	dir, err := os.MkdirTemp("", "baton-read-")
	if err != nil {
		return nil, err
	}
	to := filepath.Join(dir, "baton.db")
	if err = copyFile(to, path); err == nil {
		if err = copyFile(to+"-wal", path+"-wal"); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	var f *file
	if err == nil {
		f, err = openFile(ctx, to)
	}
	if n, ok := errors.AsType[*NewerError](err); ok {
		n.Path = path
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	f.copied = dir
	return f, nil
}

// remove removes the copy that the file is, if it is one.
func (f *file) remove() {
	if f.copied != "" {
		_ = os.RemoveAll(f.copied)
	}
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
