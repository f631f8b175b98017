package limit

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// together takes so many at once.
type together struct {
	most int
	slow float64 // times the latency
	ends []float64
}

func (v *together) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	kept := v.ends[:0]
	for _, e := range v.ends {
		if e > t {
			kept = append(kept, e)
		}
	}
	v.ends = kept
	if len(kept) >= v.most {
		return t + 0.02, true, 0
	}
	ends := t + v.slow*latency(r)
	v.ends = append(v.ends, ends)
	return ends, false, 0
}

// A vendor that refuses above so many in flight, and says nothing of it, is told
// from one that counts over time, and the other way round.
func TestConcurrency_IsToldFromRates(t *testing.T) {
	for _, c := range []struct {
		name string
		up   func() upstream
		rate float64
		want string
		most float64 // % off
	}{
		{"20 at once, answers of 2 s", func() upstream { return &together{most: 20, slow: 8} }, 25, "in flight", 10},
		{"40 at once, answers of 1 s", func() upstream { return &together{most: 40, slow: 4} }, 100, "in flight", 10},
		{"20 a second", func() upstream { return vendorOf("bucket", 20) }, 50, "1/s", 5},
		{"20 in any second", func() upstream { return vendorOf("sliding second", 20) }, 25, "1/s", 5},
		{"50 in any second", func() upstream { return vendorOf("sliding second", 50) }, 200, "1/s", 5},
	} {
		for seed := range uint64(4) {
			s := run{l: New(0, 1), offered: steady(c.rate), total: c.rate, up: c.up(), seed: seed, measure: 20}
			s.do(60)
			f, ok := s.l.Finding(sec(60))
			want := 20.0
			if c.name[0] != '2' {
				want = 10 * float64(c.name[0]-'0')
			}
			if !ok || f.Unit != c.want || math.Abs(f.Value-want) > c.most/100*want {
				t.Errorf("%s, seed %d: %+v", c.name, seed, f)
			}
			if part := float64(s.refused) / float64(s.refused+s.accepted); part > 0.03 {
				t.Errorf("%s, seed %d: %.1f %% refused after 20 s", c.name, seed, 100*part)
			}
		}
	}
}

// minutes takes so many tokens a minute, and refuses in words that name them.
type minutes struct{ bucketed }

func (v *minutes) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	return v.bucketed.serve(t, r)
}

func TestTokens_AreLearnedFromRefusalsThatNameThem(t *testing.T) {
	const each, perMinute = 400, 240_000 // 10 requests a second
	up := &minutes{bucketed{rate: perMinute / each / 60, burst: perMinute / each, tokens: 40}}
	s := run{l: New(0, 1), offered: steady(30), total: 30, up: up, seed: 2, class: Tokens, tokens: each, measure: 90}
	s.do(240)
	f, ok := s.l.Finding(sec(240))
	if !ok || f.Type != Tokens || f.Unit != "tokens/min" || math.Abs(f.Value/perMinute-1) > 0.1 {
		t.Fatalf("%+v (%s)", f, s.l.Evidence())
	}
	t.Logf("%s; %s; %d refused of %d after 90 s", f.Text(sec(240)), s.l.Evidence(), s.refused, s.refused+s.accepted)
	if part := float64(s.refused) / float64(s.refused+s.accepted); part > 0.03 {
		t.Errorf("%.1f %% refused", 100*part)
	}
	// Answers that become twice as long leave half as many requests.
	before, _ := s.l.Allowed()
	for i := range 400 {
		at := sec(241 + float64(i)/5)
		if s.l.Take(at) {
			s.l.Ended(at.Add(time.Second), at, Ending{Answered: true, Tokens: 2 * each})
		}
	}
	s.l.Tick(sec(330), Offer{Total: 30})
	if after, _ := s.l.Allowed(); after > 0.65*before {
		t.Errorf("%.1f/s allowed of answers twice as long, before %.1f/s", after, before)
	}
}

