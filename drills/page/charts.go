package page

import (
	"html/template"
	"maps"
	"slices"

	"baton/drills/chart"
	"baton/engine/control"
)

var (
	fromT0 = chart.Axis{Label: "from T0, m:ss", Scale: chart.Time}
	small  = chart.Size{Height: 220}
)

// charts are the figures over time, with the phases marked.
func charts(r *control.Report) []string {
	if len(r.Series) == 0 && len(r.Weights) == 0 {
		return nil
	}
	names, moments := vendors(r), marks(r)
	out := []string{share(r, names, moments), success(r, moments), requests(r, moments)}
	if slices.ContainsFunc(r.Series, func(p control.Point) bool { return len(p.Extra) > 0 }) {
		out = append([]string{spike(r, moments)}, out...)
	}
	for i, n := range names {
		out = append(out, firstTokens(r, n, i+1, moments))
	}
	if len(r.Weights) > 0 {
		out = append(out, weights(r, names, moments))
	}
	return out
}

// vendors are the names of all vendors of the report, the drill's first.
func vendors(r *control.Report) []string {
	seen := map[string]bool{}
	for i := range r.Series {
		for n := range r.Series[i].Attempts {
			seen[n] = true
		}
		for n := range r.Series[i].P50ms {
			seen[n] = true
		}
	}
	for i := range r.Weights {
		for n := range r.Weights[i].Weights {
			seen[n] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	if i := slices.Index(names, r.Vendor); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, r.Vendor)
	}
	return names
}

