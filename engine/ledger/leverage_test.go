package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// aDay is a day of traffic: 80 calls an hour at a, 20 at b, each 1000 tokens in and
// 100 out, and at a one of 1000/100 an hour that failed and was billed.
func aDay(tb testing.TB) ([]Attempt, time.Time, time.Time) {
	tb.Helper()
	begin := at(tb, "2026-12-01T00:00:00+08:00")
	var list []Attempt
	for h := range 24 {
		for k := range 100 {
			vendor := "a"
			if k%5 == 4 {
				vendor = "b"
			}
			a := call(begin.Add(time.Duration(h)*time.Hour+time.Duration(k)*36*time.Second), vendor, 1000, 0, 100)
			a.FirstToken = time.Duration(200+10*k) * time.Millisecond
			list = append(list, a)
		}
		failed := call(begin.Add(time.Duration(h)*time.Hour), "a", 1000, 0, 100)
		failed.Outcome, failed.N = "vendor_fault", 2
		list = append(list, failed)
	}
	return list, begin, begin.Add(24 * time.Hour)
}

func leverage(tb testing.TB, terms control.Terms) *control.Leverage {
	tb.Helper()
	b := NewBook(two(tb))
	list, begin, end := aDay(tb)
	acc := rolled(b, list, nil)
	acc.Since, acc.Until = begin, end
	return b.Leverage(acc, Facts{
		Vendors: []string{"a", "b"}, Labels: map[string]string{"a": "蓝耘"}, Terms: terms, Allowed: map[string]float64{"a": 1, "b": 0.02},
		Proofs: []Proof{
			{ID: "old", Vendor: "a", At: end.Add(-36 * 24 * time.Hour), Share: 90, Rate: 9, Text: "too long ago"},
			{ID: "d1", Vendor: "a", At: end.Add(-2 * 24 * time.Hour), Share: 60, Rate: 0.01, Text: "a was lost"},
			{ID: "d2", Vendor: "b", At: end.Add(-24 * time.Hour), Share: 25, Rate: 5, Text: "b was lost"},
		},
	})
}

// By hand: a call of 1000 in and 100 out is 0.0028 at a's prices and 0.0014 at
// b's. At a 24 of 1944 were billed for nothing: x 81/80 = 0.002835. 2400 calls a
// day, 80 % at a: 2400 x (.8 x .002835 + .2 x .0014) = 6.1152.
func TestLeverage_OfADayComputedByHand(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	l := leverage(t, control.Terms{Overhead: f(1), Discount: f(0.05), Won: f(0.1), OutageCost: f(0.5), OutageMins: f(12)})
	a, b := &l.Vendors[0], &l.Vendors[1]
	const ca, cb = 0.0028 * 81 / 80, 0.0014
	near(t, "days", &l.Days, 1)
	near(t, "calls a day", &l.Volume.PerDay, 2400)
	near(t, "tokens in", l.Volume.Input, 1000)
	near(t, "a's share", a.Share, 80)
	near(t, "a's average call", a.PerCall, ca)
	near(t, "b's average call", b.PerCall, cb)
	near(t, "a's surcharge", a.Surcharge, 81.0/80)
	near(t, "what an answer of a's costs", a.PerSuccess, ca)
	now := 2400 * (.8*ca + .2*cb)
	near(t, "now", l.Now.PerDay, now)
	near(t, "all at a", l.Now.Single[0].PerDay, 2400*ca/.9*.95)
	near(t, "all at b", l.Now.Single[1].PerDay, 2400*cb/.9)
	near(t, "two against a", l.Now.Single[0].Difference, now+1-2400*ca/.9*.95)
	near(t, "a's walk-away factor", &a.WalkAway.Factor, cb/ca)
	near(t, "a's walk-away price in", a.WalkAway.PerMillionInput, 2*cb/ca)
	near(t, "a has to take off", a.WalkAway.ToKeepUp, 1-cb/ca)
	if b.WalkAway.ToKeepUp != nil || b.WalkAway.To != "a" {
		t.Errorf("b's walk-away %+v", b.WalkAway)
	}
	single := ca / .9 * .95
	saves := single - (.8*ca + .2*cb)
	near(t, "a single call", l.BreakEven.PerCall, single)
	near(t, "gain", l.BreakEven.Gain, saves/single)
	near(t, "avoided", l.BreakEven.Avoided, 0.5*12/30)
	near(t, "break-even", l.BreakEven.CallsPerDay, (1-0.2)/saves)
	near(t, "net", l.BreakEven.Net, 2400*saves-0.8)
	if !*l.BreakEven.Pays != (2400*saves < 0.8) {
		t.Errorf("pays %v", *l.BreakEven.Pays)
	}
	for i, over := range []float64{.25, .5, 1, 2, 4} {
		for k, g := range l.BreakEven.Gains {
			near(t, fmt.Sprintf("the table at %v and %v", over, g), &l.BreakEven.Table[i][k], max(0, over-.2)/(single*g))
		}
	}
	if m := l.WhatIf; len(m) != 21 || m[0].Shares["a"] != 0 || m[20].Shares["a"] != 100 {
		t.Fatalf("%d splits", len(m))
	}
	near(t, "half and half", l.WhatIf[10].PerDay, 2400*(ca+cb)/2)
	near(t, "as it is", l.WhatIf[16].PerDay, now)
	near(t, "the difference of that", l.WhatIf[16].Difference, 0)
	if l.WhatIf[16].P99ms == nil || l.WhatIf[10].P99ms != nil || len(l.WhatIf[10].Extrapolated) != 2 {
		t.Errorf("latencies: as it is %+v, half and half %+v", l.WhatIf[16], l.WhatIf[10])
	}
	if s := a.Shiftable; s == nil || s.Drill != "d1" || s.BoundBy != "room" {
		t.Fatalf("a's share is movable by %+v", a.Shiftable)
	}
	// In the busiest minute two calls came, 0.033 a second. b has 20 % of that and
	// may have 0.02: 0.0133 more, 40 points.
	near(t, "the peak", l.Volume.PeakRate, 2.0/60)
	near(t, "room at b", b.RoomRate, 0.02-.2*2/60)
	near(t, "movable", &a.Shiftable.Share, 40)
	near(t, "worth", a.Shiftable.Value, .4*2400*(ca-cb))
	if a.Shiftable.LowLoad != true || b.Shiftable.LowLoad || b.Shiftable.BoundBy != "share" || b.Shiftable.Share != 20 {
		t.Errorf("%+v, %+v", a.Shiftable, b.Shiftable)
	}
	if len(l.WhatIf[0].NoRoom) != 1 || l.WhatIf[0].NoRoom[0] != "b" || len(l.WhatIf[16].NoRoom) != 0 {
		t.Errorf("room: all at b %v, as it is %v", l.WhatIf[0].NoRoom, l.WhatIf[16].NoRoom)
	}
	if !strings.Contains(l.Headline, "蓝耘 and b together cost 6.12 CNY a day at the present 2400 calls") {
		t.Errorf("headline %q", l.Headline)
	}
}

