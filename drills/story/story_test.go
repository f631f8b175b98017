package story

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
)

// vendor is a RoundTripper that answers as its function says.
type vendor func(r *http.Request) (status int, after time.Duration)

func (v vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	status, after := v(r)
	select {
	case <-time.After(after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	const body = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n"
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// theatre is a Stage whose vendors are names in URLs.
type theatre struct {
	engine *fakeEngine
	failed string // vendor that does not start

	mu      sync.Mutex
	started []string
	running int
}

func (t *theatre) Vendor(v Simulated) (string, func(), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v.Name == t.failed {
		return "", nil, errors.New("no port is free")
	}
	name := v.Name
	if v.Quantized {
		name += "-4bit"
	}
	t.started = append(t.started, name)
	t.running++
	return "http://" + name + "/v1", func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running--
	}, nil
}

func (t *theatre) Engine(primary, secondary Simulated) (Engine, error) {
	url, stop, err := t.Vendor(Simulated{Name: "baton"})
	return Engine{URL: url, Control: t.engine, Stop: stop}, err
}

// fakeEngine proves a cutover five seconds after it was told to kill.
type fakeEngine struct {
	control.Control

	mu     sync.Mutex
	killed time.Time
}

func (e *fakeEngine) Do(_ context.Context, cmd control.Command) error {
	if c, ok := cmd.(*control.StartDrill); !ok || c.Scenario != "kill" || c.Vendor != hidden.Name {
		return errors.New("not the kill of the primary")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.killed = time.Now()
	return nil
}

func (e *fakeEngine) Ask(context.Context, control.Query) (control.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &control.Snapshot{}
	if !e.killed.IsZero() {
		s.Drill = &control.DrillState{ID: "d", Phase: control.PhaseShifted, TargetS: 420}
		if time.Since(e.killed) > 5*time.Second {
			cutover, passed := 2.5, control.Passed
			s.Drill.CutoverS, s.Drill.Verdict = &cutover, &passed
		}
	}
	return s, nil
}

// play plays the story before vendors of known times, in fake time.
func play(t *testing.T, th *theatre, v vendor, tell func(Scene)) (*Report, error) {
	t.Helper()
	if tell == nil {
		tell = func(Scene) {}
	}
	s := &show{stage: th, tell: tell, client: &http.Client{Transport: v}, begun: time.Now(), report: &Report{Acts: []Act{}}}
	err := s.play(t.Context())
	s.report.judge()
	return s.report, err
}

// asTold are vendors as the story tells of them.
func asTold(r *http.Request) (int, time.Duration) {
	even := time.Now().UnixNano()%5 == 0
	switch r.URL.Host {
	case "self-hosted":
		if even {
			return http.StatusInternalServerError, 100 * time.Millisecond
		}
		return http.StatusOK, 7500 * time.Millisecond
	case "self-hosted-4bit":
		return http.StatusOK, 12 * time.Second
	case "pool":
		return http.StatusOK, 60 * time.Millisecond
	case "bailian":
		return http.StatusOK, 4800 * time.Millisecond
	case "calibration":
		return http.StatusOK, 280 * time.Millisecond
	}
	return http.StatusOK, 300 * time.Millisecond
}

func TestStory_MeasuresEachActAndJudgesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := &theatre{engine: &fakeEngine{}}
		var scenes []Scene
		r, err := play(t, th, asTold, func(s Scene) { scenes = append(scenes, s) })
		if err != nil {
			t.Fatal(err)
		}
		if !r.Holds {
			t.Errorf("it does not hold: %s", r.Reason)
		}
		for i, want := range []float64{7500, 12_000, 60, 4800, 300} {
			f := &r.Acts[i].Figures
			if f.P99ms == nil || math.Abs(*f.P99ms-want) > 1 {
				t.Errorf("act %d: P99 %v ms, want %g", i+1, f.P99ms, want)
			}
			if rate := f.RPS; i < 3 && (rate < 10 || rate > 19) || i >= 3 && (rate < 23 || rate > 29) {
				t.Errorf("act %d: %.1f requests/s", i+1, rate)
			}
		}
		if f := &r.Acts[0].Figures; f.Failed == 0 || f.Words["500"] != f.Failed || math.Abs(f.Errors-float64(f.Failed)/float64(f.N)) > 1e-9 {
			t.Errorf("failures %+v", f)
		}
		if less := r.Less(); less == nil || math.Abs(*less-0.9375) > 1e-6 {
			t.Errorf("less %v, want 93.75 %%", less)
		}
		if k := r.Kill; k == nil || k.CutoverS == nil || *k.CutoverS != 2.5 || k.Clients.N < 150 || k.Clients.Failed != 0 {
			t.Errorf("kill %+v", k)
		}
		if th.running != 0 {
			t.Errorf("%d of %v still run", th.running, th.started)
		}
		acts := map[int]bool{}
		for _, s := range scenes {
			acts[s.Act] = true
			if s.Warm && s.Figures != nil {
				t.Errorf("figures while it warms up: %+v", s)
			}
		}
		if len(acts) != 7 {
			t.Errorf("scenes of acts %v, want the machine's and six", acts)
		}
		rec := r.Record("id", "operator:x", "1")
		if rec.Verdict != control.Passed || len(rec.Hypothesis) != 7 || rec.Extra["two-vendors_p99_ms"] != 300 {
			t.Errorf("record %s, %d hypotheses, %v", rec.Verdict, len(rec.Hypothesis), rec.Extra)
		}
		for _, text := range []string{r.Markdown(), r.HTML()} {
			for _, want := range []string{"SIMULATED", "500 users", "4.80 s to 0.30 s, 94 % less", "2.5 s (target 420 s)"} {
				if !strings.Contains(text, want) {
					t.Errorf("the report does not say %q", want)
				}
			}
		}
	})
}

