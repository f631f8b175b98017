package admission

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func deadlines(q *Queue) (out []int) {
	for w := q.First(Batch); w != nil; w = w.Next() {
		out = append(out, int(w.Deadline.Sub(t0)/time.Second))
	}
	return out
}

func TestQueue_InteractiveWaitsInOrderAndTheNewestIsRefused(t *testing.T) {
	var q Queue
	var w [10]Waiter
	in := 0
	for i := range w {
		if _, ok := q.Push(&w[i], 40, 100*time.Millisecond); ok { // 4 places in their patience
			in++
		}
	}
	if in != 4 || q.Len(Interactive) != 4 || q.First(Interactive) != &w[0] || w[0].Next() != &w[1] {
		t.Fatalf("%d wait, %d in the queue", in, q.Len(Interactive))
	}
	q.Remove(&w[1])
	q.Remove(&w[1])
	if q.Len(Interactive) != 3 || w[0].Next() != &w[2] || w[1].Queued() {
		t.Error("one who left is still in the line")
	}
	if _, ok := q.Push(&w[9], 40, 0); ok {
		t.Error("one without patience waits")
	}
}

func TestQueue_AtAnyRateTwoMayWait(t *testing.T) {
	var q Queue
	var w [3]Waiter
	for i := range w {
		if _, ok := q.Push(&w[i], 0.01, 10*time.Millisecond); ok != (i < 2) {
			t.Errorf("the %dth: %v", i+1, ok)
		}
	}
}

func TestQueue_BatchWaitsByDeadlineAndTheLatestGoes(t *testing.T) {
	q := Queue{MaxBatch: 3}
	w := map[int]*Waiter{}
	push := func(s int) (*Waiter, bool) {
		w[s] = &Waiter{Lane: Batch, Deadline: at(float64(s))}
		if s == 0 {
			w[s].Deadline = time.Time{} // none
		}
		return q.Push(w[s], 0, 0)
	}
	push(30)
	push(10)
	push(0)
	if out, ok := push(20); !ok || out != w[0] {
		t.Fatalf("full: %v %v; the one without a deadline was to go", out, ok)
	}
	if out, ok := push(40); ok || out != nil {
		t.Fatal("full: one with the latest deadline of all got in")
	}
	if out, ok := push(30); ok || out != nil { // as late as the last: the newest goes
		t.Fatal("full: the newest of two alike got in")
	}
	if got := deadlines(&q); !slices.Equal(got, []int{10, 20, 30}) {
		t.Fatalf("the order is %v", got)
	}
	if _, ok := (&Queue{}).Push(&Waiter{Lane: Batch}, 1, time.Second); ok {
		t.Error("a queue that lets nobody wait did")
	}
}

// Against a slice that is sorted.
func TestQueue_KeepsItsOrderWhateverComesAndGoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	q := Queue{MaxBatch: 20}
	var all []*Waiter
	for range 20_000 {
		if rng.IntN(3) == 0 && len(all) > 0 {
			i := rng.IntN(len(all))
			q.Remove(all[i])
			all = slices.Delete(all, i, i+1)
		} else {
			w := &Waiter{Lane: Batch, Deadline: at(float64(rng.IntN(50)))}
			out, ok := q.Push(w, 0, 0)
			if out != nil {
				all = slices.Delete(all, slices.Index(all, out), slices.Index(all, out)+1)
			}
			if ok {
				all = append(all, w)
			}
		}
		slices.SortStableFunc(all, func(a, b *Waiter) int { return a.Deadline.Compare(b.Deadline) })
		if q.Len(Batch) != len(all) || len(all) > 20 {
			t.Fatalf("%d in the queue, want %d", q.Len(Batch), len(all))
		}
		w := q.First(Batch)
		for _, want := range all {
			if w != want {
				t.Fatal("not in order")
			}
			w = w.Next()
		}
	}
}

func TestPatience_IsAPartOfTheBudgetAndAtMostTheSlack(t *testing.T) {
	for _, tt := range []struct {
		budget, slack time.Duration
		batch         bool // waits
		want          time.Duration
	}{
		{time.Second, 0, false, 250 * time.Millisecond},
		{time.Second, 105 * time.Millisecond, false, 105 * time.Millisecond},
		{time.Second, 60 * time.Millisecond, true, 180 * time.Millisecond},
		{time.Second, 5 * time.Second, false, 250 * time.Millisecond},
		{time.Second, 5 * time.Second, true, 250 * time.Millisecond},
		{time.Second, time.Millisecond, false, 10 * time.Millisecond},
	} {
		if got := Patience(tt.budget, tt.slack, tt.batch); got != tt.want {
			t.Errorf("Patience(%v, %v, %v) = %v, want %v", tt.budget, tt.slack, tt.batch, got, tt.want)
		}
	}
}

func TestLate_WhatCannotBeDoneByItsDeadline(t *testing.T) {
	now := at(100)
	for name, tt := range map[string]struct {
		deadline time.Time
		typical  time.Duration
		want     bool
	}{
		"time enough":        {at(102), time.Second, false},
		"too late":           {at(102), 3 * time.Second, true},
		"no deadline":        {time.Time{}, time.Hour, false},
		"nobody knows":       {at(101), 0, false},
		"exactly in time":    {at(101.5), time.Second, false},
		"the deadline is by": {at(99), time.Millisecond, true},
	} {
		if got := Late(now, tt.deadline, tt.typical); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