// The rule of thumb is a million calls a day: 0.0012 a call of which two vendors
// save 8 %, against 100 a day.
func TestBreakEven_OfTheRuleOfThumbIsComputed(t *testing.T) {
	for _, c := range []struct{ overhead, perCall, gain, want float64 }{
		{100, 0.0012, 0.08, 1_041_666.67}, {50, 0.0012, 0.08, 520_833.33}, {100, 0.0012, 0.02, 4_166_666.67},
	} {
		tab := &table{calls: 20_000_000, out: &control.Leverage{}}
		b := &control.BreakEven{Overhead: &c.overhead}
		tab.pays(b, c.perCall*c.gain)
		if got := *b.CallsPerDay; got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%+v: from %v calls a day", c, got)
		}
	}
}

func TestLeverage_SaysWhatItDoesNotKnow(t *testing.T) {
	l := leverage(t, control.Terms{})
	if l.BreakEven.CallsPerDay != nil || !strings.Contains(l.BreakEven.Why, "ledger.overhead") || len(l.BreakEven.Table) == 0 {
		t.Errorf("%+v", l.BreakEven)
	}
	b := NewBook(two(t))
	empty := b.Leverage(&Account{Period: Period{Since: at(t, noon), Until: at(t, noon).Add(time.Hour)}}, Facts{Vendors: []string{"a", "b"}})
	if empty.Now.PerDay != nil || empty.Vendors[0].Share != nil || len(empty.WhatIf) != 0 || !strings.Contains(empty.Headline, "not known") {
		t.Errorf("of nothing %+v", empty)
	}
	if _, err := json.Marshal(empty); err != nil {
		t.Fatal(err)
	}
	alone := b.Leverage(&Account{}, Facts{Vendors: []string{"a"}})
	if alone.BreakEven.Why != "there is one vendor" || alone.Vendors[0].WalkAway != nil {
		t.Errorf("alone %+v", alone)
	}
}

func TestSplit_IsWhatTheDocumentSays(t *testing.T) {
	l := leverage(t, control.Terms{})
	for _, m := range l.WhatIf {
		got := l.Split(m.Shares)
		near(t, "the cost", got.PerDay, *m.PerDay)
		if len(got.NoRoom) != len(m.NoRoom) || len(got.Extrapolated) != len(m.Extrapolated) {
			t.Errorf("%+v, want %+v", got, m)
		}
	}
	if m := l.Split(map[string]float64{"a": 3, "b": 1}); m.Shares["a"] != 75 || m.P99ms == nil {
		t.Errorf("of 3 to 1 %+v", m)
	}
	if m := l.Split(nil); m.PerDay != nil {
		t.Errorf("of nothing %+v", m)
	}
}

