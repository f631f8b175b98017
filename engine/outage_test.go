package engine

import (
	"testing"
	"time"

	"baton/engine/outcome"
)

func TestBadRun_BeginsWhereTheVendorWasFirstBad(t *testing.T) {
	t0 := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	fault := func(change func(*outcome.Result)) outcome.Result {
		r := outcome.Result{Outcome: outcome.VendorFault}
		if change != nil {
			change(&r)
		}
		return r
	}
	for name, c := range map[string]struct {
		firstToken time.Duration
		result     outcome.Result
		want       time.Duration // after t0
	}{
		"refused: when it was tried":                        {0, fault(func(r *outcome.Result) { r.Connect = true }), 0},
		"a clock ended it: all the time it waited":          {0, fault(func(r *outcome.Result) { r.Clock = outcome.HeaderClock }), 0},
		"answered with an error: all the time it waited":    {0, fault(func(r *outcome.Result) { r.Status = 500 }), 0},
		"lost after the headers, before a word: at that":    {0, fault(func(r *outcome.Result) { r.Status, r.Class = 200, outcome.Connection }), 20 * time.Second},
		"answered with what is no answer: all the time":     {0, fault(func(r *outcome.Result) { r.Status, r.Class = 200, outcome.Broken }), 0},
		"the connection was lost while it waited: at that":  {0, fault(nil), 20 * time.Second},
		"a stream broke: until then it was good":            {time.Second, fault(func(r *outcome.Result) { r.Status = 200 }), 20 * time.Second},
		"an account that is locked: when it was tried":      {0, outcome.Result{Outcome: outcome.AccountFault, Status: 401}, 0},
		"the client's own fault says nothing of the vendor": {0, outcome.Result{Outcome: outcome.ClientFault, Status: 400}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var b badRun
			b.add(&Lease{begun: t0, firstToken: c.firstToken}, t0.Add(20*time.Second), &c.result)
			switch want := t0.Add(c.want); {
			case c.want < 0 && !b.since.IsZero():
				t.Errorf("bad since %s", b.since)
			case c.want >= 0 && !b.since.Equal(want):
				t.Errorf("bad since %s after it began, want %s", b.since.Sub(t0), c.want)
			}
		})
	}
}

func TestBadRun_IsOverAfterEnoughGoodAnswersInARow(t *testing.T) {
	t0 := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	var b badRun
	bad, good := outcome.Result{Outcome: outcome.VendorFault, Connect: true}, outcome.Result{Outcome: outcome.OK}
	add := func(r *outcome.Result, at time.Duration) { b.add(&Lease{begun: t0.Add(at)}, t0.Add(at), r) }
	add(&bad, 0)
	for i := range goodRun - 1 {
		add(&good, time.Duration(i+1)*time.Second)
	}
	add(&bad, time.Minute)
	if !b.since.Equal(t0) {
		t.Errorf("every other answer bad is one outage: since %s", b.since.Sub(t0))
	}
	for range goodRun {
		add(&good, 2*time.Minute)
	}
	if !b.since.IsZero() {
		t.Error("it is not over")
	}
}
