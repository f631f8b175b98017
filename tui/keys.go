package tui

// action is something that a key does.
type action string

// The actions; their texts are in draw.Words.Keys.
const (
	actSelect   action = "select"
	actNext     action = "next"
	actPrevious action = "previous"
	actDown1    action = "down1"
	actUp1      action = "up1"
	actDown5    action = "down5"
	actUp5      action = "up5"
	actNumber   action = "number"
	actLock     action = "lock"
	actEqual    action = "equal"
	actApply    action = "apply"
	actEsc      action = "esc"
	actUndo     action = "undo"
	actRedo     action = "redo"
	actAuto     action = "auto"
	actKill     action = "kill"
	actRestore  action = "restore"
	actDrain    action = "drain"
	actDrills   action = "drills"
	actAbort    action = "abort"
	actClock    action = "presenter"
	actZoom     action = "zoom"
	actFreeze   action = "freeze"
	actCommand  action = "command"
	actFilter   action = "filter"
	actOlder    action = "older"
	actNewer    action = "newer"
	actSnapshot action = "snapshot"
	actTheme    action = "theme"
	actMouse    action = "mouse"
	actReadOnly action = "readonly"
	actRedraw   action = "redraw"
	actHelp     action = "help"
	actQuit     action = "quit"
	actExtend   action = "extend"
)

// bound is which action a key, as bubbletea names it, stands for. Digits and
// what split mouse sequences end in (m, M, ;, <) change nothing.
var bound = map[string]action{
	"1": actSelect, "2": actSelect, "3": actSelect, "4": actSelect, "5": actSelect, "6": actSelect, "7": actSelect, "8": actSelect, "9": actSelect,
	"tab": actNext, "shift+tab": actPrevious, "down": actNext, "up": actPrevious, "j": actNext, "k": actPrevious,
	"left": actDown1, "h": actDown1, "right": actUp1, "l": actUp1,
	"shift+left": actDown5, "H": actDown5, "ctrl+left": actDown5, "shift+right": actUp5, "L": actUp5, "ctrl+right": actUp5,
	"=": actNumber, " ": actLock, "e": actEqual, "enter": actApply, "esc": actEsc, "ctrl+g": actEsc,
	"u": actUndo, "ctrl+r": actRedo, "a": actAuto, "K": actKill, "R": actRestore, "D": actDrain, "d": actDrills, "A": actAbort,
	"c": actClock, "z": actZoom, "f": actFreeze, ":": actCommand, "/": actFilter, "pgdown": actOlder, "pgup": actNewer,
	"ctrl+s": actSnapshot, "t": actTheme, "ctrl+o": actMouse, "W": actReadOnly, "ctrl+l": actRedraw, "?": actHelp,
	"q": actQuit, "p": actExtend,
}

// writes says which actions change something in the engine.
var writes = map[action]bool{
	actDown1: true, actUp1: true, actDown5: true, actUp5: true, actNumber: true, actEqual: true, actUndo: true, actRedo: true,
	actAuto: true, actKill: true, actRestore: true, actDrain: true, actAbort: true, actExtend: true,
}

// helpKey is a line of the help.
type helpKey struct {
	keys  string
	text  string // of draw.Words.Keys
	write bool
}

var helpKeys = []helpKey{
	{"1-9  Tab  ↑ ↓", "select", false},
	{"← →   h l", "nudge", true},
	{"Shift ← →   H L", "leap", true},
	{"=", "number", true},
	{"Space", "lock", false},
	{"e", "equal", true},
	{"Enter", "apply", false},
	{"Esc", "esc", false},
	{"u", "undo", true},
	{"ctrl+r", "redo", true},
	{"a", "auto", true},
	{"p", "extend", true},
	{"K", "kill", true},
	{"R", "restore", true},
	{"D", "drain", true},
	{"d", "drills", false},
	{"A", "abort", true},
	{"c", "presenter", false},
	{"z", "zoom", false},
	{"f", "freeze", false},
	{":", "command", false},
	{"/", "filter", false},
	{"PgUp  PgDn", "scroll", false},
	{"ctrl+s", "snapshot", false},
	{"t", "theme", false},
	{"ctrl+o", "mouse", false},
	{"W", "readonly", false},
	{"ctrl+l", "redraw", false},
	{"?", "help", false},
	{"q  ctrl+c", "quit", false},
	{"mouse", "drag", true},
}

// fragment says whether several runes that came at once are the rest of a
// mouse sequence or of a terminal's answer that was cut in two, and no keys.
func fragment(rs []rune) bool {
	sequence := false
	for _, r := range rs {
		switch {
		case r >= '0' && r <= '9', r == 'M', r == 'm', r == '[':
		case r == ';', r == '<':
			sequence = true
		default:
			s := string(rs)
			return len(s) > 4 && (s[:3] == "11;" || s[:3] == "10;" || s[:3] == "]11" || s[:3] == "]10")
		}
	}
	return sequence && len(rs) > 1
}
