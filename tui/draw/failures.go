package draw

import (
	"strconv"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Failures is a vendor's last failed attempts as they are drawn, newest first.
type Failures struct {
	List     []control.Failure
	Label    string // the vendor's
	Error    string // why they could not be had, "" if they could
	Asked    bool   // an answer has come
	Scroll   int    // how many of the newest are above the first row
	Location *time.Location
}

// wideFailure is from which width on a failure takes one row instead of two.
const wideFailure = 110

// FailureRows is how many failures an area of w x h shows.
func FailureRows(w, h int) int {
	n := EventRows(w, h)
	if w < wideFailure && n > 1 {
		return n / 2
	}
	return max(n, 0)
}

// Lines draws them, in a frame where there is room for one.
func (f *Failures) Lines(w, h int, k Look) []string {
	if h <= 0 {
		return nil
	}
	title := []Span{{k.Strong, k.Failures}, {"", " " + f.Label}, {k.Dim, " " + strconv.Itoa(len(f.List))}}
	var right []Span
	if above := min(f.Scroll, len(f.List)-FailureRows(w, h)); above > 0 {
		right = []Span{{k.Warn, k.Newer(above)}}
	}
	switch {
	case h >= 5 && w >= 56:
		return Box(f.rows(w, w-4, h-2, "", k), title, right, k.Edge, w, h, k)
	case h >= 3:
		return append([]string{Rule(title, right, w, k)}, f.rows(w, w, h-1, " ", k)...)
	}
	return f.rows(w, w, h, " ", k)
}

// rows are as many failures as fit: of the area's width depends whether they
// take one row or two.
func (f *Failures) rows(area, w, h int, lead string, k Look) []string {
	switch {
	case f.Error != "":
		return block([]string{NewRow(w, k).Add("", lead).Add(k.Warn, f.Error).String()}, w, h)
	case len(f.List) == 0 && !f.Asked:
		return block(nil, w, h)
	case len(f.List) == 0:
		return block([]string{NewRow(w, k).Add("", lead).Add(k.Dim, k.NoFailures).String()}, w, h)
	}
	two := area < wideFailure && h > 1
	visible := h
	if two {
		visible = h / 2
	}
	out := make([]string, 0, h)
	for i := max(0, min(f.Scroll, len(f.List)-visible)); i < len(f.List) && len(out) < h; i++ {
		x := &f.List[i]
		r := f.head(x, w, lead, !two, k)
		if !two {
			at := r.w
			f.rescue(x, r, k)
			out = append(out, f.text(x, r.Pad(at+14), k).String())
			continue
		}
		second := NewRow(w, k).Add("", lead).Pad(9)
		f.rescue(x, second, k)
		out = append(out, r.String(), f.text(x, second, k).String())
	}
	return block(out, w, h)
}

// head is when and how an attempt failed; in columns where there is room.
func (f *Failures) head(x *control.Failure, w int, lead string, columns bool, k Look) *Row {
	loc := f.Location
	if loc == nil {
		loc = time.Local
	}
	r := NewRow(w, k).Add("", lead).Add(k.Faint, x.Time.In(loc).Format(time.TimeOnly)).Add("", " ")
	cell := func(st theme.Style, text string, width int) {
		at := r.w
		if text != "" {
			r.Add(st, text).Add("", " ")
		}
		if columns {
			r.Pad(at + width + 1)
		}
	}
	status := unknown
	if x.Status != nil {
		status = strconv.Itoa(*x.Status)
	}
	cell(k.WarnBold, x.Outcome, 14)
	cell("", x.Reason, 20)
	cell("", status, 3)
	cell(k.Dim, x.Clock, 11)
	cell(k.Dim, millis(x.AfterMs), 5)
	return r
}

// rescue says whether the client got an answer all the same.
func (f *Failures) rescue(x *control.Failure, r *Row, k Look) {
	if x.Rescued {
		r.Add(k.OK, k.Done+" "+k.Rescued).Add("", " ")
	} else {
		r.Add(k.CritBold, k.Bad+" "+k.NotRescued).Add("", " ")
	}
}

// text is the vendor's request id, to ask it with, and what it said.
func (f *Failures) text(x *control.Failure, r *Row, k Look) *Row {
	if x.VendorRequestID != "" {
		r.Add(k.Accent, x.VendorRequestID).Add("", " ")
	}
	return r.Add(k.Dim, k.TellCause(x.Message))
}
