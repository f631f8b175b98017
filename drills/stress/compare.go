package stress

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Difference is two reports held against each other.
type Difference struct {
	A     string          `json:"a"`
	B     string          `json:"b"`
	Rows  []DifferenceRow `json:"rows"`
	Notes []string        `json:"notes"`
}

// DifferenceRow is one quantile of one metric at one level.
type DifferenceRow struct {
	VendorA     string      `json:"vendor_a"`
	VendorB     string      `json:"vendor_b"`
	Arrivals    string      `json:"arrivals"`
	Concurrency int         `json:"concurrency"`
	Rate        *float64    `json:"rate"`
	Metric      string      `json:"metric"`
	Quantile    float64     `json:"quantile"`
	A           float64     `json:"a_ms"`
	B           float64     `json:"b_ms"`
	Ratio       float64     `json:"ratio"` // B / A
	CI          *[2]float64 `json:"ci"`    // null: no samples were kept beside one of them
	Differs     bool        `json:"differs"`
}

// side is one of two that are compared.
type side struct {
	rep    *Report
	kept   []packed
	vendor string // "": all
}

// open finds a report by its ID or path, with ":VENDOR" where only one is meant.
func (h History) open(name string) (side, error) {
	rep, err := h.Read(name)
	if err == nil {
		return side{rep: rep, kept: h.samples(name)}, nil
	}
	at := strings.LastIndexByte(name, ':')
	if at < 0 {
		return side{}, err
	}
	s, err := h.open(name[:at])
	if err != nil {
		return side{}, err
	}
	s.vendor = name[at+1:]
	for i := range s.rep.Runs {
		if s.rep.Runs[i].Vendor == s.vendor {
			return s, nil
		}
	}
	return side{}, fmt.Errorf("report %s has no vendor %q", s.rep.ID, s.vendor)
}

func (s *side) runs() []*RunReport {
	var out []*RunReport
	for i := range s.rep.Runs {
		if r := &s.rep.Runs[i]; s.vendor == "" || r.Vendor == s.vendor {
			out = append(out, r)
		}
	}
	return out
}

// of is the kept samples of a level as figures with their seconds.
func (s *side) of(vendor string, l *Level, column int) []timed {
	for _, p := range s.kept {
		if p.Vendor != vendor || p.Arrivals != l.Arrivals || p.Concurrency != l.Concurrency || !sameRate(p.Rate, l.Rate) {
			continue
		}
		out := make([]timed, 0, len(p.Samples))
		for _, row := range p.Samples {
			if row[column] >= 0 {
				out = append(out, timed{row[column], int(row[0])})
			}
		}
		return out
	}
	return nil
}

func sameRate(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// Compare holds report b against a, level by level: where both have one vendor those,
// otherwise vendors of the same name.
func (h History) Compare(a, b string) (*Difference, error) {
	x, err := h.open(a)
	if err != nil {
		return nil, err
	}
	y, err := h.open(b)
	if err != nil {
		return nil, err
	}
	d := &Difference{A: a, B: b, Rows: []DifferenceRow{}, Notes: []string{}}
	rx, ry := x.runs(), y.runs()
	for _, p := range rx {
		for _, q := range ry {
			if p.Vendor == q.Vendor || len(rx) == 1 && len(ry) == 1 {
				d.runs(&x, &y, p, q)
			}
		}
	}
	d.conditions(&x.rep.Plan, &y.rep.Plan)
	if len(d.Rows) == 0 {
		return nil, fmt.Errorf("%s and %s have no vendor and level in common", a, b)
	}
	return d, nil
}

// conditions notes what was not the same.
func (d *Difference) conditions(a, b *PlanInfo) {
	for _, c := range []struct {
		what string
		a, b any
	}{{"kind", a.Kind, b.Kind}, {"cache", a.Cache, b.Cache}, {"max tokens", a.MaxTokens, b.MaxTokens}, {"seed", a.Seed, b.Seed}, {"prompts", a.Prompts, b.Prompts}} {
		if c.a != c.b {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %v and %v", c.what, c.a, c.b))
		}
	}
}

func (d *Difference) runs(x, y *side, p, q *RunReport) {
	for i := range p.Levels {
		for k := range q.Levels {
			a, b := &p.Levels[i], &q.Levels[k]
			if a.Arrivals != b.Arrivals || a.Concurrency != b.Concurrency || a.Concurrency == 0 && !sameRate(a.Rate, b.Rate) {
				continue
			}
			for _, l := range []*Level{a, b} {
				if l.Verdict != OK {
					d.Notes = append(d.Notes, fmt.Sprintf("%s is %s: %s", l.where(), l.Verdict, l.Reason))
				}
			}
			d.levels(x, y, p, q, a, b)
		}
	}
}

func (d *Difference) levels(x, y *side, p, q *RunReport, a, b *Level) {
	rng := rand.New(rand.NewPCG(x.rep.Plan.Seed, uint64(a.Concurrency)))
	for column, m := range []struct {
		name string
		a, b *Quantiles
	}{{"first token", &a.FirstToken, &b.FirstToken}, {"per token", &a.PerToken, &b.PerToken}, {"whole answer", &a.Total, &b.Total}} {
		intervals := ratios(x.of(p.Vendor, a, column+1), y.of(q.Vendor, b, column+1), degradedAt, rng)
		for i, at := range degradedAt {
			u, v := m.a.at(at), m.b.at(at)
			if u == nil || v == nil || *u <= 0 {
				continue
			}
			row := DifferenceRow{
				VendorA: p.Vendor, VendorB: q.Vendor, Arrivals: a.Arrivals, Concurrency: a.Concurrency, Rate: a.Rate,
				Metric: m.name, Quantile: at, A: *u, B: *v, Ratio: *v / *u, CI: intervals[i],
			}
			if row.CI != nil {
				row.Differs = row.CI[0] > 1 || row.CI[1] < 1
			}
			d.Rows = append(d.Rows, row)
		}
	}
}

// Text writes the comparison for a terminal.
func (d *Difference) Text(w io.Writer) error {
	t := &text{w: w}
	t.line("B / A   A %s   B %s", d.A, d.B)
	rows := [][]string{{"", "C", "", "", "A ms", "B ms", "B/A", "95 %", ""}}
	differ := 0
	for _, r := range d.Rows {
		vendor := r.VendorA
		if r.VendorA != r.VendorB {
			vendor += "/" + r.VendorB
		}
		interval, said := "-", "no samples kept: not judged"
		if r.CI != nil {
			interval, said = fmt.Sprintf("[%.2f, %.2f]", r.CI[0], r.CI[1]), "no difference shown"
		}
		switch {
		case !r.Differs:
		case r.Ratio > 1:
			differ++
			said = "B is slower"
		default:
			differ++
			said = "B is faster"
		}
		rows = append(rows, []string{vendor + " " + r.Arrivals, fmt.Sprint(r.Concurrency), r.Metric, fmt.Sprintf("P%.0f", r.Quantile*100), num(&r.A), num(&r.B), fmt.Sprintf("%.2f", r.Ratio), interval, said})
	}
	t.table(rows)
	t.line("%d of %d figures differ: their interval excludes 1 (bootstrap, 1,000 resamples of 1 s blocks; of %d figures that are the same, about %d differ by chance)", differ, len(d.Rows), len(d.Rows), (len(d.Rows)+10)/20)
	for _, n := range d.Notes {
		t.line("note: %s", n)
	}
	return t.err
}
