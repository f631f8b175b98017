package draw

import (
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Events is the journal as it is drawn, newest first.
type Events struct {
	List     []control.Event // oldest first
	Filter   string
	Scroll   int // how many of the newest are above the first row
	Labels   map[string]string
	Location *time.Location
}

// Matches says whether an event, its vendor's label among it, holds the filter's
// text, as it came or as it is told; "!text" turns it round.
func (w *Words) Matches(e *control.Event, label, filter string) bool {
	if filter == "" || filter == "!" {
		return true
	}
	want := true
	if filter[0] == '!' {
		want, filter = false, filter[1:]
	}
	f := strings.ToLower(filter)
	for _, s := range [...]string{e.Text, w.Tell(e.Text), e.Vendor, label, e.Kind, e.Level, e.Who} {
		if strings.Contains(strings.ToLower(s), f) {
			return want
		}
	}
	return !want
}

// EventRows is how many events a journal of w x h shows.
func EventRows(w, h int) int {
	switch {
	case h >= 5 && w >= 56:
		return h - 2
	case h >= 3:
		return h - 1
	}
	return h
}

// Lines draws the journal: in a frame where there is room for one.
func (e *Events) Lines(w, h int, k Look) []string {
	if h <= 0 {
		return nil
	}
	shown := e.shown(k)
	title := []Span{{k.Strong, k.Events}, {k.Dim, " " + strconv.Itoa(len(shown))}}
	if e.Filter != "" {
		title = append(title, Span{k.Warn, "  /" + e.Filter})
	}
	var right []Span
	if above := min(e.Scroll, len(shown)-EventRows(w, h)); above > 0 {
		right = []Span{{k.Warn, k.Newer(above)}}
	}
	switch {
	case h >= 5 && w >= 56:
		return Box(e.rows(shown, w-4, h-2, "", k), title, right, k.Edge, w, h, k)
	case h >= 3:
		return append([]string{Rule(title, right, w, k)}, e.rows(shown, w, h-1, " ", k)...)
	}
	return e.rows(shown, w, h, " ", k)
}

// shown are the events that pass the filter, newest first.
func (e *Events) shown(k Look) []*control.Event {
	out := make([]*control.Event, 0, len(e.List))
	for i := len(e.List) - 1; i >= 0; i-- {
		if k.Matches(&e.List[i], e.Labels[e.List[i].Vendor], e.Filter) {
			out = append(out, &e.List[i])
		}
	}
	return out
}

func (e *Events) rows(shown []*control.Event, w, h int, lead string, k Look) []string {
	out := make([]string, 0, h)
	from := max(0, min(e.Scroll, len(shown)-h))
	for i := from; i < len(shown) && len(out) < h; i++ {
		out = append(out, e.row(shown[i], w, lead, k))
	}
	return block(out, w, h)
}

func (e *Events) row(v *control.Event, w int, lead string, k Look) string {
	loc := e.Location
	if loc == nil {
		loc = time.Local
	}
	r := NewRow(w, k).Add("", lead)
	layout := "15:04:05"
	if w < 50 {
		layout = "15:04"
	}
	r.Add(k.Faint, v.Time.In(loc).Format(layout)).Add("", " ")
	ink, word := levelInk(v.Level, k)
	r.Add(ink, word)
	r.Pad(r.w + 5 - min(5, Width(word)))
	text := theme.Style("")
	if v.Level == control.Info {
		text = k.Dim
	}
	label := e.Labels[v.Vendor]
	if label == "" {
		label = v.Vendor
	}
	if label != "" && !strings.Contains(v.Text, label) && !strings.Contains(v.Text, v.Vendor) {
		r.Add("", label+" ")
	}
	r.Add(text, k.Tell(v.Text))
	if who := v.Who; who != "" && who != control.Controller && r.Left() > len(who)+2 {
		r.Right(k.Faint, who)
	}
	return r.String()
}

func levelInk(level string, k Look) (theme.Style, string) {
	switch level {
	case control.Crit:
		return k.CritBold, "CRIT"
	case control.Warn:
		return k.WarnBold, "WARN"
	}
	return k.Faint, "info"
}
