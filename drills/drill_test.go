package drills

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// match says whether got holds every part of want, which are parted by "...".
func match(want, got string) bool {
	for part := range strings.SplitSeq(want, "...") {
		i := strings.Index(got, part)
		if i < 0 {
			return false
		}
		got = got[i+len(part):]
	}
	return want != "" || got == ""
}

func TestCutover_IsTheLatestOfDetectedShiftedAndVerified(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(w *world, o *Options)
		cutover func(w *world) float64
		hurt    float64
		failed  bool
	}{
		"shifted last": {
			change:  func(w *world, _ *Options) { w.detect, w.shift = 3200*time.Millisecond, 3400*time.Millisecond },
			cutover: func(w *world) float64 { return w.lastAt.Sub(w.began).Seconds() },
		},
		"detected last": {
			change:  func(w *world, _ *Options) { w.detect, w.shift = 4321*time.Millisecond, 4321*time.Millisecond },
			cutover: func(*world) float64 { return 4.321 },
		},
		"served well last": {
			// Without rescue, every request of the second from 3 s loses some; the
			// first whole second without a loss begins at 4 s.
			change: func(w *world, _ *Options) {
				w.rescue, w.detect, w.shift = false, 3200*time.Millisecond, 3600*time.Millisecond
			},
			cutover: func(*world) float64 { return 4 },
			hurt:    4, failed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, c.change, func(s *stage) {
				id := s.kill("a", 0)
				s.pass(14*time.Second + 2*pace)
				d := s.m.State()
				if d.CutoverS == nil {
					t.Fatalf("no cutover after %g s: phases %+v, verify %+v", d.ClockS, d.Phases, d.Verify)
				}
				want := math.Round(1000*c.cutover(s.world)) / 1000
				if *d.CutoverS != want || d.ClockS != want {
					t.Errorf("cutover %g, clock %g; want %g (phases %+v)", *d.CutoverS, d.ClockS, want, d.Phases)
				}
				if d.HurtS != c.hurt {
					t.Errorf("clients were hurt for %g s, want %g", d.HurtS, c.hurt)
				}
				verdict := control.Passed
				if c.failed {
					verdict = control.Failed
				}
				if s.verdict() != verdict || s.record(id).Verdict != verdict {
					t.Errorf("verdict %s, recorded %s; want %s", s.verdict(), s.record(id).Verdict, verdict)
				}
			})
		})
	}
}

func TestClock_RunsFromTheFaultAndStandsStillAtTheCutover(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(2500 * time.Millisecond)
		if d := s.m.State(); d.ClockS != 2.5 || d.CutoverS != nil || d.TargetS != 420 || d.Phase != control.PhaseFault {
			t.Fatalf("at 2.5 s: %+v", d)
		}
		s.pass(11 * time.Second)
		still := s.m.State().ClockS
		s.pass(time.Minute)
		if d := s.m.State(); d.ClockS != still || still != *d.CutoverS || still < 3 || still > 3.4 {
			t.Fatalf("the clock went from %g to %g, cutover %v", still, d.ClockS, *d.CutoverS)
		}
	})
}

func TestT0_IsTheEnginesStampAlthoughTheCommandWaited(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.slow = 700 * time.Millisecond }, func(s *stage) {
		s.kill("a", 0)
		s.pass(700*time.Millisecond + pace)
		d := s.m.State()
		if s.at(control.PhaseFault) != 0 || !d.Phases[0].Time.Equal(s.began) || d.ClockS != 0.1 {
			t.Fatalf("the fault went in at %v; phases %+v, clock %g", s.began, d.Phases, d.ClockS)
		}
	})
}