func TestMask_HidesTheOthersNamesAndPrices(t *testing.T) {
	l := leverage(t, control.Terms{Overhead: control.Figure(700)})
	for i := range l.Vendors { // names that nothing else contains
		if l.Vendors[i].Vendor == "b" {
			l.Vendors[i].Vendor, l.Vendors[i].Label = "rival-name", "rival-label"
		}
	}
	for i := range l.WhatIf {
		l.WhatIf[i].Shares = map[string]float64{"a": l.WhatIf[i].Shares["a"], "rival-name": l.WhatIf[i].Shares["b"]}
	}
	m := Mask(l, "a")
	doc, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"rival", "secret to a", "b was lost", "700", "0.0014", `"per_day":6`} {
		if strings.Contains(string(doc), secret) {
			t.Errorf("the copy for a holds %q", secret)
		}
	}
	own, other := m.Vendors[0], m.Vendors[1]
	if m.Internal || m.For != "a" || own.PerMillion == nil || own.Shiftable.Value != nil || own.WalkAway != nil || !other.Masked || other.PerMillion != nil || other.Share != nil || other.Cost != nil || other.PerCall != nil {
		t.Errorf("%+v", m)
	}
	if len(m.WhatIf) != 0 || m.Now.PerDay != nil || m.BreakEven.PerCall != nil || m.Terms != (control.Terms{}) {
		t.Errorf("what it could be computed from: %+v", m)
	}
	if len(m.Limits) != 1 || m.Limits[0].Vendor != "a" || !strings.Contains(m.Headline, "can move to others") {
		t.Errorf("limits %+v, headline %q", m.Limits, m.Headline)
	}
	if l.Vendors[0].Shiftable.Value == nil || l.Vendors[0].WalkAway == nil {
		t.Error("the internal copy was changed")
	}
	if Mask(l, "nobody") != nil {
		t.Error("a copy for nobody")
	}
}

func TestDossier_LeavesOutWhatWeDidOurselves(t *testing.T) {
	b := NewBook(two(t))
	begin := at(t, "2026-12-01T10:00:00+08:00")
	fail := func(a Attempt) Attempt {
		a.Outcome, a.Reason = "vendor_fault", "server_error"
		return a
	}
	var list []Attempt
	for k := range 20 { // a bad minute: one of 20
		a := call(begin, "a", 1, 0, 1)
		if k == 0 {
			a = fail(a)
		}
		list = append(list, a)
	}
	for k := range 21 { // not bad: one of 21
		a := call(begin.Add(time.Minute), "a", 1, 0, 1)
		if k == 0 {
			a = fail(a)
		}
		list = append(list, a)
	}
	for range 4 { // too few to tell
		list = append(list, fail(call(begin.Add(2*time.Minute), "a", 1, 0, 1)))
	}
	for range 50 { // our own fault
		list = append(list, fail(call(begin.Add(5*time.Minute), "a", 1, 0, 1)))
	}
	limited := call(begin.Add(3*time.Minute), "a", 0, 0, 0)
	limited.Outcome = "rate_limited"
	list = append(list, limited, fail(call(begin, "b", 1, 0, 1)))
	acc := rolled(b, list, Windows{{Vendor: "a", From: begin.Add(4 * time.Minute), To: begin.Add(6 * time.Minute)}})
	month, since, until, err := b.Month("", begin.Add(time.Hour))
	if err != nil || month != "2026-12" || !since.Equal(at(t, "2026-12-01T00:00:00+08:00")) || !until.Equal(begin.Add(time.Hour)) {
		t.Fatal(month, since, until, err)
	}
	acc.Since, acc.Until = since, until
	d := b.Dossier(acc, "a", "蓝耘", month, Failures{}, []control.LimitSay{{Vendor: "a", What: "measured"}, {Vendor: "b", What: "measured"}})
	if len(d.Bad) != 1 || !d.Bad[0].Time.Equal(begin) || d.Bad[0].Faults != 1 || d.Bad[0].Attempts != 20 {
		t.Errorf("bad minutes %+v", d.Bad)
	}
	if d.Answered != 39 || d.Faults != 6 || d.Refused != 1 || d.Minutes != 4 || len(d.Limits) != 2 {
		t.Errorf("%+v", d)
	}
	near(t, "availability", d.Availability, 39.0/45)
	for _, bad := range []string{"2027-01", "december"} {
		if _, _, _, err := b.Month(bad, begin); err == nil {
			t.Errorf("%s is a month", bad)
		}
	}
}
