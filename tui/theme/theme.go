package theme

import "strconv"

// Names of themes.
const (
	Auto     = "auto"
	Dark     = "dark"
	Light    = "light"
	MonoName = "mono"
)

// Depth is how much of its styles a terminal shows.
type Depth uint8

// The depths.
const (
	Plain   Depth = iota // no escapes at all
	Mono                 // bold, faint and reverse
	Ansi16               // the terminal's own sixteen colours
	Ansi256              // the 256 colour cube
	True                 // 24 bit
)

// Style is the SGR sequence that begins a style; "" paints nothing. Off ends it.
type Style string

// Off ends every style.
const Off = "\x1b[0m"

// Theme is everything a renderer needs to paint.
type Theme struct {
	Name  string // dark, light or mono
	Depth Depth
	ASCII bool
	Glyphs

	Text, Strong, Dim, Faint   Style // ink, from loud to quiet; all of it can be read
	Edge                       Style // frames and rails, quieter than any text
	Accent, Key                Style // what is selected; names of keys
	OK, Warn, Crit, Note       Style // good, look, act, by the way
	OKBold, WarnBold, CritBold Style
	P90, P99                   Style // the two lines of a graph, and their labels
	Staged                     Style // what is not applied yet
	BadgeOK, BadgeWarn         Style // words on a coloured ground
	BadgeCrit, BadgeNote       Style
	BadgeQuiet, Title          Style
	Line                       Line // the same for the graph library
}

// Line is a graph's colours as numbers of the 256 colour palette; 0 is none.
type Line struct{ P90, P99, Axis uint8 }

// shade is one colour at every depth: 24 bit, 256, 16.
type shade struct {
	r, g, b   uint8
	c256, c16 uint8
}

// palette is a theme's colours.
type palette struct {
	dim, faint, edge, accent, ok, warn, crit, note, p90, p99, staged shade
	ink                                                              shade // on a coloured ground
	quiet                                                            shade // the ground of quiet badges
}

var darkPalette = palette{
	dim:    shade{0x93, 0x9a, 0xa6, 247, 7},
	faint:  shade{0x82, 0x89, 0x95, 245, 7},
	edge:   shade{0x50, 0x57, 0x63, 240, 8},
	accent: shade{0x7a, 0xa2, 0xf7, 111, 12},
	ok:     shade{0x9e, 0xce, 0x6a, 149, 10},
	warn:   shade{0xe0, 0xaf, 0x68, 179, 11},
	crit:   shade{0xf7, 0x76, 0x8e, 204, 9},
	note:   shade{0x7d, 0xcf, 0xff, 117, 14},
	p90:    shade{0x5f, 0xd7, 0xd7, 80, 6},
	p99:    shade{0xd7, 0x87, 0xd7, 176, 13},
	staged: shade{0xff, 0xd7, 0x5f, 221, 11},
	ink:    shade{0x16, 0x18, 0x21, 234, 0},
	quiet:  shade{0x3a, 0x40, 0x4c, 238, 8},
}

var lightPalette = palette{
	dim:    shade{0x5c, 0x62, 0x6e, 241, 8},
	faint:  shade{0x6a, 0x70, 0x7c, 242, 8},
	edge:   shade{0xa8, 0xae, 0xba, 248, 7},
	accent: shade{0x2b, 0x5a, 0xb8, 25, 4},
	ok:     shade{0x2f, 0x76, 0x1c, 28, 2},
	warn:   shade{0x8f, 0x5a, 0x00, 94, 3},
	crit:   shade{0xb8, 0x1f, 0x44, 125, 1},
	note:   shade{0x0b, 0x6a, 0x8c, 24, 6},
	p90:    shade{0x00, 0x75, 0x80, 23, 6},
	p99:    shade{0x8a, 0x2c, 0xa8, 91, 5},
	staged: shade{0x9a, 0x4e, 0x00, 130, 3},
	ink:    shade{0xff, 0xff, 0xff, 231, 15},
	quiet:  shade{0xd8, 0xdc, 0xe4, 253, 7},
}

// New makes the theme of that name: auto, dark, light or mono (an unknown name
// is auto). A terminal without colours makes every theme mono.
func New(name string, ascii bool, d Depth) *Theme {
	if d <= Mono {
		name = MonoName
	}
	switch name {
	case Dark, Light, MonoName:
	default:
		name = Dark
		if !dark {
			name = Light
		}
	}
	t := &Theme{Name: name, Depth: d, ASCII: ascii, Glyphs: unicode}
	if ascii {
		t.Glyphs = onlyASCII
	}
	switch name {
	case MonoName:
		t.Depth = min(d, Mono)
		t.mono()
	case Light:
		t.paint(&lightPalette)
	default:
		t.paint(&darkPalette)
	}
	return t
}