func TestPhases_AreStampedInTheirOrder(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		id := s.kill("a", 0)
		s.pass(20 * time.Second)
		s.restore("a")
		if d := s.m.State(); d.Phase != control.PhaseRestored || d.Until != nil {
			t.Fatalf("after the restore: %+v", d)
		}
		s.pass(30 * time.Second)
		var names []string
		last := -1.0
		for _, p := range s.m.State().Phases {
			names = append(names, p.Name)
			if p.TS < last {
				t.Errorf("%s at %g s, after a phase at %g s", p.Name, p.TS, last)
			}
			last = p.TS
		}
		if got := strings.Join(names, " "); got != "fault detected shifted verified restored failback done" {
			t.Errorf("phases %s", got)
		}
		s.ends(control.Passed, "")
		r := s.record(id)
		last3 := r.Hypothesis[len(r.Hypothesis)-1]
		if !strings.HasPrefix(last3.Name, "failback") || !last3.OK || last3.Got < "0:20.0" || last3.Got > "0:21.1" {
			t.Errorf("failback: %+v", last3)
		}
		if r.Ended == nil || r.Latency["after"].Count < 900 || r.Latency["during"].Count < 900 || len(r.Series) < 40 || len(r.Weights) != 3 {
			t.Errorf("record: ended %v, latency %+v, %d points, weights %+v", r.Ended, r.Latency, len(r.Series), r.Weights)
		}
	})
}

func TestRequests_AreThoseOfTheFaultOnly(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.rescue = false }, func(s *stage) {
		id := s.kill("a", 0)
		s.pass(10 * time.Second)
		s.restore("a")
		q := s.m.State().Requests
		s.pass(10 * time.Second)
		r := s.record(id)
		if q.Total < 500 || q.Total > 505 || q.Failed < 120 || q.Failed > 126 || q.OK+q.Failed != q.Total || int64(len(q.Lost)) != q.Failed {
			t.Errorf("%+v with %d ids", q, len(q.Lost))
		}
		if r.Requests.Total != q.Total || len(r.Requests.Lost) != len(q.Lost) || r.Requests.Lost[0] != q.Lost[0] {
			t.Errorf("recorded %+v, shown %+v", r.Requests.Total, q.Total)
		}
	})
}