func TestScope_IsTheAccountWhenASecondKeyIsRefusedToo(t *testing.T) {
	for _, c := range []struct {
		name    string
		keys    int
		between int // answered with the second key before it is refused too
		want    string
	}{
		{"one key", 1, 0, "unknown"},
		{"two keys, both at once", 2, 0, "account"},
		{"two keys, each for itself", 2, 9, "key"},
	} {
		l := New(0, c.keys)
		at := 0.0
		send := func(e Ending) {
			begun := sec(at)
			l.sends.add(begun)
			l.Ended(begun.Add(20*time.Millisecond), begun, e)
			at += 0.05
		}
		for range 12 {
			if c.keys > 1 {
				send(Ending{Refused: true, Key: true})
			}
			for range c.between {
				send(Ending{Answered: true})
			}
			send(Ending{Refused: true})
			at += 0.2
		}
		if got := l.scope.word(c.keys); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestFinding_SaysItInALine(t *testing.T) {
	now := sec(0)
	for _, c := range []struct {
		f    Finding
		want string
	}{
		{Finding{Scope: "account", Value: 20.2, Unit: "1/s", At: now.Add(-3 * time.Minute), Refusals: 41}, "~20/s per account, learned 3 min ago from 41 refusals"},
		{Finding{Scope: "unknown", Value: 4.96, Unit: "1/s", At: now.Add(-2 * time.Second), Queueing: true}, "~5.0/s per key or account, learned 2 s ago from queueing"},
		{Finding{Scope: "key", Value: 240_000, Unit: "tokens/min", At: now.Add(-90 * time.Minute), Refusals: 5}, "~240k tokens/min per key, learned 1.5 h ago from 5 refusals"},
		{Finding{Scope: "account", Value: 32, Unit: "in flight", At: now, Refusals: 9}, "~32 in flight per account, learned 0 s ago from 9 refusals"},
	} {
		if got := c.f.Text(now); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestRelease_SaysWhenItIsTestedAndForgotten(t *testing.T) {
	l := learnedAt(20)
	l.learned.cost = 0
	l.cool = cooldown{}
	if got, want := l.Release(sec(19)), "a test of its learned limit in 20s (forgotten at 16:00 UTC)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := l.Release(sec(60)), "use of all that its learned limit lets through: tested upward by 0.2 %/s (forgotten at 16:00 UTC)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := New(0, 1).Release(sec(0)); got != "" {
		t.Errorf("%q without a limit", got)
	}
}

func TestPressed_MakesALearnedLimitGiveWay(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		l := learnedAt(20)
		l.learned.cost = 0
		for i := range 18 {
			rps, _ := l.Allowed()
			if pressed {
				l.Pressed(sec(float64(10 + i)))
			}
			l.Tick(sec(float64(10+i)), Offer{Sent5: int(rps*5 + 0.5), Total: 20})
		}
		if rps, _ := l.Allowed(); (rps > 24) != pressed {
			t.Errorf("pressed %v: %.1f/s are let through after 18 s", pressed, rps)
		}
	}
}

func TestSaved_KeepsTheEvidence(t *testing.T) {
	for _, f := range []found{
		{rps: 20, level: 1, at: t0, mass: 200, refusals: 41, scope: "account", evidence: "e"},
		{rps: 8, level: 1, at: t0, mass: 80, queued: true, scope: "unknown", evidence: "e"},
		{rps: 10, level: 1, at: t0, mass: 80, class: Tokens, tokens: 4000, refusals: 5, scope: "key", evidence: "e"},
		{rps: 10, level: 1, at: t0, mass: 80, class: Concurrency, flight: 32, refusals: 5, scope: "account", evidence: "e"},
	} {
		a, b := New(0, 2), New(0, 2)
		a.learned = f
		s, _ := a.Save()
		raw, err := json.Marshal(s)
		var back Saved
		if err != nil || json.Unmarshal(raw, &back) != nil {
			t.Fatal(err)
		}
		b.Resume(t0.Add(time.Minute), back)
		x, _ := a.Finding(t0)
		y, ok := b.Finding(t0)
		if !ok || x != y {
			t.Errorf("%+v came back as %+v", x, y)
		}
	}
}
