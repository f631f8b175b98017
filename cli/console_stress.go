package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"baton/drills/stress"
	"baton/engine/config"
	"baton/tui"
	"baton/vendors"
)

// consoleLadder is what the console runs: short enough to be watched. `baton
// stress` has every other choice.
var consoleLadder = []int{1, 10, 50, 100}

const consoleWindow = 20 * time.Second // of a level

// stresses are the console's stress tests. They have vendors of their own: a
// reload does not end them, and injected faults are none of theirs.
func (p *process) stresses() *tui.Stress {
	return &tui.Stress{
		Run: p.stressed,
		Plan: func(vendor string) (ladder, takes string) {
			levels := strings.Trim(strings.ReplaceAll(fmt.Sprint(consoleLadder), " ", ", "), "[]")
			ladder = fmt.Sprintf("%s requests at once, %s each", levels, consoleWindow)
			plan, err := p.stressPlan([]stress.Target{{Vendor: &vendors.Vendor{Name: vendor}, Model: vendor, Price: stressPrice(p.book.Load(), vendor, "", "")}})
			if err != nil {
				return ladder, ""
			}
			v, err := plan.Preview()
			if err != nil {
				return ladder, ""
			}
			takes = "about " + time.Duration(v.Seconds*float64(time.Second)).Round(time.Second).String()
			if v.Cost != nil {
				takes += fmt.Sprintf(", about %.2f %s", *v.Cost, plan.Currency)
			}
			return ladder, takes
		},
		Priced: func(vendor string) bool {
			cfg := p.cfg.Load()
			for i := range cfg.Vendors {
				if v := &cfg.Vendors[i]; v.Name == vendor {
					return v.Real() && p.book.Load().Priced(vendor)
				}
			}
			return false
		},
	}
}

func (p *process) stressPlan(targets []stress.Target) (stress.Plan, error) {
	cfg := p.cfg.Load()
	prompts, err := stress.BuiltIn("chat", 1)
	return stress.Plan{
		Targets: targets, Ladder: consoleLadder, Duration: consoleWindow, Arrivals: stress.ClosedLoop, Kind: stress.Stream, Prompts: prompts,
		SLO: stress.SLO{P90: cfg.Routing.SLOP90, P99: cfg.Routing.SLOP99}, Version: version(), Currency: cfg.Ledger.Currency,
	}, err
}

// stressed runs the ladder at a vendor and keeps its report.
func (p *process) stressed(ctx context.Context, vendor string, progress func(tui.StressState)) (tui.StressState, error) {
	state := tui.StressState{Vendor: vendor}
	cfg := p.cfg.Load()
	set, err := vendors.Open(cfg, vendors.Options{SimURL: p.sims.url})
	if err != nil {
		return state, err
	}
	defer set.Close()
	targets, err := stressTargets(cfg, set, []string{vendor}, modelFor(cfg, vendor), p.state.dir)
	if err != nil {
		return state, err
	}
	plan, err := p.stressPlan(targets)
	if err != nil {
		return state, err
	}
	spent := new(spending)
	for i := range plan.Targets {
		spent.of(&plan.Targets[i], modelFor(cfg, vendor))
	}
	rep, err := stress.Run(ctx, plan, func(now stress.Progress) {
		s := tui.StressState{Vendor: vendor, Level: now.Level, Of: now.Levels, Doing: doingNow(now), LeftS: now.Left.Seconds()}
		if now.Total > 0 {
			s.Part = min(1, now.Done.Seconds()/now.Total.Seconds())
		}
		progress(s)
	})
	if err != nil {
		return state, err
	}
	state = stressState(rep)
	if err := spent.keep(p.state.dir, rep.ID); err != nil {
		p.warn(err.Error())
	}
	kept, err := stress.History{Dir: filepath.Join(p.state.dir, "stress")}.Save(rep)
	if err != nil {
		p.logger.Error("the stress test's report is not kept", "error", err)
		return state, nil
	}
	state.Files = []string{kept}
	return state, nil
}

// modelFor is the first configured model that the vendor has; "": whatever it
// has.
func modelFor(cfg *config.Config, vendor string) string {
	for i := range cfg.Models {
		if _, sold := cfg.Models[i].NameAt(vendor); sold {
			return cfg.Models[i].Name
		}
	}
	return ""
}

// doingNow says what a test does at the moment.
func doingNow(p stress.Progress) string {
	if p.Arrivals == "" {
		return p.Stage
	}
	s := fmt.Sprintf("%s, %d at once: %.1f/s, P50 %s, %d answers", p.Stage, p.Concurrency, p.RPS, msText(p.P50ms), p.Samples)
	if p.Refused > 0 {
		s += fmt.Sprintf(", %d refused", p.Refused)
	}
	if p.Failed > 0 {
		s += fmt.Sprintf(", %d failed", p.Failed)
	}
	return s
}

// stressState is a report as the console shows it.
func stressState(rep *stress.Report) tui.StressState {
	if len(rep.Runs) == 0 {
		return tui.StressState{Reason: rep.Stopped}
	}
	run := &rep.Runs[0]
	s := tui.StressState{Vendor: run.Vendor, Part: 1, Verdict: run.Verdict, Reason: run.Reason, Say: run.Ask}
	if rep.Stopped != "" {
		s.Reason = strings.TrimPrefix(s.Reason+"; "+rep.Stopped, "; ")
	}
	if run.Limiter != nil {
		s.Limiter = run.Limiter.String()
	}
	if d := run.Degradation; d != nil && d.Withheld == "" {
		s.Worse, s.WorseP99 = d.FirstP50, d.FirstP99
	}
	for i := range run.Levels {
		l := &run.Levels[i]
		level := tui.StressLevel{
			Concurrency: l.Concurrency, N: int64(l.N), RPS: l.RPS, TokensPerS: l.TokensPS, P50: l.FirstToken.P50, P90: l.FirstToken.P90, P99: l.FirstToken.P99,
		}
		for _, n := range l.Errors {
			level.Errors += int64(n)
		}
		if l.Verdict != stress.OK {
			level.Verdict = l.Verdict
		}
		s.Levels = append(s.Levels, level)
	}
	return s
}
