package sim

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// made is a vendor in fake time.
func made(t *testing.T, o Options) *Vendor {
	t.Helper()
	v, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func set(t *testing.T, v *Vendor, k Knobs) {
	t.Helper()
	if err := v.Set(k); err != nil {
		t.Fatal(err)
	}
}

// crowd sends so many requests at once, each in its goroutine, and returns once all of them wait.
func crowd(v *Vendor, ctx context.Context, n int, stream bool) *sync.WaitGroup {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			defer func() { _ = recover() }() // a reset has no connection to break here
			record(v, ctx, chatBody("m", stream))
		})
		synctest.Wait()
	}
	return &wg
}

func outcomes(v *Vendor) map[string]int {
	count := map[string]int{}
	for _, e := range v.Log() {
		count[e.Outcome]++
	}
	return count
}

func TestQueue_AdmitsInOrderAtTheLimitAndRefusesBeyondItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "limited", LimitMode: "queue", LimitQueue: 40})
		wg := crowd(v, t.Context(), 70, true)
		if st := v.Stats(); st.Queued != 40 || st.InFlight < 60 {
			t.Errorf("stats after 70 at once: %+v, want 40 queued", st)
		}
		wg.Wait()
		st := v.Stats()
		if st.Answered != 60 || st.Refused != 10 || st.Queued != 0 {
			t.Errorf("stats afterwards: %+v, want 60 answered and 10 refused", st)
		}
		for i, e := range v.Log()[20:60] {
			if want := float64(i+1) * 50; e.QueuedMS < want-1 || e.QueuedMS > want+1 {
				t.Errorf("number %d of the line waited %.1f ms, want %.0f", i+1, e.QueuedMS, want)
			}
		}
	})
}

func TestQueue_AClientThatLeavesFreesItsPlaceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Limit: 1, LimitMode: "queue"})
		first := crowd(v, t.Context(), 1, true)
		ctx, cancel := context.WithCancel(t.Context())
		left := crowd(v, ctx, 5, true)
		last := crowd(v, t.Context(), 1, true)
		cancel()
		left.Wait()
		if st := v.Stats(); st.Queued != 1 || st.Cancelled != 5 {
			t.Errorf("stats after five left: %+v, want one queued", st)
		}
		first.Wait()
		last.Wait()
		if e := v.Log()[6]; e.QueuedMS > 1001 || e.Outcome != Answered {
			t.Errorf("the sixth of the line waited %.0f ms, want 1000: five before it had left", e.QueuedMS)
		}
	})
}

func TestQueue_ARaisedLimitHoldsForThoseInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, k := range map[string]Knobs{"none": {Limit: ptr(0.0)}, "higher": {Limit: ptr(50.0)}} {
			v := made(t, Options{Limit: 1, LimitMode: "queue"})
			wg := crowd(v, t.Context(), 10, true)
			begun := time.Now()
			set(t, v, k)
			if st := v.Stats(); st.Queued != 0 {
				t.Errorf("%s: %d still queued", name, st.Queued)
			}
			wg.Wait()
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("%s: the line took %v", name, took)
			}
		}
	})
}

func TestQueue_KeepAliveCommentsComeWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Limit: 1, LimitMode: "queue", KeepAlive: 300 * time.Millisecond})
		for stream, want := range map[bool]string{true: ": keep-alive\n\n", false: "\n"} {
			record(v, t.Context(), chatBody("m", stream))
			time.Sleep(time.Until(v.Log()[len(v.Log())-1].Time.Add(100 * time.Millisecond)))
			w := record(v, t.Context(), chatBody("m", stream))
			if got := w.Body.String(); !strings.HasPrefix(got, want) || stream && !hear(got).done {
				t.Errorf("stream %v: body begins %.40q, want %q", stream, got, want)
			}
			time.Sleep(5 * time.Second)
		}
	})
}

func TestLimit_IsAModelsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Limit: 1})
		for model, want := range map[string]int{"a": 200, "b": 200} {
			if w := record(v, t.Context(), chatBody(model, false)); w.Code != want {
				t.Errorf("model %s: status %d", model, w.Code)
			}
		}
	})
}

func TestSlope_AStepAfterAQuietMinuteIsRefusedAndARampIsNot(t *testing.T) {
	o, err := Options{Profile: "limited", Limit: 1000}.fill()
	if err != nil {
		t.Fatal(err)
	}
	refusals := func(rate func(second int) int) (n int) {
		l := newLimits(&o)
		for s := range 240 {
			for i := range rate(s) {
				if _, e := l.arrive(time.Unix(int64(s), int64(i)), "m", 1); e == &limitSlope {
					n++
				}
			}
		}
		return n
	}
	if n := refusals(func(s int) int { return min(4+s/15, 20) }); n != 0 {
		t.Errorf("a slow ramp: %d refused", n)
	}
	if n := refusals(func(s int) int { return 4 + 26*min(s/120, 1) }); n == 0 {
		t.Error("from 4 to 30 per second in one step: nothing refused")
	}
}

