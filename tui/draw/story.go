package draw

import (
	"strings"

	"baton/engine/control"
)

// story is n rows beside large digits: the result with the whole reason for it,
// the phases, what it cost, the keys, and the record's path where it fits.
func (d *Drill) story(w, n int, k Look) []string {
	head, more := d.headline(w, k)
	out := append([]string{head}, painted(more, w, k)...)
	out = append(out, d.phases(w, k))
	var tail []string
	if d.recordFits(w, 0, k) {
		tail = []string{d.clients(w, k), d.next(w, k)}
	} else {
		tail = []string{d.clients(w, k), d.keysRow(w, k)}
	}
	if len(out)+len(tail) < n {
		out = append(out, d.bar(w, k))
	}
	return append(out, tail...)
}

// tale is the same in three rows beside small digits and one of the whole width.
func (d *Drill) tale(w, whole int, k Look) (beside []string, last string) {
	head, more := d.headline(w, k)
	beside = append([]string{head}, painted(more, w, k)...)
	if d.recordFits(whole, Width(k.clientsFailed(d.D.Requests.Failed))+3, k) {
		if len(beside) == 1 {
			beside = append(beside, d.bar(w, k))
		}
		return append(beside[:2], d.phases(w, k)), d.lastRow(whole, k)
	}
	if len(beside) == 1 {
		beside = append(beside, d.phases(w, k))
	}
	return append(beside[:2], d.cost(w, k)), d.recordRow(whole, k)
}

func painted(lines []string, w int, k Look) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = NewRow(w, k).Add(k.Dim, l).String()
	}
	return out
}

// recordFits says whether the record's path fits whole beside the keys, after
// so many cells.
func (d *Drill) recordFits(w, after int, k Look) bool {
	if d.D.Record == "" {
		return true
	}
	r := NewRow(1000, k)
	d.recordKeys(r, k)
	return after+r.w+Width(k.Record)+1+Width(Clean(Tilde(d.D.Record, d.Home))) <= w
}

// recordRow is the record's path alone, so that it can be copied.
func (d *Drill) recordRow(w int, k Look) string {
	path := Clean(Tilde(d.D.Record, d.Home))
	r := NewRow(w, k)
	if lead := k.Record + " "; Width(lead)+Width(path) <= w {
		r.Add(k.Dim, lead)
	}
	return r.Add("", tailPath(path, r.Left(), k)).String()
}

func (d *Drill) keysRow(w int, k Look) string {
	r := NewRow(w, k)
	d.keys(r, k)
	return r.String()
}

// cost is what the drill cost clients, and the keys.
func (d *Drill) cost(w int, k Look) string {
	ink := k.OKBold
	if d.D.Requests.Failed > 0 {
		ink = k.CritBold
	}
	r := NewRow(w, k).Add(ink, k.clientsFailed(d.D.Requests.Failed))
	keys := NewRow(r.Left()-3, k)
	if d.keys(keys, k); keys.w > 0 {
		n := keys.max
		r.Add(k.Dim, " "+k.Dot+" ").Painted(keys.String(), n)
	}
	return r.String()
}

// headline says what the clock measures, or what came out; more is what of the
// reason did not fit, in lines of the same width.
func (d *Drill) headline(w int, k Look) (line string, more []string) {
	r := NewRow(w, k)
	glyph, word, ink, _ := d.verdict(k)
	switch {
	case d.result() != nil:
		r.Add(k.Strong, d.asks(k)+" ").Add(ink, Took(*d.result())+" "+glyph+" "+word)
		if d.D.Reason == "" {
			r.Add(k.Dim, "  "+k.TargetW+" "+MinSec(d.D.TargetS))
		}
	case d.D.Verdict != nil:
		r.Add(ink, glyph+" "+word)
	case d.D.Waits != "":
		return r.Add(k.WarnBold, k.Sayf("waits", k.Tell(d.D.Waits))).String(), nil
	case d.D.Caption != "":
		first, rest := fitWords(k.Tell(d.D.Caption), r.Left())
		r.Add(k.Strong, first)
		if rest != "" {
			more = []string{rest}
		}
		return r.String(), more
	case d.armed():
		return r.Add(k.WarnBold, k.Sayf("armed-for", d.Label)).String(), nil
	case d.moment(control.PhaseFault) == nil:
		return r.Add(k.Dim, k.Before).String(), nil
	default:
		r.Add(k.Strong, d.asks(k)+" ")
		means := d.means("means", k)
		if Width(means) > r.Left() {
			means = d.means("means-short", k)
		}
		return r.Add(k.Dim, means).String(), nil
	}
	if d.D.Reason == "" {
		return r.String(), nil
	}
	r.Add("", "  ")
	first, rest := fitWords(k.Tell(d.D.Reason), r.Left())
	r.Add(k.Dim, first)
	if rest != "" {
		more = Wrap(rest, w)
		if len(more) > 1 { // one row is all there is
			more = []string{more[0] + " " + strings.Join(more[1:], " ")}
		}
	}
	return r.String(), more
}

// fitWords is as many whole words of s as w cells hold, and the others. A text
// without spaces is cut where it must be.
func fitWords(s string, w int) (first, rest string) {
	s = Clean(s)
	if Width(s) <= w {
		return s, ""
	}
	lines := Wrap(s, w)
	if len(lines) == 0 {
		return "", s
	}
	first = lines[0]
	if rest, ok := strings.CutPrefix(s, first); ok {
		return first, strings.TrimSpace(rest)
	}
	return first, strings.Join(lines[1:], " ")
}

// next is what one can do now, and where the record is.
func (d *Drill) next(w int, k Look) string {
	r := NewRow(w, k)
	if d.D.Record == "" {
		d.keys(r, k)
		return r.String()
	}
	d.recordKeys(r, k)
	r.Add(k.Dim, k.Record+" ")
	return r.Add("", tailPath(Tilde(d.D.Record, d.Home), r.Left(), k)).String()
}

// recordKeys is what one can do, before the record's path.
func (d *Drill) recordKeys(r *Row, k Look) {
	if !d.Act {
		return
	}
	switch {
	case d.D.Verdict != nil && d.D.Until == nil || d.D.Incident:
		r.Add(k.Key, "Esc").Add(k.Dim, " "+k.Dismisses)
	case !d.begun():
		r.Add(k.Key, "A").Add(k.Dim, " "+k.Aborts)
	case d.D.Vendor == "":
		r.Add(k.Key, "A").Add(k.Dim, " "+k.Aborts)
	default:
		r.Add(k.Key, "R").Add(k.Dim, " "+k.Restores+" "+d.Label)
	}
	r.Add(k.Dim, " "+k.Dot+" ")
}
