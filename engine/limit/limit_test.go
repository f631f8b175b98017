package limit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestRefused_CoolsDownAsLongAsItsClassNeeds(t *testing.T) {
	const s = time.Second
	type refusal struct {
		at, retryAfter time.Duration
		class          Class
	}
	for _, c := range []struct {
		name  string
		in    []refusal
		until time.Duration
	}{
		{"requests, no header", []refusal{{0, 0, RPS}}, s},
		{"requests, header", []refusal{{0, 2 * s, RPS}}, 2 * s},
		{"header in milliseconds", []refusal{{0, 250 * time.Millisecond, RPS}}, 250 * time.Millisecond},
		{"absurd header", []refusal{{0, 999 * time.Hour, RPS}}, 60 * s},
		{"negative header", []refusal{{0, -s, RPS}}, s},
		{"a longer one extends", []refusal{{0, 2 * s, RPS}, {s, 10 * s, RPS}}, 11 * s},
		{"a shorter one does not shorten", []refusal{{0, 10 * s, RPS}, {s, s, RPS}}, 10 * s},
		{"concurrency", []refusal{{0, 0, Concurrency}}, s},
		{"slope: only a breath", []refusal{{0, 0, Slope}}, s / 2},
		{"slope, again and again: no longer", []refusal{{0, 0, Slope}, {s, 0, Slope}, {2 * s, 0, Slope}}, 2*s + s/2},
		{"slope, header", []refusal{{0, 4 * s, Slope}}, 4 * s},
		{"tokens", []refusal{{0, 0, Tokens}}, 5 * s},
		{"tokens for ever", []refusal{{0, 0, Tokens}, {6 * s, 0, Tokens}, {17 * s, 0, Tokens}, {38 * s, 0, Tokens}, {79 * s, 0, Tokens}, {140 * s, 0, Tokens}}, 200 * s},
		{"a class that does not exist", []refusal{{0, 0, Class(77)}}, s},
	} {
		l := New(0, 1)
		for _, r := range c.in {
			l.Ended(t0.Add(r.at), time.Time{}, Ending{Refused: true, RetryAfter: r.retryAfter, Class: r.class})
		}
		last := t0.Add(c.in[len(c.in)-1].at)
		if got := l.Until(last).Sub(t0); got != c.until {
			t.Errorf("%s: until %v, want %v", c.name, got, c.until)
		}
		end := t0.Add(c.until)
		if l.Take(end.Add(-time.Millisecond)) || !l.Take(end) {
			t.Errorf("%s: admission does not follow the cooldown", c.name)
		}
	}
}

func TestSingleRefusal_AtLowTrafficCostsASecondAndNoLimit(t *testing.T) {
	l := New(0, 1)
	for i := range 40 {
		now := sec(float64(i) / 2)
		l.Take(now)
		if i == 20 {
			l.Ended(now, time.Time{}, Ending{Refused: true, RetryAfter: 0, Class: RPS})
		}
		o := Offer{N10: 20, Sent5: 10, SentBefore5: 10, Done5: 10, Accepted: 2, Total: 4, Latency: 300 * time.Millisecond}
		if i >= 20 {
			o.Refused10, o.Accepted = 1, 1.9
		}
		l.Tick(now, o)
	}
	if rps, ok := l.Allowed(); ok || l.Cap(4) != 1 || l.Limited(sec(22)) {
		t.Errorf("allowed %v/s (%s)", rps, l.Evidence())
	}
}

func TestRefusals_TeachOnlyWithEvidence(t *testing.T) {
	for _, c := range []struct {
		name         string
		n, refused   int
		seconds      int // over which the refusals are spread
		learned, low float64
	}{
		{"6 of 250 in four seconds", 250, 6, 4, 24.4, 0},
		{"6 of 250 in one second", 250, 6, 1, 0, 0},
		{"2 of 25", 25, 2, 2, 0, 0},
		{"5 of 19", 19, 5, 5, 0, 0},
		{"9 of 1000", 1000, 9, 3, 0, 0},
		{"all of 40", 40, 40, 4, 1, 0},
	} {
		l := New(0, 1)
		for i := range c.refused {
			l.Ended(sec(float64(i*c.seconds)/float64(c.refused)), time.Time{}, Ending{Refused: true, RetryAfter: 0, Class: RPS})
		}
		l.Tick(sec(9), Offer{N10: c.n, Refused10: c.refused, Accepted: float64(c.n-c.refused) / 10, Total: 100})
		got, ok := l.Learned()
		if math.Abs(got-c.learned) > 1e-9 || ok != (c.learned > 0) || ok != (l.Evidence() != "") {
			t.Errorf("%s: learned %v (%q), want %v", c.name, got, l.Evidence(), c.learned)
		}
	}
}

