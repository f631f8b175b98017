package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLog_AgreesWithWhatAClientSaw runs many clients at once and compares both sides' counts.
func TestLog_AgreesWithWhatAClientSaw(t *testing.T) {
	s := faulty(t)
	models := []string{"ok", "s02", "s03", "s08", "s10", "no-finish", "error-midway", "s12"}
	type seen struct{ events, status map[string]int }
	saw := seen{map[string]int{}, map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	const each = 10
	for range each {
		for _, m := range models {
			wg.Go(func() {
				r := s.chat(t, m, true)
				mu.Lock()
				defer mu.Unlock()
				if r.status == 200 {
					saw.events[m] += hear(r.body).events
				} else {
					saw.status[m]++
				}
			})
		}
	}
	wg.Wait()
	r := s.do(t, http.MethodGet, "/sim/log", "")
	var log []Entry
	if err := json.Unmarshal([]byte(r.body), &log); err != nil {
		t.Fatal(err)
	}
	logged := seen{map[string]int{}, map[string]int{}}
	var tokens uint64
	for i, e := range log {
		if e.Seq != uint64(i+1) {
			t.Errorf("entry %d has number %d", i, e.Seq)
		}
		if e.Messages != 1 || len(e.Roles) != 1 || e.Roles[0] != "user" || !e.Stream || e.StreamOptions || e.Path != "/v1/chat/completions" {
			t.Errorf("entry %+v is not what was asked", e)
		}
		tokens += uint64(e.TokensOut)
		if e.Status == 200 {
			logged.events[e.Model] += e.Events
		} else {
			logged.status[e.Model]++
		}
	}
	for _, m := range models {
		if saw.events[m] != logged.events[m] || saw.status[m] != logged.status[m] {
			t.Errorf("%s: client saw %d events and %d refusals, log has %d and %d", m, saw.events[m], saw.status[m], logged.events[m], logged.status[m])
		}
	}
	st := s.Stats()
	if st.Arrivals != uint64(each*len(models)) || st.Arrivals != st.Answered+st.Refused+st.Broken+st.Cancelled || st.InFlight != 0 || st.TokensOut != tokens {
		t.Errorf("stats %+v: want %d arrivals, all ended, %d tokens", st, each*len(models), tokens)
	}
	// Well: ok, s10 and nine of ten s03. Broken: s08, no-finish, error-midway.
	if st.Answered != 29 || st.Refused != 21 || st.Broken != 30 {
		t.Errorf("stats %+v: want 29 answered, 21 refused, 30 broken", st)
	}
}

func TestLog_ShowsTheLastFourOfAKeyOnly(t *testing.T) {
	s := faulty(t)
	s.do(t, http.MethodPost, "/v1/chat/completions", chatBody("ok", false), "Authorization", "Bearer sk-secret-5678")
	s.do(t, http.MethodPost, "/v1/chat/completions", chatBody("ok", false), "Authorization", "Bearer short")
	r := s.do(t, http.MethodGet, "/sim/log", "")
	if strings.Contains(r.body, "secret") || strings.Contains(r.body, "short") {
		t.Errorf("the log shows a key: %s", r.body)
	}
	if log := s.Log(); log[0].Key != "5678" || log[1].Key != "" {
		t.Errorf("keys %q and %q, want 5678 and none", log[0].Key, log[1].Key)
	}
}

func TestLog_ShowsRequestsThatStillRun(t *testing.T) {
	s := start(t, Options{Profile: "faults"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(chatBody("s06", true)))
		resp, err := s.client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
	}()
	for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(time.Millisecond) {
		if log := s.Log(); len(log) == 1 && log[0].Fault == "s06" {
			if log[0].Outcome != "" || s.Stats().InFlight != 1 {
				t.Errorf("log %+v, stats %+v: want it at work", log[0], s.Stats())
			}
			break
		}
	}
	cancel()
	<-done
	if len(s.Log()) != 1 {
		t.Errorf("log %+v, want one entry", s.Log())
	}
}

func TestLog_KeepsTheLastTenThousand(t *testing.T) {
	var l attemptLog
	for i := range logSize + 5 {
		l.add(&Entry{Roles: []string{}, Messages: i}, false, func(uint64) {})
	}
	got := l.snapshot()
	if len(got) != logSize || got[0].Seq != 6 || got[logSize-1].Seq != logSize+5 {
		t.Errorf("%d entries from %d to %d, want the last %d", len(got), got[0].Seq, got[len(got)-1].Seq, logSize)
	}
}
