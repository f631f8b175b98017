package draw

import (
	"strings"

	"baton/engine/control"
)

// Scenarios are the drills to choose from, with what would happen if the chosen
// one were run now.
type Scenarios struct {
	List      []control.Scenario
	Asked     bool // an answer has come
	Error     string
	At        int
	Label     string // the vendor that the chosen one would hit, as it is shown
	Preflight *control.Preflight
	PreError  string
	Currency  string
}

// Lines draws them: names at the left, else above.
func (d *Scenarios) Lines(w, h int, k Look) []string {
	switch {
	case d.Error != "":
		return block(wrapped(k.Warn, d.Error, w, k), w, h)
	case len(d.List) == 0 && !d.Asked:
		return block(nil, w, h)
	case len(d.List) == 0:
		return block(wrapped(k.Dim, k.Sayf("drills-none"), w, k), w, h)
	}
	at := min(max(0, d.At), len(d.List)-1)
	name := 0
	for i := range d.List {
		name = max(name, Width(Clean(d.List[i].Name)))
	}
	name = min(name+2, 26)
	if w >= name+40 {
		rw := w - name - 2
		return block(beside2(d.names(at, name, h, k), d.about(at, rw, h, k), name, rw), w, h)
	}
	n := min(len(d.List), max(1, h/3))
	out := d.names(at, w, n, k)
	return block(append(out, d.about(at, w, h-n, k)...), w, h)
}

// names is the list with the chosen one in sight.
func (d *Scenarios) names(at, w, h int, k Look) []string {
	from := max(0, min(at-h/2, len(d.List)-h))
	var out []string
	for i := from; i < len(d.List) && len(out) < h; i++ {
		r := NewRow(w, k)
		s := &d.List[i]
		if i == at {
			r.Add(k.Accent, k.Select+" "+s.Name)
		} else {
			r.Add("", "  "+s.Name)
		}
		if w > 40 {
			r.Add(k.Dim, "  "+k.Tell(s.Claim))
		}
		out = append(out, r.String())
	}
	return out
}

// about is the chosen one: its claim, whether it may run, what it asks for and
// what it does.
func (d *Scenarios) about(at, w, h int, k Look) []string {
	s := &d.List[at]
	p := d.Preflight
	head := NewRow(w, k).Add(k.Strong, s.Name)
	fault := s.Fault
	if p != nil && p.Fault.Kind != "" {
		fault = p.Fault
	}
	if fault.Kind != "" {
		head.Add(k.Dim, " "+k.Dot+" "+FaultText(fault))
	}
	if d.Label != "" {
		head.Add(k.Dim, " "+k.Glyphs.Arrow+" ").Add("", d.Label)
	}
	out := append([]string{head.String()}, d.ready(w, k)...)
	for i, l := range wrapped("", k.Tell(s.Claim), w, k) {
		if i == 3 {
			break
		}
		out = append(out, l)
	}
	judged := NewRow(w, k).Add(k.Dim, k.Sayf("judges")+" ").Add("", k.judge(s.Judge))
	if p != nil {
		judged.Add(k.Dim, "   "+k.Sayf("extra-cost")+" ").Add("", d.cost())
	}
	if s.Failover == "manual" {
		judged.Add(k.Warn, "   "+k.Sayf("people-move"))
	}
	out = append(out, judged.String())
	var parts []section
	if p != nil {
		parts = append(parts, section{title: k.Sayf("preflight"), rows: func(w int) []string { return checkRows(p.Checks, w, k) }},
			section{title: k.Sayf("plan"), rows: func(w int) []string { return listed(p.Plan, w, k) }})
	}
	parts = append(parts, section{title: k.Sayf("explained"), rows: func(w int) []string { return listed(s.Explain, w, k) }})
	if s.File != "" {
		parts = append(parts, section{title: k.Sayf("file"), rows: func(w int) []string {
			return []string{NewRow(w, k).Add(k.Dim, tailPath(s.File, w, k)).String()}
		}})
	}
	return block(append(out, stack(parts, w, h-len(out), k)...), w, h)
}

func (d *Scenarios) cost() string {
	s := Money(d.Preflight.ExtraCost)
	if d.Preflight.ExtraCost != nil && d.Currency != "" {
		s += " " + d.Currency
	}
	return s
}

// ready says whether the chosen one may run, and why not.
func (d *Scenarios) ready(w int, k Look) []string {
	r := NewRow(w, k)
	p := d.Preflight
	switch {
	case d.PreError != "":
		return []string{r.Add(k.Warn, d.PreError).String()}
	case p == nil:
		return []string{r.Add(k.Dim, k.Sayf("preflight")+k.Ellipsis).String()}
	case p.Refused != "":
		out := bulleted(k.Bad, k.CritBold, k.Crit, strings.TrimSuffix(k.Sayf("would-refuse")+" "+k.Tell(p.Refused), " "), w, k)
		return out[:min(len(out), 3)]
	}
	warn := 0
	for i := range p.Checks {
		if p.Checks[i].Warn {
			warn++
		}
	}
	if warn > 0 {
		r.Add(k.WarnBold, k.Glyphs.Degraded+" "+k.Sayf("ready-warn", warn))
	} else {
		r.Add(k.OKBold, k.Done+" "+k.Sayf("ready"))
	}
	return []string{r.Add(k.Dim, "   ").Add(k.Key, "Enter").Add(k.Dim, " "+k.Sayf("arms")).String()}
}

// listed are sentences one under the other.
func listed(all []string, w int, k Look) []string {
	var out []string
	for _, s := range all {
		out = append(out, bulleted(k.Dot, k.Dim, k.Dim, k.Tell(s), w, k)...)
	}
	return out
}

// FaultText is a fault in a few words: refuse, http_500 50%.
func FaultText(f control.FaultSpec) string {
	parts := []string{f.Kind}
	if f.Percent != nil && *f.Percent < 100 {
		parts = append(parts, Whole(*f.Percent))
	}
	if f.Lane != "" {
		parts = append(parts, f.Lane)
	}
	if f.For > 0 {
		parts = append(parts, f.For.String())
	}
	return strings.Join(parts, " ")
}

// judge is what a scenario's verdict goes by.
func (w *Words) judge(j string) string {
	if s := w.Say["judge-"+j]; s != "" {
		return s
	}
	return j
}