func TestLearned_NamesItsEvidence(t *testing.T) {
	l := learnedAt(20)
	if got, want := l.Evidence(), "429 on 50 of 250 in 10 s, 20.0/s accepted"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// learnedAt is a limiter that has just learned a limit, at 9 s.
func learnedAt(rps float64) *Limiter {
	l := New(0, 1)
	for i := range 6 {
		l.Ended(sec(float64(i)), time.Time{}, Ending{Refused: true, RetryAfter: 0, Class: RPS})
	}
	l.Tick(sec(9), Offer{N10: 250, Refused10: 50, Accepted: rps, Total: 200})
	return l
}

func TestAllowed_IsTheLowerOfKnownAndLearnedTimes095(t *testing.T) {
	l := learnedAt(20)
	if rps, _ := l.Allowed(); math.Abs(rps-19) > 1e-9 {
		t.Errorf("learned 20: allowed %v", rps)
	}
	if got := l.Cap(190); math.Abs(got-0.1) > 1e-9 {
		t.Errorf("cap %v of 190/s", got)
	}
	if got := l.Cap(100000); got != Floor {
		t.Errorf("cap %v, want the floor", got)
	}
	for _, total := range []float64{0, -1, math.NaN(), 5} {
		if got := l.Cap(total); got != 1 {
			t.Errorf("cap %v of a total of %v", got, total)
		}
	}
	l.Configure(10, 2)
	if rps, ok := l.Learned(); !ok || rps != 20 {
		t.Error("a reload loses what was learned")
	}
	if l.Set(10); l.known != 20 {
		t.Errorf("10 for each of 2 keys set by hand: %v", l.known)
	}
	if _, ok := l.Learned(); ok {
		t.Error("a limit set by hand leaves the learned one")
	}
	l = New(10, 3)
	if known, ok := l.Known(); known != 30 || !ok {
		t.Errorf("10 for each of 3 keys: %v", known)
	}
	if rps, _ := l.Allowed(); math.Abs(rps-28.5) > 1e-9 {
		t.Errorf("known 30: allowed %v", rps)
	}
	for _, bad := range []float64{0, -5, math.NaN(), math.Inf(1)} {
		if _, ok := New(bad, 0).Allowed(); ok {
			t.Errorf("a known limit of %v limits", bad)
		}
	}
}

func TestTest_OnlyWhileItIsUsedAndNoQueueShows(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Offer
		want float64 // let through after 40 s, of 19
	}{
		{"unused", Offer{Sent5: 10, Total: 200}, 19},
		{"used", Offer{Sent5: 95, Total: 200}, 21.2},
		{"used, slow", Offer{Sent5: 95, Total: 200, Latency: time.Second, Base: 300 * time.Millisecond}, 19},
	} {
		l := learnedAt(20)
		l.learned.cost = 0
		for i := range 75 {
			// What is let through grows, and with it what is sent.
			o, at := c.o, sec(float64(10+i))
			rps, _ := l.Allowed()
			if o.Sent5 > 10 {
				o.Sent5 = int(rps * 5)
			}
			if i < 29 && rps != 19 {
				t.Fatalf("%s: tested %d s after it was learned", c.name, i+1)
			}
			l.Tick(at, o)
		}
		if got, _ := l.Allowed(); math.Abs(got-c.want) > 0.2 {
			t.Errorf("%s: lets %.2f through, want %.2f", c.name, got, c.want)
		}
		if got, _ := l.Learned(); got != 20 {
			t.Errorf("%s: learned %.2f without proof", c.name, got)
		}
	}
}

