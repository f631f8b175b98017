package speed

import (
	"slices"
	"testing"
	"time"
)

const (
	// Turns are short and many, so that what else the machine does hits all alike, and
	// the median of their ratios leaves out what does not.
	turnTime = time.Second
	warmUp   = 300 * time.Millisecond // of each turn, not counted
	pause    = 100 * time.Millisecond // after it: what the proxy before still does is not to be this one's
	sampling = 50 * time.Millisecond  // of memory
)

// turn is one proxy's turn in one round.
type turn struct {
	tally
	wall, cpu time.Duration
	rss       int64 // bytes, the most that was seen
}

// perTenThousand is CPU seconds per 10,000 answers.
func (t *turn) perTenThousand() float64 {
	return t.cpu.Seconds() / float64(max(t.answers, 1)) * 1e4
}

// take gives a proxy one turn.
func take(t *testing.T, p *process, l *load, d time.Duration) *turn {
	warm := new(tally)
	if *seconds > 0 {
		warm = l.run(warmUp)
		time.Sleep(pause)
	}
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		var top int64
		ticker := time.NewTicker(sampling)
		defer ticker.Stop()
		for {
			top = max(top, p.rss())
			select {
			case <-stop:
				most <- top
				return
			case <-ticker.C:
			}
		}
	}()
	cpu, begun := p.cpu(t), time.Now()
	x := &turn{tally: *l.run(d)}
	x.cpu, x.wall = p.cpu(t)-cpu, time.Since(begun)
	close(stop)
	x.rss = <-most
	// What broke while warming up is broken all the same.
	x.cut, x.failed = x.cut+warm.cut, x.failed+warm.failed
	if x.fault == nil {
		x.fault = warm.fault
	}
	return x
}

// measured is all turns of one proxy in one case.
type measured struct {
	name  string
	idle  int64
	turns []*turn
	all   turn
}

// measure has the proxies take turns.
func measure(t *testing.T, c *testCase, proxies []*process) []*measured {
	n, d := max(*seconds, 1), turnTime
	if *seconds == 0 {
		n, d = 1, 100*time.Millisecond
		c.connections = min(c.connections, 32)
	}
	loads := make([]*load, len(proxies))
	results := make([]*measured, len(proxies))
	order := make([]int, len(proxies))
	for i, p := range proxies {
		loads[i] = newLoad(p.addr, c)
		defer loads[i].close()
		results[i], order[i] = &measured{name: p.name, idle: p.idle}, i
	}
	for range n {
		for _, i := range order {
			results[i].turns = append(results[i].turns, take(t, proxies[i], loads[i], d))
		}
		slices.Reverse(order)
	}
	for _, m := range results {
		m.sum()
	}
	return results
}

// sum adds the turns up.
func (m *measured) sum() {
	for _, x := range m.turns {
		m.all.merge(&x.tally)
		m.all.wall += x.wall
		m.all.cpu += x.cpu
		m.all.rss = max(m.all.rss, x.rss)
	}
	slices.Sort(m.all.first)
}

// quantile is of the time to the first token, or to a whole answer; nearest rank.
func (m *measured) quantile(q float64) time.Duration {
	n := len(m.all.first)
	if n == 0 {
		return 0
	}
	return m.all.first[min(int(q*float64(n)), n-1)]
}

func (m *measured) perSecond() float64 { return float64(m.all.answers) / m.all.wall.Seconds() }

// ratio is this proxy's CPU per answer over another's: the median of the rounds,
// and between what the middle half of them lies.
func (m *measured) ratio(o *measured) (median, low, high float64) {
	rs := make([]float64, len(m.turns))
	for i, x := range m.turns {
		rs[i] = x.perTenThousand() / o.turns[i].perTenThousand()
	}
	slices.Sort(rs)
	at := func(q float64) float64 { // between the two nearest
		x := q * float64(len(rs)-1)
		i := int(x)
		return rs[i] + (x-float64(i))*(rs[min(i+1, len(rs)-1)]-rs[i])
	}
	return at(0.5), at(0.25), at(0.75)
}