func TestStory_SaysWhereItIsNotAsTold(t *testing.T) {
	for name, c := range map[string]struct {
		v       vendor
		reason  string
		verdict string
	}{
		"a pool that is slow": {func(r *http.Request) (int, time.Duration) {
			if r.URL.Host == "pool" {
				return http.StatusOK, 3 * time.Second
			}
			return asTold(r)
		}, "act 3", control.Failed},
		"a machine that is slow": {func(r *http.Request) (int, time.Duration) {
			status, d := asTold(r)
			if r.URL.Host == "calibration" {
				d *= 2
			}
			return status, d
		}, "too slow", control.Inconclusive},
		"a client that gets an error": {func(r *http.Request) (int, time.Duration) {
			if status, d := asTold(r); r.URL.Host != "baton" || time.Now().UnixNano()%40 != 0 {
				return status, d
			}
			return http.StatusBadGateway, 0
		}, "clients got an error", control.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := play(t, &theatre{engine: &fakeEngine{}}, c.v, nil)
				if err != nil {
					t.Fatal(err)
				}
				if r.Holds || !strings.Contains(r.Reason, c.reason) || r.Record("id", "", "").Verdict != c.verdict {
					t.Errorf("holds %t, %q, %s; want %q, %s", r.Holds, r.Reason, r.Record("id", "", "").Verdict, c.reason, c.verdict)
				}
			})
		})
	}
}

func TestStory_EndsWithItsContextOrAStageThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := play(t, &theatre{engine: &fakeEngine{}, failed: "pool"}, asTold, nil)
		if err == nil || !strings.Contains(err.Error(), "act 3: no port is free") {
			t.Errorf("error %v", err)
		}
		if rec := r.Record("id", "", ""); rec.Verdict != control.Aborted {
			t.Errorf("verdict %s", rec.Verdict)
		}
	})
}

func TestAsk_CountsTheFirstWordNotTheFirstByte(t *testing.T) {
	for data, want := range map[string]bool{
		`{"choices":[{"delta":{"role":"assistant","content":""}}]}`: false,
		`{"choices":[{"delta":{"role":"assistant"}}]}`:              false,
		`{"choices":[{"delta":{"content":"a"}}]}`:                   true,
	} {
		if got := worded([]byte(data)); got != want {
			t.Errorf("worded(%s) is %t", data, got)
		}
	}
}
