package weights

import (
	"strings"
	"testing"
	"time"
)

func TestRelease_SaysWhatWouldBringAWeightBack(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(l *Law, now *time.Time) // to the first of two
		want string
	}{
		{"well", func(l *Law, now *time.Time) { run(l, now, 60, two(), nil) }, ""},
		{"slower, inside the SLO", func(l *Law, now *time.Time) {
			ms := two()
			ms[0].slow(0.95)
			ms[1].slow(0.3)
			ms[1].Base, ms[0].Base = 0.25, 0.75
			ms[0].Known10, ms[0].Faults10 = 500, 0
			ms[0].Limited = true // so that bands give way
			run(l, now, 120, ms, nil)
		}, "a P90 within 0.34s (1.15 times the best's; now 0.95s)"},
		{"beyond the SLO", func(l *Law, now *time.Time) {
			ms := two()
			ms[0].slow(1.6)
			run(l, now, 200, ms, nil)
		}, "a first-token P90 within 1.00s for 1m0s and a P90 within 0.57s (1.15 times the best's; now 1.60s)"},
		{"errors", func(l *Law, now *time.Time) {
			ms := two()
			ms[0].fail(0.1)
			run(l, now, 120, ms, nil)
		}, "errors as low as the best's 0.0% (now at least 9.1%)"},
		{"pinned", func(l *Law, now *time.Time) {
			run(l, now, 10, two(), &Pin{Weights: map[string]float64{"lanyun": 0.1, "bailian": 0.9}})
		}, ""},
		{"down", func(l *Law, now *time.Time) {
			ms := two()
			ms[0].State = Down
			run(l, now, 10, ms, nil)
		}, ""},
	} {
		l, now := New(Default()), t0
		run(l, &now, 30, two(), nil)
		c.make(l, &now)
		if got := l.Release("lanyun"); got != c.want {
			t.Errorf("%s: %q, want %q (weight %.2f)", c.name, got, c.want, l.vendors[0].w)
		}
		if got := l.Release("nobody"); got != "" {
			t.Errorf("%s: %q of an unknown vendor", c.name, got)
		}
	}
}

// Every reason names what was measured, over what, and against what.
func TestReasons_StateFiguresWindowsAndRule(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(ms []Measure)
		pin  *Pin
		n    int
		want []string // in the reason of the first
	}{
		{"slow", func(ms []Measure) { ms[0].slow(0.95); ms[0].Limited = true }, nil, 10, []string{"P90 0.95s", "against 0.50s", "10s window", "n=500"}},
		{"errors", func(ms []Measure) { ms[0].fail(0.1) }, nil, 3, []string{"errors at least 9.1%", "against 0.0%", "60s window", "n=3000"}},
		{"limit", func(ms []Measure) { ms[0].Cap = 0.3 }, nil, 3, []string{"limited", "30.0% of all traffic"}},
		{"SLO", func(ms []Measure) { ms[0].slow(1.6) }, nil, 75, []string{"first token P90 1.60s", "beyond 1.00s", "1m0s"}},
		{"ramp", func(ms []Measure) { ms[0].State, ms[0].RampFor, ms[0].RampLen = Ramp, 12*time.Second, time.Minute }, nil, 1, []string{"recovering, 12s of 1m0s"}},
		{"pin", func([]Measure) {}, &Pin{Weights: map[string]float64{"lanyun": 1}}, 1, []string{"pinned"}},
		{"panic", func(ms []Measure) { ms[0].State, ms[1].State = Down, Down }, nil, 1, []string{"panic", "every vendor is down", "configured weights"}},
	} {
		l, now := New(Default()), t0
		run(l, &now, 30, two(), nil)
		ms := two()
		c.set(ms)
		got := run(l, &now, c.n, ms, c.pin).Reasons[0]
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", c.name, got, want)
			}
		}
	}
}

func TestReasons_AHoldSaysHowLong(t *testing.T) {
	l, now := New(Default()), t0
	run(l, &now, 30, two(), nil)
	ms := two()
	ms[0].slow(0.95)
	ms[0].Limited = true
	run(l, &now, 20, ms, nil)
	got := run(l, &now, 6, two(), nil).Reasons[0]
	if !strings.HasPrefix(got, "held: moved down ") || !strings.Contains(got, "may turn in ") {
		t.Errorf("%q", got)
	}
}

// A reason that is another vendor's calls it what people do, as the rest of a console does.
func TestReasons_CallAnotherVendorByItsLabel(t *testing.T) {
	for label, want := range map[string]string{"": "lanyun: ejected", "蓝耘": "蓝耘: ejected"} {
		l, now := New(Default()), t0
		run(l, &now, 30, two(), nil)
		ms := two()
		ms[0].State, ms[0].Label = Down, label
		if got := run(l, &now, 1, ms, nil).Reasons[1]; got != want {
			t.Errorf("labelled %q: %q, want %q", label, got, want)
		}
	}
}
