package gateway

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Both vendors take four requests a second, as is known.
var fourPerSecond = map[string]string{"LANYUN": "limit_rps = 4", "BAILIAN": "limit_rps = 4"}

func together(n int, ask func() answer) []answer {
	out := make([]answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { out[i] = ask() })
	}
	all.Wait()
	return out
}

func TestAdmission_BatchWaitsForALimitAndInteractiveIsToldWhen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fourPerSecond)
	served := 0
	for _, x := range together(20, func() answer { return w.chat(askStream) }) {
		switch {
		case x.status == http.StatusOK:
			served++
		case x.status != http.StatusTooManyRequests || w.code(x) != codeAdmission || x.header.Get("Retry-After") == "":
			t.Errorf("status %d, Retry-After %q: %s", x.status, x.header.Get("Retry-After"), x.body)
		}
	}
	if served == 0 || served == 20 {
		t.Errorf("%d of 20 interactive requests at once were answered before a limit of 8 a second", served)
	}
	begun := time.Now()
	for _, x := range together(12, func() answer { return w.chat(askWhole, headerLane, "batch") }) {
		if x.status != http.StatusOK {
			t.Errorf("batch: status %d: %s", x.status, x.body)
		}
		// A wait for a vendor is no time of ours.
		if us, _ := strconv.Atoi(x.header.Get(headerOverhead)); us > int(x.took.Microseconds())/2+100_000*int(slack) {
			t.Errorf("%s says %d us of %v", headerOverhead, us, x.took)
		}
	}
	if d := time.Since(begun); d < 500*time.Millisecond {
		t.Errorf("12 batch requests took %v before a limit of 8 a second", d)
	}
	if a, b := w.a.tries(), w.b.tries(); a+b != served+12 {
		t.Errorf("%d attempts for %d answers: a limit that is known is met without a 429", a+b, served+12)
	}
}

func TestAdmission_BatchThatCannotBeDoneByItsDeadlineIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": `deadline = "1s"`})
	w.a.does(refuses(http.StatusTooManyRequests, openAIError("rate_limit_exceeded"), "Retry-After", "30"))
	w.b.does(refuses(http.StatusTooManyRequests, openAIError("rate_limit_exceeded"), "Retry-After", "30"))
	for range 2 {
		x := w.chat(askWhole, headerLane, "batch")
		if x.status != http.StatusTooManyRequests || w.code(x) != codeAdmission || x.header.Get("Retry-After") != "30" {
			t.Errorf("status %d, Retry-After %q: %s", x.status, x.header.Get("Retry-After"), x.body)
		}
	}
}
