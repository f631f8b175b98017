package recording

import (
	"context"
	"iter"
	"math"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	fastest    = 20
	askEvents  = 1000
	openEvents = 200
)

// Player plays a recording as the Control of an engine that may only be looked
// at. Its methods may be called from any goroutine.
type Player struct {
	rec    *recorded
	report *control.Report // of the drill; nil: there is none

	mu      sync.Mutex // guards what follows
	from    time.Duration
	since   time.Time // when it stood at from
	speed   float64
	changed chan struct{} // closed and replaced when a person moves in it
}

var (
	_ control.Control = (*Player)(nil)
	_ control.Player  = (*Player)(nil)
)

// Open reads a recording. It plays from the beginning, as fast as it happened.
// report is what is answered when somebody asks for the drill's; it may be nil.
func Open(path string, report *control.Report) (*Player, error) {
	rec, err := load(path)
	if err != nil {
		return nil, err
	}
	return &Player{rec: rec, report: report, since: time.Now(), speed: 1, changed: make(chan struct{})}, nil
}

// Play sets the speed: 0 pauses, 20 is the fastest. From the end it begins anew.
func (p *Player) Play(speed float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if math.IsNaN(speed) {
		speed = 0
	}
	at := p.at()
	speed = min(max(speed, 0), fastest)
	if speed > 0 && p.rec.length() > 0 && at >= p.rec.length() {
		at = 0
	}
	p.move(at, speed)
}

// Seek moves to a moment; one outside the recording is its beginning or end.
func (p *Player) Seek(to time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.at()
	p.move(min(max(to, 0), p.rec.length()), p.speed)
}

// Position is where it stands. At its end it is paused.
func (p *Player) Position() control.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at()
	return control.Position{Name: p.rec.Name, At: at, Length: p.rec.length(), Speed: p.speed}
}

// at is where it stands; the end stops it. p.mu is held.
func (p *Player) at() time.Duration {
	if p.speed == 0 {
		return p.from
	}
	at := p.from + time.Duration(float64(time.Since(p.since))*p.speed)
	if at >= p.rec.length() || at < p.from {
		p.from, p.speed = p.rec.length(), 0
		return p.from
	}
	return at
}

// move goes on from a moment at a speed. p.mu is held.
func (p *Player) move(at time.Duration, speed float64) {
	p.from, p.since, p.speed = at, time.Now(), speed
	close(p.changed)
	p.changed = make(chan struct{})
}

// now is the frame that is shown, and what is closed when that changes by hand.
func (p *Player) now() (int, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rec.index(p.at()), p.changed
}

// Do refuses: what is recorded has happened.
func (p *Player) Do(context.Context, control.Command) error {
	return control.Errorf(control.Forbidden, "this is a recording: nothing can be changed in it")
}

// Ask answers from the recording, as things stood at its position.
func (p *Player) Ask(_ context.Context, q control.Query) (control.Answer, error) {
	i, _ := p.now()
	switch q := q.(type) {
	case control.State:
		return p.rec.snapshot(i)
	case control.EventsAfter:
		all := p.rec.events(0, i, askEvents)
		for len(all) > 0 && all[0].Seq <= q.Seq {
			all = all[1:]
		}
		return all, nil
	case control.FailuresOf:
		return []control.Failure{}, nil
	case control.Scenarios:
		return []control.Scenario{}, nil
	case control.Drills:
		if p.report == nil {
			return []control.Report{}, nil
		}
		return []control.Report{*p.report}, nil
	case control.DrillByID:
		if p.report == nil || p.report.ID != q.ID {
			return nil, control.Errorf(control.NotFound, "this is the recording of %s: there is no drill %q in it", p.rec.Name, q.ID)
		}
		rep := *p.report
		return &rep, nil
	}
	return nil, control.Errorf(control.NotFound, "this is a recording: it cannot answer that")
}

// Watch yields the state at the position, then as it plays. Events come once as
// it moves forward; moving back takes none of them away.
func (p *Player) Watch(ctx context.Context, every time.Duration) iter.Seq2[control.Update, error] {
	if every <= 0 {
		every = 250 * time.Millisecond
	}
	return func(yield func(control.Update, error) bool) {
		timer := time.NewTicker(every)
		defer timer.Stop()
		shown := -1
		for {
			i, changed := p.now()
			var u control.Update
			switch {
			case shown < 0:
				u.Events = p.rec.events(0, i, openEvents)
			case i > shown:
				u.Events = p.rec.events(shown+1, i, askEvents)
			}
			shown = i
			var err error
			if u.Snapshot, err = p.rec.snapshot(i); err != nil {
				yield(control.Update{}, err)
				return
			}
			if !yield(u, nil) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			case <-changed:
			}
			if ctx.Err() != nil {
				return // a slow reader finds all of them ready
			}
		}
	}
}
