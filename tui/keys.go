package tui

import "github.com/charmbracelet/bubbles/key"

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

	actOverrides action = "overrides"
	actCosts     action = "costs"
	actStress    action = "stress"
	actMark      action = "mark"
)

// bindings are the keys of each action, as bubbletea names them. Digits and
// what split mouse sequences end in (m, M, ;, <) change nothing.
var bindings = map[action]key.Binding{
	actSelect:   key.NewBinding(key.WithKeys("1", "2", "3", "4", "5", "6", "7", "8", "9")),
	actNext:     key.NewBinding(key.WithKeys("tab", "down", "j")),
	actPrevious: key.NewBinding(key.WithKeys("shift+tab", "up", "k")),
	actDown1:    key.NewBinding(key.WithKeys("left", "h")),
	actUp1:      key.NewBinding(key.WithKeys("right", "l")),
	actDown5:    key.NewBinding(key.WithKeys("shift+left", "H", "ctrl+left")),
	actUp5:      key.NewBinding(key.WithKeys("shift+right", "L", "ctrl+right")),
	actNumber:   key.NewBinding(key.WithKeys("=")),
	actLock:     key.NewBinding(key.WithKeys(" ")),
	actEqual:    key.NewBinding(key.WithKeys("e")),
	actApply:    key.NewBinding(key.WithKeys("enter")),
	actEsc:      key.NewBinding(key.WithKeys("esc", "ctrl+g")),
	actUndo:     key.NewBinding(key.WithKeys("u")),
	actRedo:     key.NewBinding(key.WithKeys("ctrl+r")),
	actAuto:     key.NewBinding(key.WithKeys("a")),
	actKill:     key.NewBinding(key.WithKeys("K")),
	actRestore:  key.NewBinding(key.WithKeys("R")),
	actDrain:    key.NewBinding(key.WithKeys("D")),
	actDrills:   key.NewBinding(key.WithKeys("d")),
	actAbort:    key.NewBinding(key.WithKeys("A")),
	actClock:    key.NewBinding(key.WithKeys("c")),
	actZoom:     key.NewBinding(key.WithKeys("z")),
	actFreeze:   key.NewBinding(key.WithKeys("f")),
	actCommand:  key.NewBinding(key.WithKeys(":")),
	actFilter:   key.NewBinding(key.WithKeys("/")),
	actOlder:    key.NewBinding(key.WithKeys("pgdown")),
	actNewer:    key.NewBinding(key.WithKeys("pgup")),
	actSnapshot: key.NewBinding(key.WithKeys("ctrl+s")),
	actTheme:    key.NewBinding(key.WithKeys("t")),
	actMouse:    key.NewBinding(key.WithKeys("ctrl+o")),
	actReadOnly: key.NewBinding(key.WithKeys("W")),
	actRedraw:   key.NewBinding(key.WithKeys("ctrl+l")),
	actHelp:     key.NewBinding(key.WithKeys("?")),
	actQuit:     key.NewBinding(key.WithKeys("q")),
	actExtend:   key.NewBinding(key.WithKeys("p")),

	actOverrides: key.NewBinding(key.WithKeys("o")),
	actCosts:     key.NewBinding(key.WithKeys("$")),
	actStress:    key.NewBinding(key.WithKeys("S")),
	actMark:      key.NewBinding(key.WithKeys("x")),
}

// bound is which action a key stands for.
var bound = func() map[string]action {
	all := map[string]action{}
	for act, b := range bindings {
		for _, k := range b.Keys() {
			all[k] = act
		}
	}
	return all
}()

// writes says which actions change something in the engine.
var writes = map[action]bool{
	actDown1: true, actUp1: true, actDown5: true, actUp5: true, actNumber: true, actEqual: true, actUndo: true, actRedo: true,
	actAuto: true, actKill: true, actRestore: true, actDrain: true, actAbort: true, actExtend: true, actMark: true,
}

// onSliders are the actions on what other screens than the vendors' hide.
var onSliders = map[action]bool{
	actDown1: true, actUp1: true, actDown5: true, actUp5: true, actNumber: true, actLock: true, actEqual: true, actApply: true, actUndo: true, actRedo: true,
	actAuto: true, actZoom: true, actFilter: true, actOlder: true, actNewer: true,
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
	{"o", "overrides", false},
	{"K", "kill", true},
	{"R", "restore", true},
	{"D", "drain", true},
	{"d", "drills", false},
	{"A", "abort", true},
	{"x", "mark", true},
	{"c", "presenter", false},
	{"$", "costs", false},
	{"S", "stress", false},
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
	{"Space + - [ ]", "replay", false},
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