func TestVerdict(t *testing.T) {
	never := time.Duration(-1)
	for name, c := range map[string]struct {
		change  func(w *world, o *Options)
		lasts   time.Duration // of the fault; 0: 15m
		wait    time.Duration
		restore bool // by a person after it
		verdict string
		reason  string
	}{
		"lost requests fail it": {
			change: func(w *world, _ *Options) { w.rescue = false },
			wait:   16 * time.Second, verdict: control.Failed, reason: "clients' success until the proof: wanted at least 0.999, got 0.82429: 123 of 700 failed",
		},
		"too slow fails it": {
			change: func(w *world, o *Options) { o.Config.Drill.Target = 3 * time.Second },
			wait:   16 * time.Second, verdict: control.Failed, reason: "cutover: wanted at most 0:03.0, got 0:03.",
		},
		"just in time, and proven after the target, passes": {
			change: func(w *world, o *Options) { o.Config.Drill.Target = 4 * time.Second },
			wait:   16 * time.Second, verdict: control.Passed,
		},
		"low traffic proves nothing": {
			change: func(w *world, _ *Options) { w.rps = 5 },
			wait:   time.Minute, restore: true, verdict: control.Inconclusive, reason: "requests in 10 s, fewer than 100, prove nothing",
		},
		"no traffic proves nothing": {
			change: func(w *world, _ *Options) { w.quiet, w.detect, w.shift = 0, never, never },
			wait:   time.Minute, restore: true, verdict: control.Inconclusive, reason: "no attempt met the fault",
		},
		"traffic that stops proves nothing": {
			change: func(w *world, _ *Options) { w.quiet = 4 * time.Second },
			wait:   time.Minute, restore: true, verdict: control.Inconclusive, reason: "requests in 10 s, fewer than 100, prove nothing",
		},
		"traffic that stops before the shift proves nothing": {
			change: func(w *world, _ *Options) { w.quiet, w.shift = 3250*time.Millisecond, 3300*time.Millisecond },
			wait:   time.Minute, restore: true, verdict: control.Inconclusive, reason: "fewer than 20 attempts since",
		},
		"restored early is aborted": {
			wait: 8 * time.Second, restore: true, verdict: control.Aborted, reason: "restored by operator:li after 0:08.0, before the cutover was proven: good service was held for 5 of 10 s",
		},
		"restored before it was noticed is aborted": {
			wait: 2500 * time.Millisecond, restore: true, verdict: control.Aborted, reason: "restored by operator:li after 0:02.5...not detected",
		},
		"a fault that ends before the target proves nothing": {
			change: func(w *world, _ *Options) { w.detect, w.shift = never, never },
			lasts:  time.Minute, wait: 61 * time.Second, verdict: control.Inconclusive, reason: "the fault ended after 1:00.0, before the target of 7:00.0: not detected",
		},
		"never noticed fails it": {
			change: func(w *world, o *Options) { w.detect, w.shift, o.Config.Drill.Target = never, never, time.Minute },
			lasts:  70 * time.Second, wait: 71 * time.Second, verdict: control.Failed, reason: "no cutover within 1:00.0: not detected",
		},
		"noticed and never shifted fails it": {
			change: func(w *world, o *Options) { w.shift = never; o.Config.Drill.Target = time.Minute },
			wait:   75 * time.Second, restore: true, verdict: control.Failed, reason: "no cutover within 1:00.0: detected, but not shifted: ... attempts since the fault went to it",
		},
		"a slow vendor that nobody notices fails it": {
			change: func(w *world, o *Options) {
				w.detect, w.shift, w.first = never, never, 9*time.Second
				o.Config.Drill.Target = time.Minute
			},
			wait: 75 * time.Second, restore: true, verdict: control.Failed, reason: "no cutover within 1:00.0: not detected",
		},
		"slow answers are no good service": {
			change: func(w *world, o *Options) { w.first = 5 * time.Second; o.Config.Drill.Target = time.Minute },
			wait:   75 * time.Second, restore: true, verdict: control.Failed, reason: "the P99 of first tokens is ... over 2000 ms",
		},
		"most requests lost aborts it": {
			change: func(w *world, _ *Options) { w.rescue, w.detect, w.shift = false, never, never },
			wait:   15 * time.Second, verdict: control.Aborted, reason: "failed in 10 s: success was under drill.abort_below 0.95",
		},
		"too many lost requests abort it": {
			change: func(w *world, o *Options) { w.rescue, o.Config.Drill.MaxFailed = false, 50 },
			wait:   15 * time.Second, verdict: control.Aborted, reason: "requests failed, more than drill.max_failed 50",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, c.change, func(s *stage) {
				id := s.kill("a", c.lasts)
				s.pass(c.wait)
				if c.restore {
					s.restore("a")
				}
				s.ends(c.verdict, c.reason)
				if r := s.record(id); r.Verdict != c.verdict || r.Reason != s.m.State().Reason {
					t.Errorf("recorded %s: %q", r.Verdict, r.Reason)
				}
				if c.verdict == control.Aborted {
					s.set(func() {
						if s.fault != nil {
							t.Error("the fault is still in")
						}
					})
				}
			})
		})
	}
}

func TestLosses_OfAFewSecondsDoNotAbort(t *testing.T) {
	// Everything fails for 5 s, then all is well: under abort_below over 10 s,
	// but not in each of them.
	rehearse(t, func(w *world, _ *Options) {
		w.rescue, w.detect, w.shift = false, 5*time.Second, 5*time.Second
		w.weigh("a", 99)
	}, func(s *stage) {
		s.kill("a", 0)
		s.pass(25 * time.Second)
		s.ends(control.Failed, "clients' success")
		if d := s.m.State(); d.HurtS != 5 && d.HurtS != 6 {
			t.Errorf("clients were hurt for %g s", d.HurtS)
		}
	})
}