func TestLearned_IsForgottenWhenFarAboveAllTrafficForLongOrOld(t *testing.T) {
	l := learnedAt(20)
	for i := range 299 {
		l.Tick(sec(float64(10+i)), Offer{Total: 5})
	}
	if _, ok := l.Learned(); !ok {
		t.Fatal("forgotten in a lull of 299 s")
	}
	l.Tick(sec(309), Offer{Total: 50})
	l.Tick(sec(310), Offer{Total: 5})
	l.Tick(sec(609), Offer{Total: 5})
	if _, ok := l.Learned(); !ok {
		t.Fatal("forgotten although it was needed meanwhile")
	}
	l.Tick(sec(611), Offer{Total: 5})
	if _, ok := l.Learned(); ok {
		t.Error("still limited after 300 s at a quarter of the limit")
	}

	l = learnedAt(20)
	l.Tick(sec(9).Add(6*time.Hour), Offer{Total: 200})
	if _, ok := l.Learned(); ok {
		t.Error("still believed after 6 hours")
	}

	l = learnedAt(20)
	l.Ended(sec(9), time.Time{}, Ending{Refused: true, RetryAfter: 30 * time.Second, Class: RPS})
	l.Forget()
	if !l.Take(sec(9)) || l.Limited(sec(9)) || l.Evidence() != "" {
		t.Error("something is left after Forget")
	}
}

func TestResume_TakesASavedLimitBackUnlessOld(t *testing.T) {
	saved, ok := learnedAt(20).Save()
	if !ok {
		t.Fatal("nothing to save")
	}
	for _, c := range []struct {
		name  string
		s     Saved
		after time.Duration
		ok    bool
	}{
		{"a minute later", saved, time.Minute, true},
		{"6 hours later", saved, 6 * time.Hour, false},
		{"from the future", saved, -time.Hour, false},
		{"no rate", Saved{RPS: math.NaN(), At: saved.At}, time.Minute, false},
		{"infinite", Saved{RPS: math.Inf(1), At: saved.At}, time.Minute, false},
	} {
		l := New(0, 1)
		l.Resume(saved.At.Add(c.after), c.s)
		if _, ok := l.Learned(); ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
	}
	if _, ok := New(0, 1).Save(); ok {
		t.Error("a limiter that learned nothing has something to save")
	}
}

// In no second is more let through than the limit itself, and over ten seconds
// about what is allowed; Ready and Until agree with Take.
func TestTake_LetsThroughWhatIsAllowed(t *testing.T) {
	for _, rps := range []float64{0.5, 1, 5, 20, 100, 1000} {
		l := New(rps, 1)
		r := rand.New(rand.NewPCG(1, uint64(rps)))
		perSecond := map[int]float64{}
		total, at := 0.0, 0.0
		for at < 40 {
			at += r.ExpFloat64() / (4 * rps)
			now := sec(at)
			ready, until := l.Ready(now), l.Until(now)
			ok := l.Take(now)
			if ok != ready || ok != until.Equal(now) {
				t.Fatalf("%v/s: taken %v, ready %v, until %v later", rps, ok, ready, until.Sub(now))
			}
			if !ok && !l.Ready(until) {
				t.Fatalf("%v/s: not ready at the moment that Until named", rps)
			}
			if ok {
				perSecond[int(at)]++
				total++
			}
		}
		for s, n := range perSecond {
			if n > max(rps, 2)+1.5 {
				t.Errorf("%v/s: %v in second %d", rps, n, s)
			}
		}
		if allowed := rps * margin * 40; total > allowed+burst(rps)+1 || total < 0.75*allowed {
			t.Errorf("%v/s: %v in 40 s, allowed %v", rps, total, allowed)
		}
	}
}

func TestLimited_SaysWhetherLessIsTakenThanOffered(t *testing.T) {
	l := New(1, 1)
	if l.Limited(t0) {
		t.Error("limited before anything came")
	}
	l.Take(t0)
	l.Take(t0)
	if !l.Limited(sec(1)) || l.Limited(sec(11)) {
		t.Error("limited for 10 s after something was turned away")
	}
	if l = learnedAt(20); !l.Limited(sec(60)) {
		t.Error("not limited under a learned limit")
	}
}

