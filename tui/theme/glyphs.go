package theme

// Glyphs are the marks that are drawn; every one is a single cell wide, so
// that both sets give the same layout. None is an emoji, none has a variation
// selector: terminals disagree on their width.
type Glyphs struct {
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical string // boxes

	Healthy, Degraded, Ejected, Recovering, Drained, Disabled string // states

	Filled, Knob, KnobStaged, Rail, Ghost string // a slider, and where its knob was
	Bar, BarEnd, BarRail                  string // the clock's bar

	Select, Done, Doing, Ahead, Bad string // lists
	Fail, Over                      string // marks of a graph: failures; above its scale
	Corner, Base                    string // a graph's axis
	Arrow, Dot, Ellipsis            string // in texts
	Left, Right                     string // keys
	Sparks                          [8]string
	Full, Upper, Lower              string // blocks of digits
}

var unicode = Glyphs{
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─", Vertical: "│",
	Healthy: "●", Degraded: "▲", Ejected: "✖", Recovering: "◐", Drained: "▼", Disabled: "■",
	Filled: "━", Knob: "●", KnobStaged: "○", Rail: "─", Ghost: "┊",
	Bar: "━", BarEnd: "╸", BarRail: "─",
	Select: "▸", Done: "✔", Doing: "▸", Ahead: "○", Bad: "✖",
	Fail: "✖", Over: "▲", Corner: "└", Base: "─",
	Arrow: "→", Dot: "·", Ellipsis: "…", Left: "←", Right: "→",
	Sparks: [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Full:   "█", Upper: "▀", Lower: "▄",
}

var onlyASCII = Glyphs{
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Horizontal: "-", Vertical: "|",
	Healthy: "o", Degraded: "!", Ejected: "x", Recovering: "~", Drained: "v", Disabled: "#",
	Filled: "=", Knob: "O", KnobStaged: "0", Rail: "-", Ghost: ":",
	Bar: "=", BarEnd: ">", BarRail: "-",
	Select: ">", Done: "*", Doing: ">", Ahead: "o", Bad: "x",
	Fail: "x", Over: "^", Corner: "+", Base: "-",
	Arrow: ">", Dot: "-", Ellipsis: "~", Left: "<", Right: ">",
	Sparks: [8]string{"_", ".", "-", "~", "=", "+", "*", "#"},
	Full:   "#", Upper: "#", Lower: "#",
}