func TestTarget_PassedIsSaidWhileTheClockRunsOn(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.detect, w.shift = -1, -1 }, func(s *stage) {
		s.kill("a", 0)
		s.pass(7*time.Minute + 2*time.Second)
		d := s.m.State()
		if d.Verdict != nil || !strings.Contains(d.Reason, "the target of 7:00.0 has passed: not detected") || d.ClockS != 422 {
			t.Fatalf("verdict %v, reason %q, clock %g", d.Verdict, d.Reason, d.ClockS)
		}
		said := 0
		for _, x := range s.texts("drill") {
			if strings.Contains(x, "has passed") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("said %d times: %q", said, s.texts("drill"))
		}
		// A person moves the weights: late, but the cutover is measured.
		s.set(func() {
			s.weigh("a", 0)
			s.log(control.Event{Kind: "weights", Who: "operator:wang"})
		})
		s.pass(12 * time.Second)
		s.ends(control.Failed, "cutover: wanted at most 7:00.0, got 7:02.")
	})
}

func TestDetected(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(s *stage)
		want bool
	}{
		"a person pins":                 {func(s *stage) { s.log(control.Event{Kind: "weights", Who: "operator:li"}) }, true},
		"a person drains it":            {func(s *stage) { s.log(control.Event{Kind: "operator", Vendor: "a", Who: "operator:li"}) }, true},
		"the account is disabled":       {func(s *stage) { s.log(control.Event{Kind: "account", Level: control.Crit, Vendor: "a"}) }, true},
		"its weight falls clearly":      {func(s *stage) { s.weigh("a", 69) }, true},
		"its weight breathes":           {func(s *stage) { s.weigh("a", 72) }, false},
		"the controller moves it a bit": {func(s *stage) { s.log(control.Event{Kind: "weights", Vendor: "a"}) }, false},
		"the other one is ejected first": {func(s *stage) {
			s.log(control.Event{Kind: "health", Vendor: "b", Data: map[string]any{"to": control.Ejected}})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, func(w *world, _ *Options) { w.detect, w.shift = -1, -1 }, func(s *stage) {
				s.kill("a", 0)
				s.pass(1777 * time.Millisecond)
				s.set(func() { c.act(s) })
				s.pass(time.Second)
				want := -1.0
				if c.want {
					want = 1.777
				}
				if got := s.at(control.PhaseDetected); got != want {
					t.Errorf("detected at %g, want %g", got, want)
				}
			})
		})
	}
}

func TestRefused_OnlyWhenNobodyElseMayTakeTraffic(t *testing.T) {
	for state, refused := range map[string]bool{
		control.Healthy: false, control.Degraded: false, control.Recovering: false,
		control.Ejected: true, control.Drained: true, control.Disabled: true,
	} {
		t.Run(state, func(t *testing.T) {
			rehearse(t, func(w *world, _ *Options) { w.by("b").State = state }, func(s *stage) {
				id := s.kill("a", 0)
				if got := s.verdict() == control.Refused; got != refused {
					t.Fatalf("the verdict is %q", s.verdict())
				}
				s.set(func() {
					if (s.fault == nil) != refused {
						t.Errorf("fault %+v", s.fault)
					}
				})
				if refused {
					d := s.m.State()
					if d.ClockS != 0 || d.Phase != control.Refused || len(d.Phases) != 0 || d.Until != nil {
						t.Errorf("state %+v", d)
					}
					if r := s.record(id); r.Ended == nil || !match("no other vendor may take traffic", r.Reason) {
						t.Errorf("record %+v", r)
					}
				}
			})
		})
	}
}

func TestKill_OfAVendorWithoutTrafficIsInconclusiveAtOnce(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.by("a").State = control.Drained; w.weigh("a", 0) }, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.ends(control.Inconclusive, "vendor a was drained already")
		if d := s.m.State(); d.ClockS != 0 || d.Until == nil {
			t.Errorf("state %+v", d)
		}
		s.restore("a")
		s.pass(time.Second)
		s.ends(control.Inconclusive, "vendor a was drained already")
		if !s.m.current.replaceable() || s.at(control.PhaseRestored) < 1 {
			t.Errorf("phases %+v", s.m.State().Phases)
		}
	})
}

