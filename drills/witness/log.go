package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
)

const format = 1

// head begins a run in the log.
type head struct {
	Witness int       `json:"witness"` // the format
	URL     string    `json:"url"`
	RPS     float64   `json:"rps"`
	Model   string    `json:"model"`
	Time    time.Time `json:"time"`
}

// sent is the line of a request that is under way.
type sent struct {
	ID   string    `json:"id"`
	Sent time.Time `json:"sent"`
}

// Entry is one request, as it is in the log once it has ended.
type Entry struct {
	ID         string     `json:"id"`
	Sent       time.Time  `json:"sent"`
	FirstToken *time.Time `json:"first_token"` // null: none came
	End        *time.Time `json:"end"`         // null: it has not ended
	Status     int        `json:"status"`      // of HTTP; 0: there was no answer
	Vendor     string     `json:"vendor"`      // who answered, as the gateway says
	Attempts   int        `json:"attempts"`    // of vendors, as the gateway says
	OK         bool       `json:"ok"`          // answered whole, with no error
	Error      string     `json:"error"`
}

// wait is how long its first token took; ok is false where none came.
func (e *Entry) wait() (d time.Duration, ok bool) {
	if e.FirstToken == nil {
		return 0, false
	}
	return e.FirstToken.Sub(e.Sent), true
}

// Log is the requests of a log by the moment at which they were sent.
type Log struct{ Entries []Entry }

// Read reads a log, also one that is still being written or was cut off.
func Read(path string) (*Log, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the witness's log: %w", err)
	}
	l, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("read the witness's log %s: %w", path, err)
	}
	return l, nil
}

func parse(b []byte) (*Log, error) {
	b = b[:bytes.LastIndexByte(b, '\n')+1] // the last line may not be whole yet
	l, at, n := new(Log), map[string]int{}, 0
	for line := range bytes.Lines(b) {
		n++
		var e struct {
			Entry
			Witness *int `json:"witness"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch i, known := at[e.ID]; {
		case e.Witness != nil:
			if *e.Witness != format {
				return nil, fmt.Errorf("line %d: format %d is not %d", n, *e.Witness, format)
			}
		case e.ID == "" || e.Sent.IsZero():
			return nil, fmt.Errorf("line %d: it is no request of a witness", n)
		case known:
			l.Entries[i] = e.Entry
		default:
			at[e.ID] = len(l.Entries)
			l.Entries = append(l.Entries, e.Entry)
		}
	}
	slices.SortStableFunc(l.Entries, func(a, b Entry) int { return a.Sent.Compare(b.Sent) })
	return l, nil
}

// Summary is a run in figures.
type Summary struct {
	Requests int            `json:"requests"` // that ended
	Failed   int            `json:"failed"`
	Rescued  int            `json:"rescued"` // answered after more than one attempt
	Vendors  map[string]int `json:"vendors"` // who answered well
	P50ms    *float64       `json:"p50_ms"`  // first tokens; null: none
	P90ms    *float64       `json:"p90_ms"`
	P99ms    *float64       `json:"p99_ms"`
	Maxms    *float64       `json:"max_ms"`
	// WithoutS is the longest time from one good answer's sending to the next
	// one's, in seconds.
	WithoutS float64 `json:"without_s"`
}

// summarize sums up requests that have ended.
func summarize(all []Entry) *Summary {
	s := &Summary{Requests: len(all), Vendors: map[string]int{}}
	var waits []time.Duration
	var good []time.Time
	for i := range all {
		e := &all[i]
		if !e.OK {
			s.Failed++
			continue
		}
		if e.Attempts > 1 {
			s.Rescued++
		}
		s.Vendors[e.Vendor]++
		good = append(good, e.Sent)
		if d, ok := e.wait(); ok {
			waits = append(waits, d)
		}
	}
	slices.Sort(waits)
	slices.SortFunc(good, time.Time.Compare)
	for i := 1; i < len(good); i++ {
		s.WithoutS = max(s.WithoutS, good[i].Sub(good[i-1]).Seconds())
	}
	s.WithoutS = math.Round(s.WithoutS*1000) / 1000
	s.P50ms, s.P90ms, s.P99ms, s.Maxms = quantile(waits, 0.5), quantile(waits, 0.9), quantile(waits, 0.99), quantile(waits, 1)
	return s
}

// quantile is of sorted times, by nearest rank, in milliseconds.
func quantile(sorted []time.Duration, q float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	i := max(int(math.Ceil(q*float64(len(sorted))))-1, 0)
	v := math.Round(float64(sorted[i])/float64(time.Millisecond)*10) / 10
	return &v
}