func TestLimiter_SurvivesAnyInput(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-300, 1e300, 20}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		l, now := New(bad[r.IntN(len(bad))], r.IntN(4)-1), t0
		pick := func() float64 { return bad[r.IntN(len(bad))] }
		for range 300 {
			now = now.Add(time.Duration(r.IntN(3000)-200) * time.Millisecond)
			if r.IntN(60) == 0 {
				now = now.Add(time.Duration(r.IntN(20000)-10000) * time.Second)
			}
			switch r.IntN(4) {
			case 0:
				l.Ended(now, time.Time{}, Ending{Refused: true, RetryAfter: time.Duration(r.Int64() - math.MaxInt64/2), Class: Class(r.IntN(6))})
			case 1:
				l.Tick(now, Offer{
					Sent5: r.IntN(200) - 20, SentBefore5: r.IntN(200) - 20, Done5: r.IntN(200) - 20, Faults5: r.IntN(9),
					N10: r.IntN(400) - 40, Refused10: r.IntN(100) - 10, Accepted: pick(), Total: pick(),
					Latency: time.Duration(r.IntN(9000)-500) * time.Millisecond,
				})
			default:
				l.Take(now)
			}
			if c := l.Cap(pick()); !(c >= Floor && c <= 1) {
				t.Fatalf("seed %d: cap %v", seed, c)
			}
			if rps, ok := l.Allowed(); ok && !(rps > 0) {
				t.Fatalf("seed %d: allowed %v", seed, rps)
			}
			if u := l.Until(now); u.Before(now) {
				t.Fatalf("seed %d: Until lies in the past", seed)
			}
		}
	}
}

func TestQueue_ARefutedLimitGivesWayToWhatWasKnown(t *testing.T) {
	l := learnedAt(20)
	at := 20.0
	slowOffer := Offer{Sent5: 100, SentBefore5: 100, Done5: 80, Total: 200, Latency: 2 * time.Second, Base: 300 * time.Millisecond}
	for ; !strings.HasPrefix(l.Evidence(), "queueing") && at < 60; at++ {
		l.Tick(sec(at), slowOffer)
	}
	lowered, _ := l.Learned()
	if lowered >= 20 {
		t.Fatalf("learned %v by queueing", lowered)
	}
	if rps, _ := l.Allowed(); math.Abs(rps-lowered*drainTo) > 1e-9 {
		t.Errorf("while the queue drains %v is allowed of %v", rps, lowered)
	}
	for end := at + 31; at < end; at++ {
		l.Tick(sec(at), slowOffer)
	}
	if got, _ := l.Learned(); got != 20 {
		t.Errorf("held back without effect: limit %v, want 20 again", got)
	}
}

func TestTake_AllocatesNothing(t *testing.T) {
	l, now := New(20, 1), t0
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(10 * time.Millisecond)
		if l.Ready(now) && l.Take(now) {
			l.Ended(now, time.Time{}, Ending{Refused: true, RetryAfter: 5 * time.Millisecond, Class: RPS})
		}
		l.Until(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLimiter_Take(b *testing.B) {
	b.ReportAllocs()
	l, now := New(1000, 1), t0
	for b.Loop() {
		now = now.Add(time.Millisecond)
		l.Take(now)
	}
}

func TestQueue_WhereAnswersFailNothingIsLearned(t *testing.T) {
	o := Offer{Sent5: 100, SentBefore5: 100, Done5: 80, Total: 200, Latency: time.Second, Base: 300 * time.Millisecond}
	for _, c := range []struct {
		name    string
		change  func(o *Offer)
		learned bool
	}{
		{"all signs", func(*Offer) {}, true},
		{"a fifth fails", func(o *Offer) { o.Faults5 = 16 }, false},
		{"offered ever more", func(o *Offer) { o.SentBefore5 = 70 }, false},
		{"hardly anything comes back", func(o *Offer) { o.Done5 = 30 }, false},
		{"all comes back", func(o *Offer) { o.Done5 = 96 }, false},
		{"twice as slow", func(o *Offer) { o.Latency = 600 * time.Millisecond }, false},
		{"too few", func(o *Offer) { o.Sent5, o.SentBefore5, o.Done5 = 19, 19, 15 }, false},
		{"latency unknown", func(o *Offer) { o.Latency = 0 }, false},
	} {
		l, o := New(0, 1), o
		c.change(&o)
		for i := range 12 {
			l.Tick(sec(float64(i)), o)
		}
		if got, ok := l.Learned(); ok != c.learned {
			t.Errorf("%s: learned %v", c.name, got)
		}
	}
}
