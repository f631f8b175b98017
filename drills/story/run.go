package story

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"baton/drills/load"
)

const (
	pace        = 500 * time.Millisecond // how often a scene is told
	calibration = 8 * time.Second
	killed      = 45 * time.Second // about how long the sixth act takes
	outstanding = 2000
)

// Scene is what happens now.
type Scene struct {
	Act     int // from 1; 0: the machine is measured
	Of      int // acts in all
	Title   string
	Caption string
	Load    string
	At      time.Duration // in this act
	Length  time.Duration // of it, about
	Left    time.Duration // of the whole story, about
	Warm    bool          // nothing counts yet
	Figures *Figures      // of this act so far; nil: nothing counts yet
	Note    string        // of the sixth act: what the drill says
	Kill    *Kill         // of the sixth act: the drill as it stands, without the clients' figures
	Done    []Act         // the acts before
}

// Act is an act that is over.
type Act struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Caption string  `json:"caption"`
	Load    string  `json:"load"`
	Figures Figures `json:"figures"`
	Want    string  `json:"want"`
	Holds   bool    `json:"holds"`
}

// show is a story under way.
type show struct {
	stage  Stage
	tell   func(Scene)
	client *http.Client
	report *Report
	begun  time.Time
}

// Run plays the story. tell, if not nil, is told about twice a second what
// happens, by one goroutine; it must not block for long. The Report is of what
// was played, also when ctx ends early; then the error is ctx's.
func Run(ctx context.Context, stage Stage, tell func(Scene)) (*Report, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: outstanding}
	defer transport.CloseIdleConnections()
	if tell == nil {
		tell = func(Scene) {}
	}
	s := &show{stage: stage, tell: tell, client: &http.Client{Transport: transport}, begun: time.Now(), report: &Report{Started: time.Now().UTC(), Acts: []Act{}}}
	err := s.play(ctx)
	s.report.Ended = time.Now().UTC()
	s.report.judge()
	return s.report, err
}

func (s *show) play(ctx context.Context) error {
	if err := s.calibrate(ctx); err != nil {
		return err
	}
	for i := range acts[:len(acts)-1] {
		a := &acts[i]
		url, stop, err := s.stage.Vendor(a.vendor)
		if err != nil {
			return fmt.Errorf("act %d: %w", i+1, err)
		}
		err = s.act(ctx, i, url)
		stop()
		if err != nil {
			return err
		}
	}
	engine, err := s.stage.Engine(hidden, spare)
	if err != nil {
		return fmt.Errorf("act %d: %w", len(acts), err)
	}
	defer engine.Stop()
	if err := s.act(ctx, len(acts)-1, engine.URL); err != nil {
		return err
	}
	return s.kill(ctx, engine)
}

// scene is what happens in act i (from 0).
func (s *show) scene(i int, at time.Duration) Scene {
	a := &acts[i]
	return Scene{
		Act: i + 1, Of: len(acts) + 1, Title: a.title, Caption: a.caption, Load: a.load.said,
		At: at, Length: a.warm + a.length, Left: max(0, Length()-time.Since(s.begun)), Done: s.report.Acts,
	}
}

// act plays one of the first five acts.
func (s *show) act(ctx context.Context, i int, url string) error {
	a := &acts[i]
	begin := time.Now()
	from, to := begin.Add(a.warm), begin.Add(a.warm+a.length)
	t := new(tally)
	telling, told := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		each(telling, func() {
			sc := s.scene(i, time.Since(begin))
			if now := time.Now(); now.After(from) {
				f := t.between(from, min2(now, to), a.stream)
				sc.Figures = &f
			} else {
				sc.Warm = true
			}
			s.tell(sc)
		})
	})
	s.send(ctx, a.load, url, a.stream, a.warm+a.length, t)
	told()
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := t.between(from, to, a.stream)
	s.report.Acts = append(s.report.Acts, Act{
		Name: a.name, Title: a.title, Caption: a.caption, Load: a.load.said, Figures: f, Want: a.want, Holds: a.holds(&f, s.report.Acts),
	})
	return nil
}

// send sends an act's traffic for a while and waits for the last answers.
func (s *show) send(ctx context.Context, l traffic, url string, stream bool, d time.Duration, t *tally) {
	sending, stop := context.WithTimeout(ctx, d)
	defer stop()
	s.sendOn(sending, ctx, l, url, stream, t)
}

// sendOn sends until sending ends; answers have until ctx does.
func (s *show) sendOn(sending, ctx context.Context, l traffic, url string, stream bool, t *tally) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	n := 0
	next := func() int {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n
	}
	if l.users > 0 {
		begun := make([]bool, l.users) // each of one worker alone
		load.Closed{Workers: l.users}.Run(sending, func(user int, free time.Time) time.Duration {
			if begun[user] {
				t.add(ask(ctx, s.client, url, free, next(), stream))
			}
			begun[user] = true // people are thinking when the act begins
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(rng.ExpFloat64() * float64(l.think))
		})
		return
	}
	load.Open{Pacer: load.Poisson{RPS: l.rps, Rand: rng}, Outstanding: outstanding}.Run(sending, func(due time.Time) func() {
		id := next()
		return func() { t.add(ask(ctx, s.client, url, due, id, stream)) }
	})
}

// each calls f every pace until ctx ends.
func each(ctx context.Context, f func()) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func min2(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
