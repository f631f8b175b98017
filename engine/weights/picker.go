package weights

// Picker spreads single requests along weights by smooth weighted round robin: every vendor earns its part
// of each pick, the one that is owed most is picked and pays one. Over any run each vendor is within about one
// request of its exact part, also while weights change. A vendor that may not be picked earns nothing (its part
// goes pro rata to the others), so it has no debt to collect when it is back.
//
// The zero value is ready. It is deterministic, allocates only when the number of vendors changes, and is not
// safe for concurrent use. After vendors were reordered use a new one.
type Picker struct {
	owed []float64 // in requests; sums to 0
	in   []bool    // scratch: who takes part in this pick
	last int       // the last one picked without weight
}

// ahead is by how many requests a vendor that is preferred may be ahead of its part. A wider bound grants more
// wishes (with one wish as likely as the weight, all but w(1-w)/2/ahead of them) and lets totals stray further.
const ahead = 3

// Pick returns the index of the vendor that takes the next request, or -1 if may refuses everybody. Vendors of
// weight 0 are picked, in turn, only when nobody with weight may.
func (p *Picker) Pick(weights []float64, may func(i int) bool) int { return p.Prefer(weights, may, -1) }

// Prefer is Pick with a wish: the vendor want takes the request if it may, has weight, and is not more than three
// requests ahead of its part; whatever is wished for, over any run each vendor is then within about four requests
// of its exact part. -1 wishes for nobody.
func (p *Picker) Prefer(weights []float64, may func(i int) bool, want int) int {
	if len(p.owed) != len(weights) {
		p.fit(len(weights))
	}
	p.settle(weights)
	total, best := 0.0, -1
	for i, w := range weights {
		p.in[i] = w > 0 && w < 1e12 && may(i)
		if p.in[i] {
			total += w
		}
	}
	for i, w := range weights {
		if !p.in[i] {
			continue
		}
		p.owed[i] += w / total
		if best < 0 || p.owed[i] > p.owed[best] {
			best = i
		}
	}
	if best < 0 {
		return p.rescue(may)
	}
	if want >= 0 && want < len(weights) && p.in[want] && p.owed[want] > 1-ahead {
		best = want
	}
	p.owed[best]--
	return best
}

// settle spreads what is owed to vendors that lost their weight over the rest: it must neither be picked for
// later nor shift the balance that a vendor finds when it joins.
func (p *Picker) settle(weights []float64) {
	lost, heirs := 0.0, 0
	for i, w := range weights {
		if w > 0 {
			heirs++
		} else {
			lost, p.owed[i] = lost+p.owed[i], 0
		}
	}
	if lost == 0 {
		return
	}
	for i, w := range weights {
		if w > 0 {
			p.owed[i] += lost / float64(heirs)
		}
	}
}

// rescue takes turns among those that have no weight.
func (p *Picker) rescue(may func(i int) bool) int {
	n := len(p.owed)
	for k := 1; k <= n; k++ {
		if i := (p.last + k) % n; may(i) {
			p.last = i
			return i
		}
	}
	return -1
}

func (p *Picker) fit(n int) {
	p.last = n - 1
	p.owed, p.in = make([]float64, n), make([]bool, n)
}
