package report

import (
	"fmt"
	"slices"
	"strings"

	"baton/engine/control"
)

const minute = "2006-01-02 15:04"

// Leverage is the one-page report for a negotiation.
func Leverage(l *control.Leverage) *Page {
	p := &Page{Title: "What our vendors are worth at the table", Lead: l.Headline}
	if l.Internal {
		p.Marks = append(p.Marks, "INTERNAL: not for vendors")
	} else {
		p.Title = "Traffic, prices and alternatives: " + l.For
	}
	if l.Simulated {
		p.Marks = append(p.Marks, "SIMULATED: no vendor is real")
	}
	p.Sections = append(p.Sections, volume(l), standings(l), quality(l))
	if l.Internal {
		p.Sections = append(p.Sections, alone(l))
	}
	p.Sections = append(p.Sections, movable(l))
	if l.Internal {
		p.Sections = append(p.Sections, walkAway(l), whatIf(l), breakEven(l))
	}
	p.add(limits(l.Limits))
	p.Sections = append(p.Sections, evidence(l))
	return p
}

// add adds a section that says something.
func (p *Page) add(s Section) {
	if len(s.Says)+len(s.Rows) > 0 {
		p.Sections = append(p.Sections, s)
	}
}

func volume(l *control.Leverage) Section {
	return Section{Title: "Volume", Says: []string{fmt.Sprintf("%s answered calls a day (from %s of traffic), %s a second in the busiest minute; %s tokens in and %s out per call", whole(l.Volume.PerDay),
		l.Recorded(), decimals(l.Volume.PeakRate, 1), decimals(l.Volume.Input, 0), decimals(l.Volume.Output, 0))}}
}

func standings(l *control.Leverage) Section {
	s := Section{Title: "Effective prices, " + l.Currency, Head: []string{"vendor", "share", "spent", "per million in", "out", "both", "per answered call", "surcharge of failures", "an average call"}}
	for i := range l.Vendors {
		v := &l.Vendors[i]
		if v.Masked {
			continue
		}
		extra := unknown
		if v.Surcharge != nil {
			extra = part(control.Figure(*v.Surcharge-1), 2)
		}
		s.Rows = append(s.Rows, []string{v.Label, percent(v.Share), money(v.Cost), decimals(v.PerMillionInput, 3), decimals(v.PerMillionOutput, 3), decimals(v.PerMillion, 3), small(v.PerSuccess), extra, small(v.PerCall)})
	}
	return s
}

func quality(l *control.Leverage) Section {
	s := Section{Title: "Service", Head: []string{"vendor", "first token P90 ms", "P99 ms", "samples", "whole answers P90 ms", "P99 ms", "errors", "refused for limits", "bad minutes"}}
	for i := range l.Vendors {
		v := &l.Vendors[i]
		bad := count(v.BadMinutes)
		if v.Masked {
			bad = unknown
		}
		s.Rows = append(s.Rows, []string{
			v.Label, decimals(v.FirstToken.P90ms, 0), decimals(v.FirstToken.P99ms, 0), count(int64(v.FirstToken.Count)), decimals(v.Whole.P90ms, 0), decimals(v.Whole.P99ms, 0),
			part(v.ErrorRate, 2), part(v.Refused, 2), bad,
		})
	}
	return s
}

func alone(l *control.Leverage) Section {
	s := Section{Title: "Against a single contract, " + l.Currency + " a day", Head: []string{"all of it at", "cost", "two vendors cost more by", "of it"}}
	s.Says = append(s.Says, "now, at the present shares: "+money(l.Now.PerDay)+", and "+money(l.Now.Overhead)+" of overhead")
	for _, x := range l.Now.Single {
		s.Rows = append(s.Rows, []string{x.Vendor, money(x.PerDay), money(x.Difference), percent(x.Percent)})
	}
	return s
}

func movable(l *control.Leverage) Section {
	s := Section{Title: "Credibly movable"}
	if l.Internal {
		s.Head = []string{"away from", "points", "bound by", "proven by", "on", "valid until", "at calls/s", "room of others", "worth a day"}
	} else {
		s.Head = []string{"away from", "points", "bound by", "proven by", "on", "valid until", "at calls/s"}
	}
	for i := range l.Vendors {
		v := &l.Vendors[i]
		x := v.Shiftable
		if v.Masked {
			continue
		}
		if x == nil {
			s.Says = append(s.Says, v.Label+": no drill that was passed in the last 35 days")
			continue
		}
		row := []string{v.Label, decimals(&x.Share, 1), x.BoundBy, x.Drill, x.At, x.ValidTil, decimals(x.AtRate, 1)}
		if l.Internal {
			row = append(row, percent(x.Room), money(x.Value))
		}
		s.Rows = append(s.Rows, row)
		if x.LowLoad {
			s.Says = append(s.Says, v.Label+": the drill ran under half of the present busiest minute's rate")
		}
	}
	return s
}

func walkAway(l *control.Leverage) Section {
	s := Section{Title: "Walk-away prices, " + l.Currency + " per million tokens", Head: []string{"vendor", "loses its share from", "in", "out", "per call", "to", "has to take off"}}
	for i := range l.Vendors {
		v := &l.Vendors[i]
		if v.WalkAway == nil {
			s.Says = append(s.Says, v.Label+": not known, or there is nobody to go to")
			continue
		}
		w := v.WalkAway
		f := 100 * w.Factor
		s.Rows = append(s.Rows, []string{v.Label, decimals(&f, 1) + " % of now", decimals(w.PerMillionInput, 3), decimals(w.PerMillionOutput, 3), small(&w.PerCall), w.To, part(w.ToKeepUp, 1)})
	}
	return s
}

