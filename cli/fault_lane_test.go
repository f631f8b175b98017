package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// Both lanes go to the first vendor, whose own log says what came. A fault of one lane
// takes that one away from it, and from the other nothing: neither its answers nor its
// attempts, and not the vendor either.
func TestFault_OfOneLaneLeavesTheOthersRequestsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts an engine")
	}
	t.Parallel()
	a, b := newArrivals(t), newArrivals(t)
	s := serve(t, fmt.Sprintf("[routing]\nfailover = \"manual\"\n[[vendors]]\nname = \"a\"\nbase_url = \"%s/v1\"\n[[vendors]]\nname = \"b\"\nbase_url = \"%s/v1\"\n", a.URL, b.URL))
	s.do(&control.SetWeights{Weights: map[string]float64{"a": 100, "b": 0}, For: control.Duration(10 * time.Minute), Override: true})

	const each = 8
	lanes := [...]string{"batch", "interactive"}
	// ask sends requests of a lane, and returns how many attempts the answers took, and
	// how many came to a.
	ask := func(lane string) (attempts map[string]int, came int) {
		before := len(a.log())
		attempts = map[string]int{}
		for i := range each {
			body := fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":"hi"}]}`, i%2 == 0)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.gateway+"/v1/chat/completions", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Baton-Lane", lane)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: status %d, %v", lane, resp.StatusCode, err)
			}
			attempts[resp.Header.Get("X-Baton-Attempts")]++
		}
		return attempts, len(a.log()) - before
	}
	want := func(when, lane, tries string, arrived int) {
		t.Helper()
		if attempts, came := ask(lane); attempts[tries] != each || came != arrived {
			t.Errorf("%s, %s: answers by attempts %v (want %d after %s), %d came to the vendor (want %d)", when, lane, attempts, each, tries, came, arrived)
		}
	}
	for _, lane := range lanes {
		want("without a fault", lane, "1", each)
	}
	for _, kind := range [...]string{"refuse", "http_500"} {
		for i, lane := range lanes {
			s.do(&control.SetFault{Vendor: "a", FaultSpec: control.FaultSpec{Kind: kind, Lane: lane, For: control.Duration(5 * time.Minute)}})
			if f := s.snapshot().Vendor("a").Fault; f == nil || f.Lane != lane {
				t.Fatalf("the snapshot has the fault %+v", f)
			}
			when := kind + " of " + lane
			want(when, lane, "2", 0)
			want(when, lanes[1-i], "1", each)
			s.do(&control.ClearFault{Vendor: "a"})
		}
	}
	for _, lane := range lanes {
		want("after all", lane, "1", each)
	}
}
