package gateway

import (
	"net/http"
	"testing"
	"time"
)

// byKey answers by the key that came.
func byKey(does map[string]http.HandlerFunc, otherwise http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h, ok := does[r.Header.Get("Authorization")]; ok {
			h(w, r)
			return
		}
		otherwise(w, r)
	}
}

func TestKeys_DeadOnesUseUpNoRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"LANYUN":  `api_keys = ["key-number-00001", "key-number-00002", "key-number-00003", "key-number-00004", "key-number-00005"]`,
		"ROUTING": "attempts = 1",
	})
	w.a.does(byKey(map[string]http.HandlerFunc{"Bearer key-number-00005": well("lanyun")}, refuses(401, openAIError("invalid_api_key"))))
	for i := range 3 {
		x := w.chat(askStream)
		w.wants(x, "lanyun")
		want := "1"
		if i == 0 {
			want = "5"
		}
		if got := x.header.Get(headerAttempts); got != want {
			t.Errorf("request %d: %s attempts, want %s", i+1, got, want)
		}
	}
	if n := w.a.tries(); n != 7 {
		t.Errorf("%d tries, want 7", n)
	}
}

func TestKeys_AllDeadMovesAndDisables(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"LANYUN": `api_keys = ["key-number-00001", "key-number-00002"]`})
	w.a.does(refuses(401, openAIError("invalid_api_key")))
	for range 3 {
		w.wants(w.chat(askStream), "bailian")
	}
	if n := w.a.tries(); n != 2 {
		t.Errorf("%d tries at the vendor whose keys are dead, want 2", n)
	}
	for _, f := range w.g.Failures("lanyun", 0) {
		if f.Outcome != "account_fault" || !f.Rescued {
			t.Errorf("failure %+v", f)
		}
	}
}

func TestKeys_TheLastVendorsDeadKeyIs502AndWorksAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"LANYUN": `api_keys = ["key-number-00001"]`, "BAILIAN": `api_keys = ["key-number-00002"]`})
	dead := refuses(401, openAIError("invalid_api_key"))
	w.a.does(dead)
	w.b.does(dead)
	for range 2 {
		if x := w.chat(askWhole); x.status != http.StatusBadGateway {
			t.Fatalf("status %d: %s", x.status, x.body)
		}
	}
	w.a.does(well("lanyun"))
	w.b.does(well("bailian"))
	if x := w.chat(askWhole); x.status != http.StatusOK {
		t.Errorf("status %d: %s", x.status, x.body)
	}
}

func TestKeys_TwoLimitedKeysAreTheAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"LANYUN": `api_keys = ["key-number-00001", "key-number-00002", "key-number-00003"]`})
	w.a.does(refuses(429, openAIError("rate_limit_exceeded")))
	x := w.chat(askStream)
	w.wants(x, "bailian")
	if n := w.a.tries(); n > 2 {
		t.Errorf("%d tries at once, want at most 2", n)
	}
}

func TestKeys_RotateEvenly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"LANYUN": `api_keys = ["key-number-00001", "key-number-00002"]`})
	for range 10 {
		w.wants(w.chat(askWhole), "lanyun")
	}
	n := map[string]int{}
	w.a.mu.Lock()
	defer w.a.mu.Unlock()
	for _, h := range w.a.heads {
		n[h.Get("Authorization")]++
	}
	if n["Bearer key-number-00001"] != 5 || n["Bearer key-number-00002"] != 5 {
		t.Errorf("uses %v", n)
	}
}

func TestLimits_RetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for name, head := range map[string][]string{
		"seconds": {"Retry-After", "10"}, "milliseconds": {"Retry-After-Ms", "10000"},
		"date": {"Retry-After", time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.a.does(refuses(429, openAIError("rate_limit_exceeded"), head...))
			for range 4 {
				w.wants(w.chat(askStream), "bailian")
			}
			if n := w.a.tries(); n != 1 {
				t.Errorf("%d tries in its Retry-After, want 1", n)
			}
		})
	}
}
