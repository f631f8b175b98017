package sim

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func continueBody(said, inMessage, inRequest string, stream bool) string {
	body := `{` + inRequest + `"model":"ok","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":` + string(appendString(nil, said)) + inMessage + `}]`
	if stream {
		body += `,"stream":true`
	}
	return body + `}`
}

func TestContinued_ExactlyTheMissingWordsCome(t *testing.T) {
	s := faulty(t)
	all := words(60)
	for name, spelled := range map[string][2]string{
		"plain": {}, "partial": {`,"partial":true`, ""}, "prefix": {`,"prefix":true`, ""},
		"continue_final_message": {"", `"continue_final_message":true,"add_generation_prompt":false,`},
	} {
		for _, n := range []int{1, 2, 40, 60, len(all) - 1, len(all)} {
			said := all[:n] // also in the middle of a word
			for _, stream := range []bool{true, false} {
				r := s.do(t, http.MethodPost, "/v1/chat/completions", continueBody(said, spelled[0], spelled[1], stream))
				got := hear(r.body)
				if !stream {
					got = readWhole(r.body)
				}
				if r.status != 200 || said+got.text != all || got.reason != "stop" {
					t.Errorf("%s, stream %v, %d bytes said: status %d, went on with %q, finish %q", name, stream, n, r.status, got.text, got.reason)
				}
			}
		}
	}
}

// readWhole reads a whole answer.
func readWhole(body string) said {
	var s said
	s.chunk(body)
	return s
}

func TestContinued_WordsOfSomebodyElseAreNoBeginning(t *testing.T) {
	s := faulty(t)
	r := s.do(t, http.MethodPost, "/v1/chat/completions", continueBody("Once upon", "", "", true))
	if got := hear(r.body).text; got != words(60) {
		t.Errorf("answer %q, want all sixty words", got)
	}
}

func TestContinued_ACannedSentenceIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Tokens: 30})
		for said, want := range map[string]string{
			"You can return the ket":              "tle within thirty days.",
			"Open My Orders and choose Return. T": "",
			"收货后三十天内":                             "可以退货。",
		} {
			got := hear(record(v, t.Context(), continueBody(said, "", "", true)).Body.String())
			if !strings.HasPrefix(got.text, want) || got.reason != "stop" || !got.done {
				t.Errorf("after %q came %q, want it to begin with %q", said, got.text, want)
			}
		}
	})
}

func TestPutOptions_TurnsKnobsAndRefusesWhatIsUnknown(t *testing.T) {
	s := start(t, Options{Profile: "limited", Keys: []string{"sk-secret-1234"}})
	r := s.do(t, http.MethodPut, "/sim/options", `{"first_token":"1.5s","limit":7,"limit_mode":"queue","errors":0.25}`)
	if o := s.Options(); r.status != 200 || o.FirstToken.Seconds() != 1.5 || o.Limit != 7 || o.LimitMode != "queue" || o.ErrorRate != 0.25 {
		t.Errorf("status %d, options %+v", r.status, o)
	}
	for body, want := range map[string]string{
		`{"limmit":1}`: "unknown field", `{"limit":-1}`: "limit -1", `{"replicas":2}`: "only the profile vllm-pool", `{"limit_mode":"drop"}`: "must be reject or queue",
		`{} {}`: "more than one", `{"first_token":5}`: "first_token", `[]`: "reading the knobs",
	} {
		if r := s.do(t, http.MethodPut, "/sim/options", body); r.status != 400 || !strings.Contains(r.body, want) {
			t.Errorf("%s: status %d, body %s, want %q", body, r.status, r.body, want)
		}
	}
	if r := s.do(t, http.MethodGet, "/sim/options", ""); r.status != 200 || !strings.Contains(r.body, `"first_token":"1.5s"`) || strings.Contains(r.body, "secret") {
		t.Errorf("options %s", r.body)
	}
}

func TestReset_OverASocketWhileTheProcessIsDead(t *testing.T) {
	s := start(t, Options{Profile: "naive-gpu", Crash: 1, Scale: 0.02})
	big := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("much text ", 12000) + `"}]}`
	if r := s.do(t, http.MethodPost, "/v1/chat/completions", big); r.status != 500 {
		t.Fatalf("status %d, want 500", r.status)
	}
	if r := s.do(t, http.MethodGet, "/v1/models", ""); r.err == nil {
		t.Errorf("status %d while the process is dead, want a reset", r.status)
	}
}