func TestLimitTokens_AreRefusedAsAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{LimitTokens: 60}) // an answer of 24 is assumed
		var codes []int
		for range 4 {
			w := record(v, t.Context(), chatBody("m", false))
			if codes = append(codes, w.Code); w.Code == 429 && !strings.Contains(w.Body.String(), "insufficient_quota") {
				t.Errorf("body %s", w.Body)
			}
		}
		if codes[0] != 200 || codes[3] != 429 {
			t.Errorf("statuses %v, want the last refused", codes)
		}
		time.Sleep(time.Minute)
		if w := record(v, t.Context(), chatBody("m", false)); w.Code != 200 {
			t.Errorf("status %d a minute later", w.Code)
		}
	})
}

func TestNaiveGPU_FailsForMemoryAsFastAPIDoesAndCrashesForFortySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "naive-gpu", Crash: 1})
		var oom *http.Response
		w := record(v, t.Context(), `{"model":"m","messages":[{"role":"user","content":"`+strings.Repeat("much text ", 12000)+`"}]}`)
		if oom = w.Result(); oom.StatusCode != 500 || !strings.HasPrefix(w.Body.String(), `{"detail":"CUDA out of memory. Tried to allocate`) {
			t.Errorf("status %d, body %s", oom.StatusCode, w.Body)
		}
		oom.Body.Close()
		crowd(v, t.Context(), 1, false).Wait()
		time.Sleep(41 * time.Second)
		crowd(v, t.Context(), 1, false).Wait()
		got := outcomes(v)
		if got[Broken] != 1 || got[Answered] != 1 {
			t.Errorf("outcomes %v, want one reset while it is down, one answered afterwards", got)
		}
	})
}

func TestNaiveGPU_FortyWorkAndALeavingClientFreesAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "naive-gpu", Quantized: true})
		ctx, cancel := context.WithCancel(t.Context())
		left := crowd(v, ctx, 40, false)
		stayed := crowd(v, t.Context(), 1, true)
		if st := v.Stats(); st.Queued != 1 || st.Capacity != 40 {
			t.Errorf("stats with 41: %+v, want one queued", st)
		}
		cancel()
		left.Wait()
		if st := v.Stats(); st.Queued != 0 {
			t.Errorf("stats after forty left: %+v", st)
		}
		stayed.Wait()
		if got := outcomes(v); got[Left] != 40 || got[Answered] != 1 {
			t.Errorf("outcomes %v", got)
		}
	})
}

func TestNaiveGPU_NothingComesBeforeEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "naive-gpu"})
		w := &stamped{header: http.Header{}}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(chatBody("m", true)))
		v.ServeHTTP(w, r)
		if e := v.Log()[0]; e.Outcome != Answered || e.TotalMS-e.FirstTokenMS > 1 || e.FirstTokenMS < 50 {
			t.Errorf("log %+v: want the first token with the last", e)
		}
	})
}

func TestPool_StreamsByTheIterationAndALeavingClientFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "vllm-pool", Capacity: 2})
		ctx, cancel := context.WithCancel(t.Context())
		left := crowd(v, ctx, 2, true)
		stayed := crowd(v, t.Context(), 1, true)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if st := v.Stats(); st.Queued != 1 || st.Replicas != 1 || st.Capacity != 2 {
			t.Errorf("stats with three: %+v, want one queued at the one replica", st)
		}
		cancel()
		left.Wait()
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if st := v.Stats(); st.Queued != 0 {
			t.Errorf("stats after two left: %+v", st)
		}
		stayed.Wait()
		e := v.Log()[2]
		if perToken := (e.TotalMS - e.FirstTokenMS) / float64(e.TokensOut-1); e.Outcome != Answered || perToken < 10 || perToken > 11.5 || e.Events < e.TokensOut/2 {
			t.Errorf("log %+v: want a token every 10.5 ms, not %.1f", e, perToken)
		}
	})
}

func TestPool_ReplicasChangeUnderLoadAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := made(t, Options{Profile: "vllm-pool", Capacity: 4, Replicas: 3})
		wg := crowd(v, t.Context(), 30, true)
		for _, n := range []int{1, 5, 2} {
			time.Sleep(300 * time.Millisecond)
			set(t, v, Knobs{Replicas: &n})
			if st := v.Stats(); st.Replicas != n {
				t.Errorf("%d replicas, want %d", st.Replicas, n)
			}
		}
		wg.Wait()
		if st := v.Stats(); st.Answered != 30 || st.Queued != 0 {
			t.Errorf("stats %+v, want all answered", st)
		}
		if p := v.station.(*poolStation).pool; len(p.replicas) != 2 || p.replicas[0].kv != 0 || p.replicas[1].kv != 0 {
			t.Errorf("%d replicas remain, want two with an empty cache", len(p.replicas))
		}
	})
}

