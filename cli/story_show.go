package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"baton/drills"
	"baton/drills/story"
	"baton/engine/control"
)

// storyShow is the story as the drill machine plays it, for consoles and the API;
// its page goes into dir.
func storyShow(dir string) drills.Show {
	return drills.Show{
		Name: storyScenario, Claim: "two vendors behind baton cut the first-token P99 of one behind a silent limit by 85 %, and losing the primary costs no client an answer",
		Explain: []string{
			"It re-enacts for people who watch why a team put two vendors behind one gateway, in six acts over about five minutes, each measured while it runs.",
			"One GPU behind a plain server under ten times its traffic; the same, quantized; one pool with a professional inference engine; a vendor behind a silent limit; that vendor and an elastic one under baton; then the primary is killed.",
			"It starts simulated vendors and an engine of its own, measures this machine first, and says so if the machine is too slow. Nothing of the engine that runs is touched; demo traffic pauses meanwhile.",
			"It passes if every act is as the story says, and no client gets an error when the primary is killed.",
		},
		Length: story.Length(),
		Play: func(ctx context.Context, id, who string, tell func(drills.Scene)) (*control.Report, error) {
			acts := &playbill{begun: time.Now()}
			r, err := story.Run(ctx, stage{}, func(s story.Scene) { tell(acts.scene(s)) })
			rep := r.Record(id, who, version())
			if err == nil {
				_, err = storyPage(dir, id, r)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				return nil, err
			}
			return rep, err
		},
	}
}

// playbill is the acts that have begun, with their figures.
type playbill struct {
	begun time.Time
	at    []time.Duration // of each act, from 0: the machine is measured
}

// scene is what the machine shows of a scene.
func (p *playbill) scene(s story.Scene) drills.Scene {
	for len(p.at) <= s.Act {
		p.at = append(p.at, time.Since(p.begun))
	}
	out := drills.Scene{Caption: s.Title + ". " + s.Caption}
	if s.Act > 0 {
		out.Caption = fmt.Sprintf("ACT %d of %d: %s", s.Act, s.Of, out.Caption)
	}
	switch {
	case s.Note != "":
		out.Caption += " " + s.Note
	case s.Figures != nil:
		out.Caption += " " + figuresOf(s.Figures)
	}
	out.Caption += " Load: " + s.Load
	if s.Kill != nil {
		out.Phases, out.TargetS = s.Kill.Phases, s.Kill.TargetS
	}
	add := func(act int, text string, done bool) {
		if act < len(p.at) {
			out.Steps = append(out.Steps, control.StepState{AtS: p.at[act].Seconds(), Text: text, Done: done})
		}
	}
	add(0, "this machine is measured", s.Act > 0)
	for i := range s.Done {
		a := &s.Done[i]
		add(i+1, fmt.Sprintf("%d %s: %s; %s", i+1, a.Title, figuresOf(&a.Figures), a.Load), true)
	}
	if s.Act > 0 {
		text := fmt.Sprintf("%d %s", s.Act, s.Title)
		if s.Figures != nil {
			text += ": " + figuresOf(s.Figures)
		}
		add(s.Act, text, false)
	}
	return out
}

// figuresOf is an act's figures in a line.
func figuresOf(f *story.Figures) string {
	return fmt.Sprintf("%s P50 %s P90 %s P99 %s, errors %.1f %%, n=%d", f.Metric, secondsOf(f.P50ms), secondsOf(f.P90ms), secondsOf(f.P99ms), 100*f.Errors, f.N)
}
