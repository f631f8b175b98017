package story

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Figures are what clients got in one act.
type Figures struct {
	N       int            `json:"n"`      // requests begun in the measured time
	Failed  int            `json:"failed"` // of them
	Errors  float64        `json:"errors"` // failed / n, 0-1
	Words   map[string]int `json:"words"`  // why they failed: a status, or what broke
	RPS     float64        `json:"rps"`    // begun per second
	Metric  string         `json:"metric"` // first token or whole answer
	P50ms   *float64       `json:"p50_ms"` // of those that were answered, from when they were due; null: none was
	P90ms   *float64       `json:"p90_ms"`
	P99ms   *float64       `json:"p99_ms"`
	WholeMs *float64       `json:"whole_p99_ms"`
}

// The metrics of the acts.
const (
	FirstToken  = "first token"
	WholeAnswer = "whole answer"
)

// tally keeps the answers of an act.
type tally struct {
	mu  sync.Mutex
	all []answer
}

func (t *tally) add(a answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, a)
}

// between reckons up the requests that were due in [from, to).
func (t *tally) between(from, to time.Time, stream bool) Figures {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := Figures{Words: map[string]int{}, Metric: WholeAnswer}
	if stream {
		f.Metric = FirstToken
	}
	var metric, whole []float64
	for i := range t.all {
		a := &t.all[i]
		if a.due.Before(from) || !a.due.Before(to) {
			continue
		}
		f.N++
		if !a.ok {
			f.Failed++
			f.Words[a.why]++
			continue
		}
		whole = append(whole, ms(a.whole))
		if stream {
			metric = append(metric, ms(a.first))
		}
	}
	if !stream {
		metric = slices.Clone(whole)
	}
	slices.Sort(metric)
	slices.Sort(whole)
	f.P50ms, f.P90ms, f.P99ms, f.WholeMs = quantile(metric, 0.5), quantile(metric, 0.9), quantile(metric, 0.99), quantile(whole, 0.99)
	if f.N > 0 {
		f.Errors = float64(f.Failed) / float64(f.N)
	}
	if d := to.Sub(from).Seconds(); d > 0 {
		f.RPS = float64(f.N) / d
	}
	return f
}

// quantile is the smallest of the sorted values that at least a part q of them
// does not exceed; null of none.
func quantile(sorted []float64, q float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	v := sorted[min(len(sorted)-1, max(0, int(math.Ceil(q*float64(len(sorted))))-1))]
	return &v
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
