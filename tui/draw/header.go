package draw

import (
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

// Header is the first line.
type Header struct {
	S        *control.Snapshot
	Now      time.Time
	Location *time.Location
	ReadOnly bool
	Frozen   bool
	Age      time.Duration // how old the data is, while frozen
	Lost     bool          // the engine is out of reach: its rates are not known
	Remote   string        // the engine's address, "" when it is in this process
	Replay   *Replay       // nil: it is no recording
	PerHour  *float64      // what all vendors cost now; nil: not known
	OverS    float64       // of how long a time that is
	Currency string
}

// Replay is where a recording stands.
type Replay struct {
	Name       string
	At, Length time.Duration
	Speed      float64 // 0: paused
}

// segment is a part of a line that has a long form and a short one; the ones
// of the largest rank are shortened first, then left out.
type segment struct {
	long, short []Span
	rank        int // 0 is never left out
	keep        int // the rank by which it is left out, where that is another one
}

// pack chooses forms so that the segments, with gap cells between them, fit.
func pack(segs []segment, w, gap int) [][]Span {
	forms := make([][]Span, len(segs))
	for i := range segs {
		forms[i] = segs[i].long
	}
	total := func() int {
		n := -gap
		for _, f := range forms {
			if f != nil {
				n += spansWidth(f) + gap
			}
		}
		return n
	}
	for pass := range 2 {
		for rank := 9; rank > pass-1 && total() > w; rank-- {
			for i := len(segs) - 1; i >= 0 && total() > w; i-- {
				of := segs[i].rank
				if pass == 1 && segs[i].keep > 0 {
					of = segs[i].keep
				}
				if of != rank || forms[i] == nil {
					continue
				}
				if pass == 0 {
					forms[i] = segs[i].short
				} else if rank > 0 {
					forms[i] = nil
				}
			}
		}
	}
	out := forms[:0]
	for _, f := range forms {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// ends are the forms of what stands at the right, and their width.
func ends(right []segment, budget int) ([][]Span, int) {
	rp := pack(right, budget-1, 1)
	rw := len(rp)
	for _, f := range rp {
		rw += spansWidth(f)
	}
	return rp, rw
}

// Line draws the header.
func (h *Header) Line(w int, k Look) string {
	r := NewRow(w, k)
	s := h.S
	loc := h.Location
	if loc == nil {
		loc = time.Local
	}
	clock := h.Now.In(loc).Format("15:04:05")
	if s == nil {
		return r.Add("", " ").Add(k.Title, "baton").Add(k.Dim, "  "+k.Connecting+" "+h.Remote).Right("", clock+" ").String()
	}
	segs := []segment{h.environment(k), h.address(k)}
	segs = append(segs, h.figures(k)...)
	segs = append(segs, h.control(k))
	if s.Failover == "manual" {
		left := ""
		if s.FailoverUntil != nil {
			left = " " + MinSec(s.FailoverUntil.Sub(h.Now).Seconds())
		}
		segs = append(segs, segment{long: []Span{{k.WarnBold, k.Sayf("failover-manual") + left}}, short: []Span{{k.WarnBold, k.Sayf("manual-short") + left}}, rank: 2})
	}
	if n := overridesShown(s); n > 0 {
		word := k.Sayf("count-overrides", n)
		if n == 1 {
			word = k.Sayf("count-override")
		}
		segs = append(segs, segment{long: []Span{{k.WarnBold, word}}, short: []Span{{k.WarnBold, "o:" + strconv.Itoa(n)}}, rank: 3})
	}
	if h.PerHour != nil {
		money := Money(h.PerHour)
		over, brief := "", ""
		if h.OverS > 0 { // a rate without its window says nothing
			over, brief = " "+k.Sayf("over", window(h.OverS)), " "+window(h.OverS)
		}
		segs = append(segs, segment{long: []Span{{k.Strong, money}, {k.Dim, " " + strings.TrimSpace(h.Currency+"/h") + over}}, short: []Span{{k.Strong, sign(h.Currency, k) + money}, {k.Dim, "/h" + brief}}, rank: 5, keep: 4})
	}
	figures := len(segs) // without the demo traffic, which is none
	if s.Demo != nil {
		rate := strings.TrimSuffix(Rate(s.Demo.RPS), ".0") + "/s"
		segs = append(segs, segment{long: []Span{{k.Dim, k.DemoTraffic + " "}, {"", rate}}, short: []Span{{k.Dim, k.Demo + " "}, {"", rate}}, rank: 5})
	}
	var right []segment
	if h.Frozen {
		right = append(right, segment{long: []Span{{k.BadgeWarn, " " + k.Frozen + " " + MinSec(h.Age.Seconds()) + " "}}, short: []Span{{k.BadgeWarn, k.Frozen}}, rank: 0})
	}
	right = append(right, h.mode(k), segment{long: []Span{{"", clock}}, short: []Span{{"", clock[:5]}}, rank: 1})
	budget := w / 2
	switch {
	case w < 50:
		budget = w / 4
	case w < 70:
		budget = w / 3
	}
	if h.Replay != nil {
		budget = max(budget, min(w-16, 52))
	}
	rp, rw := ends(right, budget)
	brief := 8 // the name and spaces, with everything short
	for _, s := range segs {
		brief += spansWidth(s.short) + 2
	}
	if brief > w-rw {
		for i := range right[:len(right)-1] {
			right[i].long = right[i].short
		}
		rp, rw = ends(right, budget)
	}
	r.Add("", " ").Add(k.Title, "baton").Add("", " ")
	left := pack(segs, r.Left()-rw-3, 2)
	if last := &right[len(right)-1]; h.PerHour != nil && len(left) < figures { // seconds give way where that saves what it costs
		last.long = last.short
		brp, brw := ends(right, budget)
		if more := pack(segs, r.Left()-brw-3, 2); len(more) > len(left) {
			left, rp, rw = more, brp, brw
		}
	}
	for _, f := range left {
		r.Add("", " ")
		for _, p := range f {
			r.Add(p.Style, p.Text)
		}
		r.Add("", " ")
	}
	if r.w > w-rw {
		return Fit(r.String(), w)
	}
	r.Pad(w - rw)
	for i, f := range rp {
		if i > 0 {
			r.Add("", " ")
		}
		for _, p := range f {
			r.Add(p.Style, p.Text)
		}
	}
	return r.String()
}

// environment is its name on a ground: red where it is production.
func (h *Header) environment(k Look) segment {
	env := h.S.Environment
	badge := k.BadgeNote
	if env == "PROD" || len(env) > 5 && env[:5] == "PROD-" {
		badge = k.BadgeCrit
	}
	return segment{long: []Span{{badge, " " + env + " "}}, short: []Span{{badge, env}}, rank: 0}
}

func (h *Header) address(k Look) segment {
	a := h.S.Gateway.Address
	port := a
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] == ':' {
			port = a[i:]
			break
		}
	}
	return segment{long: []Span{{k.Dim, k.Gateway + " "}, {"", a}}, short: []Span{{"", port}}, rank: 3, keep: 1}
}

// figures are what clients get.
func (h *Header) figures(k Look) []segment {
	v := &h.S.Service
	rate := Rate(h.S.Gateway.RPS)
	if h.Lost {
		rate = unknown
	}
	p99 := k.Strong
	if v.Count < 50 || h.Lost {
		p99 = k.Faint
	} else if v.P99ms != nil && h.S.Target.SLOP99ms > 0 && *v.P99ms > h.S.Target.SLOP99ms {
		p99 = k.WarnBold
	}
	bad := errorInk(v.Errors60s, k)
	if h.Lost {
		bad = k.Faint
	}
	return []segment{
		{long: []Span{{k.Strong, rate}, {k.Dim, " " + k.ReqS}}, short: []Span{{k.Strong, rate}, {k.Dim, "/s"}}, rank: 2},
		{long: []Span{{k.Dim, "P99 "}, {p99, Millis(v.P99ms)}}, short: []Span{{k.Dim, "P99 "}, {p99, Millis(v.P99ms)}}, rank: 1},
		{long: []Span{{k.Dim, k.Errors + " "}, {bad, Percent(v.Errors60s)}}, short: []Span{{k.Dim, k.Err + " "}, {bad, Percent(v.Errors60s)}}, rank: 2},
	}
}

// control is who moves the weights.
func (h *Header) control(k Look) segment {
	s := h.S
	if s.Pin == nil && s.Control != "pinned" {
		word := k.Auto
		if s.Mode == "observe" {
			word = k.Observe
		}
		return segment{long: []Span{{k.Dim, k.Weights + " "}, {k.OK, word}}, short: []Span{{k.OK, word}}, rank: 4}
	}
	text := k.PinnedUp
	short := text
	if s.Pin != nil && !s.Pin.Until.IsZero() {
		left := MinSec(s.Pin.Until.Sub(s.Time).Seconds())
		text += " " + left
		short = text
	}
	return segment{long: []Span{{k.Dim, k.Weights + " "}, {k.WarnBold, text}}, short: []Span{{k.WarnBold, short}}, rank: 2}
}

// overridesShown is how many overrides are worth a count: a pin alone stands in
// the header in full.
func overridesShown(s *control.Snapshot) int {
	n := len(s.Overrides)
	if n == 1 && s.Overrides[0].Kind == "pin" && s.Pin != nil {
		return 0
	}
	return n
}

func (h *Header) mode(k Look) segment {
	if r := h.Replay; r != nil {
		speed := k.Sayf("replay-paused")
		if r.Speed > 0 {
			speed = strconv.FormatFloat(r.Speed, 'g', 3, 64) + "x"
		}
		at := MinSec(r.At.Seconds()) + "/" + MinSec(r.Length.Seconds())
		return segment{long: []Span{{k.BadgeNote, " " + k.Sayf("replay") + " "}, {"", " " + r.Name + " "}, {k.Strong, at + " " + speed}}, short: []Span{{k.BadgeNote, k.Sayf("replay")}, {k.Strong, " " + at + " " + speed}}, rank: 1}
	}
	if h.ReadOnly {
		return segment{long: []Span{{k.BadgeQuiet, " " + k.ReadOnly + " "}}, short: []Span{{k.BadgeQuiet, "RO"}}, rank: 1}
	}
	return segment{long: []Span{{k.Dim, k.ReadWrite}}, short: []Span{{k.Dim, "RW"}}, rank: 4}
}