func TestAbort_RestoresAndSaysSo(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		id := s.kill("a", 0)
		s.pass(5 * time.Second)
		if _, err := s.m.Do(s.Context(), &control.AbortDrill{Meta: control.Meta{By: "wang"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(0)
		s.ends(control.Aborted, "aborted by operator:wang")
		if s.at(control.PhaseRestored) != 5 || s.m.State().ClockS != 5 || s.fault != nil {
			t.Errorf("clock %g, phases %+v, fault %v", s.m.State().ClockS, s.m.State().Phases, s.fault)
		}
		if r := s.record(id); r.Ended == nil || r.Verdict != control.Aborted || r.Hypothesis[0].OK || !match("not proven: good service", r.Hypothesis[0].Got) {
			t.Errorf("record %+v", r)
		}
		if _, err := s.m.Do(s.Context(), &control.AbortDrill{}); kindOf(err) != control.Conflict {
			t.Errorf("a second abort: %v", err)
		}
	})
}

func TestAbort_AfterTheProofKeepsTheCutover(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(20 * time.Second)
		s.ends(control.Passed, "")
		s.set(func() { s.by("b").State = control.Ejected })
		s.pass(time.Second)
		s.ends(control.Aborted, "no other vendor may take traffic any more; the cutover 0:03.3 was proven before that")
		if s.fault != nil || s.m.State().CutoverS == nil {
			t.Error("the fault is still in, or the cutover forgotten")
		}
	})
}

func TestShutdown_RestoresAndKeepsAVerdictThatWasGiven(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration
		verdict string
	}{"before the cutover": {5 * time.Second, control.Aborted}, "after it": {20 * time.Second, control.Passed}} {
		t.Run(name, func(t *testing.T) {
			var last *stage
			var id string
			rehearse(t, nil, func(s *stage) {
				last = s
				id = s.kill("a", 0)
				s.pass(c.after)
			})
			if last.fault != nil {
				t.Error("the fault is still in")
			}
			r, err := last.m.records.read(id)
			if err != nil || r.Ended == nil || r.Verdict != c.verdict {
				t.Errorf("record %+v, %v", r, err)
			}
			if _, err := last.m.Do(t.Context(), &control.StartDrill{Scenario: "kill", Vendor: "a"}); kindOf(err) != control.Conflict {
				t.Errorf("a drill was started after the end: %v", err)
			}
		})
	}
}

func TestEngine_ThatDoesNotAnswerEndsTheDrillAfterAWhile(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.set(func() { s.dead = errors.New("gone") })
		s.pass(3 * time.Second)
		if s.verdict() != "" {
			t.Fatalf("ended after 3 s of silence: %s", s.verdict())
		}
		s.pass(3 * time.Second)
		s.ends(control.Aborted, "the engine does not answer: gone")
		if s.fault != nil {
			t.Error("the fault is still in")
		}
	})
}

func TestEngine_ThatIsSilentForAMomentDoesNot(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.set(func() { s.dead = errors.New("gone") })
		s.pass(3 * time.Second)
		s.set(func() { s.dead = nil })
		s.pass(15 * time.Second)
		s.ends(control.Passed, "")
	})
}

func TestFault_ThatOutlivesItsTimeIsEnded(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.expires = false }, func(s *stage) {
		s.kill("a", 30*time.Second)
		s.pass(34 * time.Second)
		s.ends(control.Passed, "")
		if s.fault != nil || !s.m.current.replaceable() {
			t.Error("the fault is still in")
		}
	})
}

func TestFault_ThatTheEngineRefusesRefusesTheDrill(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.refuse = control.Errorf(control.Invalid, "no such fault") }, func(s *stage) {
		s.kill("a", 0)
		s.ends(control.Refused, "the fault could not be injected: no such fault")
		if n := len(s.texts("fault")); n != 0 {
			t.Errorf("%d faults were restored that were not the drill's", n)
		}
	})
}

func TestFault_ThatSomebodyReplacesEndsTheDrill(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.Log(control.Event{Kind: "fault", Vendor: "a", Who: "operator:li", Data: map[string]any{"on": true}})
		s.pass(2 * pace)
		s.ends(control.Aborted, "operator:li injected another fault")
		if s.fault != nil {
			t.Error("a fault is in")
		}
	})
}

