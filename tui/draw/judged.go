package draw

import "baton/engine/control"

// The judges of a drill whose figure is no cutover.
const (
	contained = "contained"
	recovered = "recovered"
)

// asks is what the drill's figure is called.
func (d *Drill) asks(k Look) string {
	switch d.D.Judge {
	case contained, recovered:
		return k.Sayf("asks-" + d.D.Judge)
	}
	return k.Cutover
}

// means says in words what the clock measures.
func (d *Drill) means(key string, k Look) string {
	switch d.D.Judge {
	case contained:
		return k.Sayf(key+"-contained", d.Label)
	case recovered:
		return k.Sayf(key + "-recovered")
	}
	if key == "means" {
		return k.clockMeans(d.Label)
	}
	return k.clockMeansShort(d.Label)
}

// result is the drill's figure in seconds, nil while nothing is proven: the
// cutover; of a contained one what its clock stands at; of a recovered one that
// from the restore.
func (d *Drill) result() *float64 {
	switch {
	case d.D.CutoverS != nil:
		return d.D.CutoverS
	case d.D.Verdict == nil || d.D.Vendor == "" || d.moment(control.PhaseVerified) == nil:
		return nil
	case d.D.Judge == contained:
		return &d.D.ClockS
	case d.D.Judge == recovered:
		if m := d.moment(control.PhaseRestored); m != nil && d.D.ClockS >= m.TS {
			return control.Figure(d.D.ClockS - m.TS)
		}
	}
	return nil
}

// resultOf is the figure of a record, nil where nothing was proven.
func resultOf(x *control.Report) *float64 {
	if x.CutoverS != nil {
		return x.CutoverS
	}
	for _, name := range [...]string{contained, recovered} {
		if v, ok := x.Extra[name+"_s"]; ok && x.Judge == name {
			return &v
		}
	}
	return nil
}
