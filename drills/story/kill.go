package story

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"baton/engine/control"
)

// Kill is the sixth act: what the drill says, and what clients got.
type Kill struct {
	Drill    string           `json:"drill"` // its id
	Verdict  string           `json:"verdict"`
	Reason   string           `json:"reason"`
	CutoverS *float64         `json:"cutover_s"`
	TargetS  float64          `json:"target_s"`
	Clients  Figures          `json:"clients"` // of the requests since just before the kill, counted by the clients
	Phases   []control.Moment `json:"phases"`
}

const (
	killTitle   = "The primary is killed"
	killCaption = "Every new connection to the primary is refused from now on. The router is not told: it has to notice."
)

// proofTime is how long the drill may take to prove its cutover before the story goes on.
const proofTime = 90 * time.Second

// kill plays the sixth act: the drill kill against the engine, under the same
// traffic.
func (s *show) kill(ctx context.Context, engine Engine) error {
	begin := time.Now()
	t := new(tally)
	playing, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	// Those under way when the act ends are let finish: they are clients, too.
	wg.Go(func() { s.sendOn(playing, ctx, arrival, engine.URL, true, t) })
	k := Kill{TargetS: 420, Phases: []control.Moment{}}
	err := s.drill(ctx, engine, &k, begin, t)
	stop()
	wg.Wait()
	if err != nil {
		return fmt.Errorf("act %d: %w", len(acts)+1, err)
	}
	k.Clients = t.between(begin, time.Now(), true)
	s.report.Kill = &k
	return nil
}

// drill kills the primary and follows the drill until it is proven or given up.
func (s *show) drill(ctx context.Context, engine Engine, k *Kill, begin time.Time, t *tally) error {
	if !sleep(ctx, 3*time.Second) {
		return ctx.Err()
	}
	start := &control.StartDrill{Meta: control.Meta{By: "story"}, Scenario: "kill", Vendor: hidden.Name}
	if err := engine.Control.Do(ctx, start); err != nil {
		return err
	}
	deadline := time.Now().Add(proofTime)
	for time.Now().Before(deadline) {
		snap, err := control.Get[*control.Snapshot](ctx, engine.Control, control.State{})
		if err != nil {
			return err
		}
		if d := snap.Drill; d != nil {
			k.Drill, k.Reason, k.CutoverS, k.TargetS, k.Phases = d.ID, d.Reason, d.CutoverS, d.TargetS, slices.Clone(d.Phases)
			if d.Verdict != nil {
				k.Verdict = *d.Verdict
			}
			f := t.between(begin, time.Now(), true)
			now := *k
			sc := Scene{
				Act: len(acts) + 1, Of: len(acts) + 1, Title: killTitle, Caption: killCaption, Load: arrival.said, At: time.Since(begin), Length: killed,
				Left: max(0, Length()-time.Since(s.begun)), Figures: &f, Note: note(d), Kill: &now, Done: s.report.Acts,
			}
			s.tell(sc)
			if d.Verdict != nil {
				return nil
			}
		}
		if !sleep(ctx, pace) {
			return ctx.Err()
		}
	}
	return errors.New("the drill gave no verdict in " + proofTime.String())
}

// note is the drill in a line.
func note(d *control.DrillState) string {
	if d.CutoverS != nil {
		return fmt.Sprintf("%s, T+%.0f s: cutover %.1f s, %d requests failed", d.Phase, d.ClockS, *d.CutoverS, d.Requests.Failed)
	}
	return fmt.Sprintf("%s, T+%.0f s: %d requests, %d failed, %d rescued", d.Phase, d.ClockS, d.Requests.Total, d.Requests.Failed, d.Requests.FailedOver)
}

// sleep waits, and says whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