func TestVendor_ThatIsRemovedEndsTheDrill(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.set(func() { s.vendors = s.vendors[1:] })
		s.pass(2 * pace)
		s.ends(control.Aborted, "vendor a is no vendor any more")
	})
}

func TestLimit_IsTheSLOOrHalfAsMuchAgainAsBefore(t *testing.T) {
	for name, c := range map[string]struct {
		count int
		p99   float64
		want  float64
	}{
		"no baseline": {0, 0, 2000}, "a fast one": {1000, 700, 2000}, "a slow one": {1000, 1800, 2700}, "too few": {99, 1800, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{scenario: &Scenario{}, before: &control.Snapshot{}, terms: terms{sloP99: 2 * time.Second}}
			if r.before.Service.Count = c.count; c.count > 0 {
				r.before.Service.P99ms = &c.p99
			}
			if got := r.limit(); got != c.want {
				t.Errorf("limit %g ms, want %g", got, c.want)
			}
		})
	}
}

func TestReconfigure_HoldsForTheNextDrill(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		next := settings()
		next.Drill.Target, next.Routing.SLOP99, next.Console.Environment, next.Digest = time.Minute, time.Second, "PROD", "d2"
		s.m.Reconfigure(next)
		s.pass(15 * time.Second)
		if d := s.m.State(); d.TargetS != 420 || d.Verify.LimitMs != 2000 {
			t.Errorf("the drill that runs: %+v", d)
		}
		s.restore("a")
		s.pass(30 * time.Second)
		id := s.kill("b", 0)
		s.pass(15 * time.Second)
		if r := s.record(id); r.TargetS != 60 || r.Environment != "PROD" || r.ConfigDigest != "d2" || r.Previous != nil {
			t.Errorf("the next one: %+v", r)
		}
	})
}

func TestSecondDrill(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		first := s.kill("a", 0)
		start := &control.StartDrill{Scenario: "kill", Vendor: "b"}
		_, err := s.m.Do(s.Context(), start)
		if kindOf(err) != control.Conflict || !strings.Contains(err.Error(), first) {
			t.Fatalf("while one runs: %v", err)
		}
		if _, err := s.m.Do(s.Context(), &control.DismissDrill{}); kindOf(err) != control.Conflict {
			t.Errorf("dismissed while it runs: %v", err)
		}
		s.pass(15 * time.Second)
		if _, err = s.m.Do(s.Context(), start); kindOf(err) != control.Conflict {
			t.Errorf("while its fault is in: %v", err)
		}
		s.restore("a")
		s.set(func() { s.by("a").State, s.by("a").Weight = control.Recovering, 30 })
		if _, err = s.m.Do(s.Context(), start); err != nil {
			t.Fatalf("while only its failback is waited for: %v", err)
		}
		s.pass(2 * pace)
		if d := s.m.State(); d.ID == first || d.Vendor != "b" {
			t.Errorf("shown is %+v", d)
		}
		r := s.record(first)
		if b := r.Hypothesis[len(r.Hypothesis)-1]; r.Ended == nil || r.Verdict != control.Passed || b.OK || !strings.HasPrefix(b.Got, "not seen: another drill began: 2") {
			t.Errorf("the first one's record: %+v", r)
		}
	})
}

func TestDismiss_TakesAnEndedDrillOffTheScreen(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(15 * time.Second)
		s.restore("a")
		if _, err := s.m.Do(s.Context(), &control.DismissDrill{}); err != nil {
			t.Fatal(err)
		}
		if d := s.m.State(); d != nil {
			t.Errorf("shown is %+v", d)
		}
		if _, err := s.m.Do(s.Context(), &control.DismissDrill{}); err != nil {
			t.Errorf("a second time: %v", err)
		}
	})
}

