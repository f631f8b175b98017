package ledger

import (
	"math"
	"time"

	"baton/engine/control"
)

const (
	liveStep  = 10 * time.Second
	liveSteps = 60 // 10 minutes
)

// Live is what a running engine has spent since it started: the figures of the
// overview. The owner holds its lock. The zero value is not ready: [NewLive].
type Live struct {
	started time.Time
	vendors map[string]*spent
}

type spent struct {
	total    Money
	tokens   int64 // of priced attempts
	unpriced int64
	priced   bool // something was
	recent   [liveSteps]Money
	step     int64 // of the last entry
}

// NewLive returns figures that begin now.
func NewLive(now time.Time) *Live { return &Live{started: now, vendors: map[string]*spent{}} }

// Add counts an attempt.
func (l *Live) Add(a *Attempt, c Cost) {
	if a.Vendor == "" || a.Source == Probe {
		return
	}
	s := l.vendors[a.Vendor]
	if s == nil {
		s = new(spent)
		l.vendors[a.Vendor] = s
	}
	if !c.Known {
		s.unpriced += sumsOf(a, c).Unpriced
		return
	}
	m := Pico(c.Sum())
	s.priced = true
	s.total = s.total.Plus(m)
	s.tokens += int64(a.Input) + int64(a.Output)
	s.advance(step(a.Ended))
	if i := step(a.Ended); a.Source == Client && s.step-i < liveSteps {
		s.recent[i%liveSteps] = s.recent[i%liveSteps].Plus(m)
	}
}

func step(t time.Time) int64 { return t.UnixNano() / int64(liveStep) }

// advance empties the steps that have passed.
func (s *spent) advance(to int64) {
	for n := 0; s.step < to && n < liveSteps; n++ {
		s.recent[(to-int64(n))%liveSteps] = Money{}
		if to-int64(n)-1 == s.step {
			break
		}
	}
	s.step = max(s.step, to)
}

// Of is one vendor's figures; priced: it has a price in the book.
func (l *Live) Of(vendor string, priced bool, now time.Time) control.Cost {
	s := l.vendors[vendor]
	if s == nil {
		s = new(spent)
	}
	var c control.Cost
	if !s.priced && (!priced || s.unpriced > 0) {
		return c
	}
	c.Total = control.Figure(s.total.Float())
	c.PerHour = control.Figure(l.perHour(s, now))
	if s.tokens > 0 {
		c.PerMillionTokens = control.Figure(s.total.Float() / float64(s.tokens) * micro)
	}
	return c
}

func (l *Live) perHour(s *spent, now time.Time) float64 {
	s.advance(step(now))
	sum := Money{}
	for _, m := range s.recent {
		sum = sum.Plus(m)
	}
	return sum.Float() * float64(time.Hour) / float64(l.over(now))
}

// over is the time of which a rate is made.
func (l *Live) over(now time.Time) time.Duration {
	return min(max(now.Sub(l.started), liveStep), liveSteps*liveStep)
}

// All is the figures of all vendors together.
func (l *Live) All(currency string, priced func(vendor string) bool, vendors []string, now time.Time) control.Spend {
	out := control.Spend{Currency: currency, OverS: math.Round(l.over(now).Seconds())}
	for _, v := range vendors {
		c := l.Of(v, priced(v), now)
		if s := l.vendors[v]; s != nil {
			out.Unpriced += s.unpriced
		}
		if c.Total == nil {
			continue
		}
		if out.Total == nil {
			out.Total, out.PerHour = control.Figure(0), control.Figure(0)
		}
		*out.Total += *c.Total
		*out.PerHour += *c.PerHour
	}
	return out
}