// Next is the name of the theme after t's, in the order dark, light, mono.
func (t *Theme) Next() string {
	switch t.Name {
	case Dark:
		return Light
	case Light:
		return MonoName
	}
	return Dark
}

// Grey is t with everything quiet: what is shown is old.
func (t *Theme) Grey() *Theme {
	g := *t
	for _, s := range []*Style{
		&g.Text, &g.Strong, &g.Accent, &g.Key, &g.OK, &g.Warn, &g.Crit, &g.Note, &g.OKBold, &g.WarnBold, &g.CritBold,
		&g.P90, &g.P99, &g.Staged, &g.BadgeOK, &g.BadgeWarn, &g.BadgeCrit, &g.BadgeNote, &g.BadgeQuiet, &g.Title,
	} {
		*s = t.Faint
	}
	g.Dim = t.Faint
	g.Line = Line{P90: t.Line.Axis, P99: t.Line.Axis, Axis: t.Line.Axis}
	return &g
}

func (t *Theme) mono() {
	if t.Depth == Plain {
		return
	}
	const bold, faint, reverse = "\x1b[1m", "\x1b[2m", "\x1b[7m"
	t.Strong, t.Accent, t.Key, t.Title = bold, bold, bold, bold
	t.OKBold, t.WarnBold, t.CritBold, t.Staged = bold, bold, bold, bold
	t.Faint, t.Edge = faint, faint
	t.BadgeOK, t.BadgeWarn, t.BadgeCrit, t.BadgeNote = reverse, reverse, reverse, reverse
}

func (t *Theme) paint(p *palette) {
	on := func(c shade, bold bool) Style { return sgr(t.Depth, &c, nil, bold) }
	ground := func(c shade) Style { return sgr(t.Depth, &p.ink, &c, true) }
	t.Strong, t.Dim, t.Faint, t.Edge = "\x1b[1m", on(p.dim, false), on(p.faint, false), on(p.edge, false)
	t.Accent, t.Key, t.Title = on(p.accent, true), on(p.accent, false), on(p.accent, true)
	t.OK, t.Warn, t.Crit, t.Note = on(p.ok, false), on(p.warn, false), on(p.crit, false), on(p.note, false)
	t.OKBold, t.WarnBold, t.CritBold = on(p.ok, true), on(p.warn, true), on(p.crit, true)
	t.P90, t.P99, t.Staged = on(p.p90, false), on(p.p99, false), on(p.staged, true)
	t.BadgeOK, t.BadgeWarn, t.BadgeCrit, t.BadgeNote = ground(p.ok), ground(p.warn), ground(p.crit), ground(p.accent)
	t.BadgeQuiet = sgr(t.Depth, nil, &p.quiet, false)
	t.Line = Line{P90: p.p90.c256, P99: p.p99.c256, Axis: p.faint.c256}
	if t.Depth == Ansi16 {
		t.Line = Line{P90: p.p90.c16, P99: p.p99.c16, Axis: p.faint.c16}
	}
}

// sgr spells a style for a depth of colours.
func sgr(d Depth, fg, bg *shade, bold bool) Style {
	b := []byte("\x1b[")
	sep := func() {
		if b[len(b)-1] != '[' {
			b = append(b, ';')
		}
	}
	if bold {
		b = append(b, '1')
	}
	if fg != nil {
		sep()
		b = appendShade(b, d, fg, 30)
	}
	if bg != nil {
		sep()
		b = appendShade(b, d, bg, 40)
	}
	return Style(append(b, 'm'))
}

// appendShade writes a colour; base is 30 for ink, 40 for the ground.
func appendShade(b []byte, d Depth, c *shade, base int64) []byte {
	switch d {
	case True:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";2;"...)
		b = strconv.AppendInt(b, int64(c.r), 10)
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(c.g), 10)
		b = append(b, ';')
		return strconv.AppendInt(b, int64(c.b), 10)
	case Ansi256:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";5;"...)
		return strconv.AppendInt(b, int64(c.c256), 10)
	}
	if c.c16 >= 8 {
		return strconv.AppendInt(b, base+60+int64(c.c16)-8, 10)
	}
	return strconv.AppendInt(b, base+int64(c.c16), 10)
}