func TestDismiss_NeverEndsOrShortensADrill(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		id := s.kill("a", 0)
		s.pass(15 * time.Second)
		s.restore("a")
		if _, err := s.m.Do(s.Context(), &control.DismissDrill{}); err != nil {
			t.Fatal(err)
		}
		s.pass(5 * time.Second)
		if r := s.record(id); s.m.State() != nil || r.Ended != nil {
			t.Fatalf("shown %v, ended %v", s.m.State(), r.Ended)
		}
		s.pass(20 * time.Second)
		if r := s.record(id); r.Ended == nil || r.Verdict != control.Passed || r.Failback != control.Passed || r.FailbackS == nil {
			t.Errorf("ended %v, %s, failback %q: %+v", r.Ended, r.Verdict, r.Failback, r.Hypothesis)
		}
		s.kill("b", 0)
		if d := s.m.State(); d == nil || d.Vendor != "b" {
			t.Errorf("the next one is not shown: %+v", d)
		}
	})
}

func TestFailback_IsJudgedApart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		wait   time.Duration
		ok     bool
		got    string
	}{
		"in its band":         {func(*world) {}, 25 * time.Second, true, "0:2"},
		"too late":            {func(w *world) { w.back = time.Hour }, 302 * time.Second, false, "not within it: it is ejected"},
		"drained by a person": {func(w *world) { w.back = time.Hour; w.by("a").State = control.Drained }, 302 * time.Second, false, "not within it: it is drained"},
		"at its pin": {func(w *world) {
			w.pin = &control.Pin{Weights: map[string]float64{"a": 40, "b": 60}}
			w.by("a").base = 40
		}, 25 * time.Second, true, "0:2"},
		"not at its pin":        {func(w *world) { w.pin = &control.Pin{Weights: map[string]float64{"a": 40, "b": 60}} }, 302 * time.Second, false, "not within it: its weight is 75, not the 40 that it is pinned to"},
		"weight 0 by its band":  {func(w *world) { w.pin = &control.Pin{Weights: map[string]float64{"b": 100}}; w.by("a").base = 0 }, 25 * time.Second, true, "0:2"},
		"well but under weight": {func(w *world) { w.by("a").base = 60 }, 302 * time.Second, false, "not within it: its weight is 60, not in its band of 70 to 80"},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, nil, func(s *stage) {
				id := s.kill("a", 0)
				s.pass(15 * time.Second)
				s.set(func() { c.change(s.world) })
				s.restore("a")
				s.pass(c.wait)
				s.ends(control.Passed, "")
				r := s.record(id)
				b := r.Hypothesis[len(r.Hypothesis)-1]
				if !strings.HasPrefix(b.Name, "failback") || b.OK != c.ok || !strings.HasPrefix(b.Got, c.got) || r.Ended == nil {
					t.Errorf("ended %v, failback %+v", r.Ended, b)
				}
			})
		})
	}
}

func TestVerify_ShowsItsProgress(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		s.kill("a", 0)
		s.pass(3 * time.Second)
		if d := s.m.State(); d.Verify != nil {
			t.Errorf("before the shift: %+v", d.Verify)
		}
		s.pass(5100 * time.Millisecond)
		v := s.m.State().Verify
		if v == nil || v.HeldS != 5 || v.HoldS != 10 || v.N < 245 || v.N > 255 || v.MinN != 100 || *v.Success != 1 || *v.P99ms < 295 || *v.P99ms > 305 || v.LimitMs != 2000 {
			t.Errorf("at 8 s: %+v", v)
		}
	})
}

func TestShift_ManyAttemptsElsewhereAllowOneInAHundred(t *testing.T) {
	// 400 requests/s of which one a second still goes there: 0.25 %.
	rehearse(t, func(w *world, _ *Options) { w.rps = 400 }, func(s *stage) {
		s.kill("a", 0)
		s.pass(3300 * time.Millisecond)
		s.set(func() { s.weigh("a", 0.25) })
		s.pass(12 * time.Second)
		s.ends(control.Passed, "")
		if at := s.at(control.PhaseShifted); at < 3.2 || at > 3.5 {
			t.Errorf("shifted at %g", at)
		}
	})
}
