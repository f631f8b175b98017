package draw

import (
	"math"
	"strconv"
	"time"

	"baton/engine/control"
)

// Schedule is which drills come, and how long ago losing each vendor was
// rehearsed.
type Schedule struct {
	Coming   []control.Scheduled
	Fresh    []control.Freshness
	Labels   map[string]string
	At       int // of Coming
	Now      time.Time
	Location *time.Location
}

// Lines draws both.
func (d *Schedule) Lines(w, h int, k Look) []string {
	n := max(3, h-len(d.Fresh)-1)
	out := stack([]section{{title: k.Sayf("coming"), note: k.Sayf("cancels"), rows: func(w int) []string { return d.coming(w, k) }}}, w, min(n, len(d.Coming)+2), k)
	fresh := stack([]section{{title: k.Sayf("freshness"), note: k.Sayf("by-fault"), rows: func(w int) []string { return d.freshness(w, k) }}}, w, h-len(out), k)
	return block(append(out, fresh...), w, h)
}

func (d *Schedule) coming(w int, k Look) []string {
	if len(d.Coming) == 0 {
		return []string{NewRow(w, k).Add(k.Dim, k.Sayf("no-schedule")).String()}
	}
	loc := d.Location
	if loc == nil {
		loc = time.Local
	}
	var out []string
	for i := range d.Coming {
		s := &d.Coming[i]
		mark := "  "
		if i == d.At {
			mark = k.Select + " "
		}
		r := NewRow(w, k).Add(k.Accent, mark).Add("", s.At.In(loc).Format("01-02 15:04")).Add(k.Dim, "  "+k.Sayf("in", Span2(s.At.Sub(d.Now)))+"  ")
		r.Add(k.Strong, s.Scenario)
		if s.Vendor != "" {
			r.Add("", " "+d.label(s.Vendor))
		}
		switch {
		case s.Cancelled != "":
			r.Add(k.Warn, "  "+k.Bad+" "+k.Tell(s.Cancelled))
		case s.Announced:
			r.Add(k.WarnBold, "  "+k.Sayf("announced"))
		case s.Armed:
			r.Add(k.Note, "  "+k.Sayf("is-armed"))
		}
		out = append(out, r.String())
	}
	return out
}

func (d *Schedule) label(vendor string) string {
	if l := d.Labels[vendor]; l != "" {
		return l
	}
	return vendor
}

func (d *Schedule) freshness(w int, k Look) []string {
	var out []string
	for i := range d.Fresh {
		f := &d.Fresh[i]
		glyph, ink := k.Done, k.OK
		if f.Stale {
			glyph, ink = k.Glyphs.Degraded, k.WarnBold
		}
		r := NewRow(w, k).Add(ink, glyph).Add(k.Strong, " "+d.label(f.Vendor)).Pad(12).Add("", " "+f.Fault).Pad(30)
		out = append(out, r.Add(ink, " "+PassedAgo(f, k)).String())
	}
	if len(out) == 0 {
		out = append(out, NewRow(w, k).Add(k.Dim, k.Sayf("no-records")).String())
	}
	return out
}

// PassedAgo says when losing a vendor was last rehearsed and passed.
func PassedAgo(f *control.Freshness, k Look) string {
	switch {
	case f.Passed == nil || f.Days == nil:
		return k.Sayf("never-passed")
	case *f.Days < 1:
		return k.Sayf("passed-today")
	case *f.Days < 2:
		return k.Sayf("passed-day")
	}
	return k.Sayf("passed-days", int(math.Floor(*f.Days)))
}

// Span2 writes how long something is in two parts: 3d 4h, 2h 10m, 9:40.
func Span2(d time.Duration) string {
	switch {
	case d < time.Hour:
		return MinSec(d.Seconds())
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h " + strconv.Itoa(int(d.Minutes())%60) + "m"
	}
	return strconv.Itoa(int(d.Hours())/24) + "d " + strconv.Itoa(int(d.Hours())%24) + "h"
}