func TestPool_ElasticGrowsAfterThirtyHotSecondsAndShrinksAfterFiveCoolMinutes(t *testing.T) {
	o, err := Options{Profile: "vllm-pool", Capacity: 1, Replicas: 1, MaxReplicas: 3}.fill()
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(&o)
	begun := time.Unix(0, 0)
	var seqs []*sequence
	for range 9 {
		s := newSequence(10, 0, 1_000_000)
		p.enter(begun, begun, s)
		seqs = append(seqs, s)
	}
	at := func(s int, want int) {
		t.Helper()
		p.advance(begun.Add(time.Duration(s) * time.Second))
		if n, _ := p.live(); n != want {
			t.Errorf("%d replicas after %d s, want %d", n, s, want)
		}
	}
	for s := range 100 {
		at(s, min(1+s/30, 3))
	}
	for _, s := range seqs {
		p.leave(s)
	}
	for s := 100; s < 1000; s += 10 {
		at(s, max(3-(s-100)/300, 1))
	}
}

// Random arrivals and departures on a small cache: it is never over full, and empty at the end.
func TestReplica_CacheNeverHoldsMoreThanItHas(t *testing.T) {
	o, err := Options{Profile: "vllm-pool", KVTokens: 4000, Capacity: 20}.fill()
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(&o)
	r := p.replicas[0]
	rng := requestRand(1, 1)
	now := time.Unix(0, 0)
	var seqs []*sequence
	preempted := false
	for range 5000 {
		now = now.Add(10 * time.Millisecond)
		p.advance(now)
		switch rng.IntN(12) {
		case 0:
			s := newSequence(1+rng.IntN(600), rng.IntN(100), 1+rng.IntN(300))
			p.enter(now, now, s)
			seqs = append(seqs, s)
		case 1:
			if len(seqs) > 0 && rng.IntN(4) == 0 {
				p.leave(seqs[rng.IntN(len(seqs))])
			}
		}
		used := 0
		for _, s := range r.working {
			used += s.blocks
		}
		for _, s := range r.waiting {
			preempted = preempted || s.target > s.prompt
		}
		if used != r.kv || r.kv > o.KVTokens/kvBlock || len(r.working) > o.Capacity {
			t.Fatalf("blocks %d, counted %d of %d, %d sequences", used, r.kv, o.KVTokens/kvBlock, len(r.working))
		}
	}
	p.advance(now.Add(time.Hour))
	if !preempted || r.count() != 0 || r.kv != 0 {
		t.Errorf("preempted %v, %d left, %d blocks: want some, none, none", preempted, r.count(), r.kv)
	}
	for _, s := range seqs {
		if n := int(s.made.Load()); n > s.want {
			t.Errorf("%d tokens of %d", n, s.want)
		}
	}
}

func TestSet_AllProfilesTakeLatencyErrorsCapacityAndLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, profile := range Profiles() {
			v := made(t, Options{Profile: profile})
			record(v, t.Context(), chatBody("m", true))
			set(t, v, Knobs{FirstToken: ptr(8 * time.Second), Capacity: ptr(7)})
			if st := v.Stats(); st.Capacity != 7 {
				t.Errorf("%s: capacity %v, want 7", profile, st.Capacity)
			}
			record(v, t.Context(), chatBody("m", true))
			log := v.Log()
			slow := map[bool]float64{true: 100, false: 2000}[profile == "naive-gpu"] // its share of a short prompt
			if d := log[1].FirstTokenMS - log[0].FirstTokenMS; d < slow {
				t.Errorf("%s: first token %.0f ms, then %.0f with first_token 8 s", profile, log[0].FirstTokenMS, log[1].FirstTokenMS)
			}
			set(t, v, Knobs{ErrorRate: ptr(1.0)})
			if w := record(v, t.Context(), chatBody("m", true)); w.Code != 503 {
				t.Errorf("%s: status %d with errors 1", profile, w.Code)
			}
			set(t, v, Knobs{ErrorRate: ptr(0.0), Limit: ptr(0.05), FirstToken: ptr(time.Millisecond)})
			a, b := record(v, t.Context(), chatBody("one", false)), record(v, t.Context(), chatBody("one", false))
			if a.Code != 200 || b.Code != 429 {
				t.Errorf("%s: statuses %d and %d at a limit of one in 20 s", profile, a.Code, b.Code)
			}
		}
	})
}

func TestStations_SameSeedSameTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, profile := range []string{"limited", "naive-gpu", "vllm-pool"} {
			var took [2]time.Duration
			for i := range took {
				v := made(t, Options{Profile: profile, Seed: 4, LimitMode: "queue"})
				begun := time.Now()
				crowd(v, t.Context(), 40, true).Wait()
				took[i] = time.Since(begun)
			}
			if took[0] != took[1] {
				t.Errorf("%s: %v and %v", profile, took[0], took[1])
			}
		}
	})
}

func TestIdle_NoTimerRunsAndEmbeddingsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, profile := range []string{"naive-gpu", "vllm-pool"} {
			v := made(t, Options{Profile: profile})
			w := &stamped{header: http.Header{}}
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/embeddings", strings.NewReader(`{"model":"m","input":"text"}`))
			v.ServeHTTP(w, r)
			if e := v.Log()[0]; e.Outcome != Answered {
				t.Errorf("%s: log %+v", profile, e)
			}
		}
	})
}