func whatIf(l *control.Leverage) Section {
	s := Section{Title: "What if the share moved", Head: []string{"shares", "cost a day", "from now", "first token P90 ms", "P99 ms", ""}}
	for _, m := range l.WhatIf {
		var shares, say []string
		for i := range l.Vendors {
			shares = append(shares, fmt.Sprintf("%s %.0f", l.Vendors[i].Vendor, m.Shares[l.Vendors[i].Vendor]))
		}
		if len(m.Extrapolated) > 0 {
			say = append(say, "never observed: "+strings.Join(m.Extrapolated, ", "))
		}
		if len(m.NoRoom) > 0 {
			say = append(say, "over its limit: "+strings.Join(m.NoRoom, ", "))
		}
		s.Rows = append(s.Rows, []string{strings.Join(shares, " "), money(m.PerDay), money(m.Difference), decimals(m.P90ms, 0), decimals(m.P99ms, 0), strings.Join(say, "; ")})
	}
	return s
}

func breakEven(l *control.Leverage) Section {
	b := &l.BreakEven
	s := Section{Title: "From how many calls a day a second vendor pays", Head: []string{"overhead a day"}}
	if b.CallsPerDay != nil && b.Gain != nil {
		s.Says = append(s.Says, fmt.Sprintf("from %s calls a day: overhead %s less outages avoided %s, over %s that a call saves (%s of %s)", decimals(b.CallsPerDay, 0), money(b.Overhead), money(b.Avoided),
			small(control.Figure(*b.Gain**b.PerCall)), part(b.Gain, 2), small(b.PerCall)))
	}
	if b.Net != nil {
		s.Says = append(s.Says, fmt.Sprintf("at the present %s calls: %s a day", decimals(b.Now, 0), money(b.Net)))
	}
	if b.Why != "" {
		s.Says = append(s.Says, b.Why)
	}
	for _, g := range b.Gains {
		s.Head = append(s.Head, "a call saves "+part(control.Figure(g), 1))
	}
	for i, row := range b.Table {
		cells := []string{money(&b.Overheads[i])}
		for k := range row {
			cells = append(cells, decimals(&row[k], 0))
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}

func limits(all []control.LimitSay) Section {
	s := Section{Title: "Register of limits", Head: []string{"vendor", "", "limit", "day", "source"}}
	for _, x := range all {
		s.Rows = append(s.Rows, []string{x.Vendor, x.What, x.Limit, x.Day, x.Source})
	}
	return s
}

func evidence(l *control.Leverage) Section {
	s := Section{Title: "Evidence and how to read it", Says: slices.Clone(l.Notes), Head: []string{"reference", "says"}}
	for _, e := range l.Evidence {
		s.Rows = append(s.Rows, []string{e.Ref, e.Text})
	}
	return s
}

// Dossier is a vendor's month, to mail to it.
func Dossier(d *control.Dossier) *Page {
	p := &Page{
		Title: fmt.Sprintf("%s: service in %s", d.Label, d.Month),
		Lead:  fmt.Sprintf("%s of %s minutes with traffic were bad; %s of the attempts that were answered or failed were answered.", count(int64(len(d.Bad))), count(d.Minutes), part(d.Availability, 3)),
	}
	if d.Simulated {
		p.Marks = append(p.Marks, "SIMULATED: no vendor is real")
	}
	p.Sections = append(p.Sections, Section{Title: "Month", Says: append([]string{
		fmt.Sprintf("%s to %s UTC, a month of %s", d.Since.Format(minute), d.Until.Format(minute), d.Timezone),
		fmt.Sprintf("%s attempts: %s answered, %s failed by the vendor, %s refused for a limit", count(d.Attempts), count(d.Answered), count(d.Faults), count(d.Refused)),
		d.Rule,
	}, d.Notes...)})
	p.Sections = append(p.Sections, Section{Title: "Latency, ms", Head: []string{"", "samples", "P50", "P90", "P99"}, Rows: [][]string{
		{"first token", count(int64(d.FirstToken.Count)), decimals(d.FirstToken.P50ms, 0), decimals(d.FirstToken.P90ms, 0), decimals(d.FirstToken.P99ms, 0)},
		{"whole answers", count(int64(d.Whole.Count)), decimals(d.Whole.P50ms, 0), decimals(d.Whole.P90ms, 0), decimals(d.Whole.P99ms, 0)},
	}})
	bad := Section{Title: "Bad minutes (UTC)", Head: []string{"minute", "attempts", "failed", "of them", "refused for a limit"}}
	for _, m := range d.Bad {
		bad.Rows = append(bad.Rows, []string{m.Time.Format(minute), count(m.Attempts), count(m.Faults), part(control.Figure(float64(m.Faults)/float64(m.Attempts)), 1), count(m.Refused)})
	}
	p.add(bad)
	why := Section{Title: "Refusals and failures", Head: []string{"outcome", "reason", "status", "times"}}
	for _, r := range d.Reasons {
		why.Rows = append(why.Rows, []string{r.Outcome, r.Reason, status(r.Status), count(r.Count)})
	}
	p.add(why)
	p.add(limits(d.Limits))
	ids := Section{Title: "Failed requests (UTC)", Head: []string{"time", "our request id", "your request id", "model", "outcome", "reason", "status", "after ms"}}
	if d.More > 0 {
		ids.Says = append(ids.Says, "and "+count(d.More)+" more, earlier")
	}
	for _, r := range d.Requests {
		ids.Rows = append(ids.Rows, []string{r.Time.UTC().Format("2006-01-02 15:04:05.000"), r.Request, r.VendorID, r.Model, r.Outcome, r.Reason, status(r.Status), decimals(&r.AfterMs, 0)})
	}
	p.add(ids)
	return p
}

func status(n int) string {
	if n == 0 {
		return unknown
	}
	return fmt.Sprint(n)
}