// marks are the phases, and the cutover, by their time.
func marks(r *control.Report) []chart.Mark {
	var out []chart.Mark
	for _, p := range r.Phases {
		if p.Name != control.PhaseSteady {
			out = append(out, chart.Mark{X: p.TS, Label: named(r, p.Name)})
		}
	}
	if r.CutoverS != nil {
		out = append(out, chart.Mark{X: *r.CutoverS, Label: "cutover " + clock(*r.CutoverS)})
	}
	slices.SortStableFunc(out, func(a, b chart.Mark) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	return out
}

// spans is the time in which the fault was in.
func spans(r *control.Report) []chart.Span {
	from, to := chart.Missing(), chart.Missing()
	for _, p := range r.Phases {
		switch p.Name {
		case control.PhaseFault:
			from = p.TS
		case control.PhaseRestored:
			to = p.TS
		}
	}
	if to != to { // it was not restored: to the end
		to = end(r)
	}
	return []chart.Span{{From: from, To: to}}
}

// over makes points of one figure of every second.
func over(r *control.Report, figure func(p *control.Point) (float64, bool)) []chart.XY {
	out := make([]chart.XY, len(r.Series))
	for i := range r.Series {
		p := &r.Series[i]
		v, ok := figure(p)
		if !ok {
			v = chart.Missing()
		}
		out[i] = chart.XY{X: p.TS, Y: v}
	}
	return out
}

func share(r *control.Report, names []string, moments []chart.Mark) string {
	c := chart.Stack{Title: "Share of the attempts begun in each second", X: fromT0, Y: chart.Axis{Label: "%", Max: 100}, Marks: moments, Size: small}
	for _, n := range names {
		c.Layers = append(c.Layers, chart.Series{Name: n, Points: over(r, func(p *control.Point) (float64, bool) {
			whole := 0.0
			for _, v := range p.Share {
				whole += v
			}
			return 100 * p.Share[n] / whole, whole > 0 // they are rounded; nothing of some is 0
		})})
	}
	return c.SVG()
}

func success(r *control.Report, moments []chart.Mark) string {
	return chart.Lines{
		Title: "Clients' success in each second", X: fromT0, Y: chart.Axis{Label: "%", Zero: true, Max: 100}, Marks: moments, Spans: spans(r), Size: small,
		Series: []chart.Series{{Name: "answered, of the requests that ended", Ink: 3, Points: over(r, func(p *control.Point) (float64, bool) {
			return 100 * float64(p.Requests-p.Failed) / float64(p.Requests), p.Requests > 0
		})}},
	}.SVG()
}

func requests(r *control.Report, moments []chart.Mark) string {
	return chart.Lines{
		Title: "Requests in each second", X: fromT0, Y: chart.Axis{Label: "1/s", Zero: true}, Marks: moments, Spans: spans(r), Size: small,
		Series: []chart.Series{
			{Name: "ended", Ink: 6, Points: over(r, func(p *control.Point) (float64, bool) { return float64(p.Requests), true })},
			{Name: "failed", Ink: 5, Points: over(r, func(p *control.Point) (float64, bool) { return float64(p.Failed), true })},
		},
	}.SVG()
}

// spike is what became of a load spike's requests, by the second in which they were
// due.
func spike(r *control.Report, moments []chart.Mark) string {
	c := chart.Lines{Title: "The spike's own requests, by the second in which they were due", X: fromT0, Y: chart.Axis{Label: "1/s", Zero: true}, Marks: moments, Spans: spans(r), Size: small}
	for _, l := range []struct {
		name, what string
		ink        int
	}{{"sent", "sent", 6}, {"admitted", "admitted", 3}, {"limited", "limited (429)", 2}, {"shed", "shed (503)", 4}, {"failed", "failed", 5}, {"dropped", "not sent", 1}} {
		c.Series = append(c.Series, chart.Series{Name: l.what, Ink: l.ink, Points: over(r, func(p *control.Point) (float64, bool) {
			v, ok := p.Extra[l.name]
			return v, ok
		})})
	}
	return c.SVG()
}

func firstTokens(r *control.Report, name string, ink int, moments []chart.Mark) string {
	c := chart.Lines{Title: "First token of streams at " + name, X: fromT0, Y: chart.Axis{Label: "ms", Zero: true}, Marks: moments, Spans: spans(r), Size: small}
	for _, q := range []struct {
		name   string
		stroke chart.Stroke
		of     func(p *control.Point) map[string]float64
	}{
		{"P50", chart.Dotted, func(p *control.Point) map[string]float64 { return p.P50ms }},
		{"P90", chart.Dashed, func(p *control.Point) map[string]float64 { return p.P90ms }},
		{"P99", chart.Solid, func(p *control.Point) map[string]float64 { return p.P99ms }},
	} {
		c.Series = append(c.Series, chart.Series{Name: q.name, Ink: (ink-1)%6 + 1, Stroke: q.stroke, Points: over(r, func(p *control.Point) (float64, bool) {
			v, ok := q.of(p)[name]
			return v, ok
		})})
	}
	return c.SVG()
}

func weights(r *control.Report, names []string, moments []chart.Mark) string {
	c := chart.Lines{Title: "Weights", X: fromT0, Y: chart.Axis{Label: "%", Zero: true, Max: 100}, Marks: moments, Spans: spans(r), Size: small}
	for _, n := range names {
		s := chart.Series{Name: n}
		for i, w := range r.Weights {
			v, ok := w.Weights[n]
			if !ok {
				v = chart.Missing()
			}
			if i > 0 && len(s.Points) > 0 { // it holds until it changes
				s.Points = append(s.Points, chart.XY{X: w.TS, Y: s.Points[len(s.Points)-1].Y})
			}
			s.Points = append(s.Points, chart.XY{X: w.TS, Y: v})
		}
		if last := end(r); len(s.Points) > 0 && last > s.Points[len(s.Points)-1].X {
			s.Points = append(s.Points, chart.XY{X: last, Y: s.Points[len(s.Points)-1].Y})
		}
		c.Series = append(c.Series, s)
	}
	return c.SVG()
}

// end is the last moment of the report.
func end(r *control.Report) float64 {
	last := 0.0
	if n := len(r.Series); n > 0 {
		last = r.Series[n-1].TS
	}
	if n := len(r.Phases); n > 0 {
		last = max(last, r.Phases[n-1].TS)
	}
	return last
}

// earlier is the cutovers of the last runs, oldest first, and of this one.
func earlier(r *control.Report) template.HTML {
	if len(r.Comparison) == 0 {
		return ""
	}
	c := chart.Bars{Title: "Cutover, this run and those before it", Y: chart.Axis{Label: "s"}, Size: small}
	var set chart.BarSet
	set.Name = "cutover"
	add := func(label, note string, v *float64) {
		c.Groups = append(c.Groups, label)
		set.Bars = append(set.Bars, chart.Bar{Value: chart.Value(v), Note: note})
	}
	for _, p := range slices.Backward(r.Comparison) {
		add(p.Started.UTC().Format("2006-01-02"), p.ID+" "+p.Verdict, p.CutoverS)
	}
	add("this run", r.ID+" "+r.Verdict, r.CutoverS)
	c.Sets = []chart.BarSet{set}
	return template.HTML(c.SVG()) //nolint:gosec // package chart escapes what it is given
}
