package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// cutAfter is a vendor that breaks its connection after n words.
func cutAfter(name string, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := say{w}
		s.begin()
		s.role()
		s.words(name, 1, n)
		panic(http.ErrAbortHandler)
	}
}

func TestCommit_CutAfterFortyWordsEndsWithOneErrorAndNobodyElseIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(cutAfter("lanyun", 40))
	x := w.chat(askStream)
	text, ended := x.text()
	if x.err != nil || x.status != http.StatusOK || text != words("lanyun", 40) || ended {
		t.Fatalf("status %d, error %v, ended %v, text %q", x.status, x.err, ended, text)
	}
	if n := strings.Count(x.body, `"code":"upstream_interrupted"`); n != 1 || !strings.HasSuffix(x.body, "}}\n\n") {
		t.Errorf("%d errors in %q, want one at the end", n, x.short())
	}
	if w.b.tries() != 0 {
		t.Error("the other vendor was asked")
	}
	list := w.g.Failures("", 0)
	if len(list) != 1 || list[0].Outcome != "vendor_fault" || list[0].Rescued || list[0].Vendor != "lanyun" {
		t.Errorf("failures %+v", list)
	}
}

func TestCommit_NothingOfAFailedAttemptShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Vendor-Id", "lanyun-secret")
		rw.Header().Set("Set-Cookie", "a=lanyun")
		s := say{rw}
		s.begin()
		s.role()
		s.raw(": lanyun is thinking\n\n")
		s.raw("data: {\"id\":\"lanyun-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n")
		s.raw("data: {\"error\":{\"message\":\"lanyun fell over\",\"type\":\"server_error\",\"code\":\"x\"}}\n\n")
	})
	x := w.chat(askStream)
	w.wants(x, "bailian")
	for h := range x.header {
		if strings.Contains(fmt.Sprint(x.header[h]), "lanyun") {
			t.Errorf("header %s of the failed attempt: %q", h, x.header[h])
		}
	}
	if strings.Contains(x.body, "lanyun") {
		t.Errorf("text of the failed attempt:\n%s", x.short())
	}
}

// Whatever breaks wherever, what the client has is the beginning of one vendor's answer.
func TestCommit_TextIsAPrefixOfOneVendors(t *testing.T) {
	t.Parallel()
	for n := 0; n <= 60; n += 6 {
		for _, other := range []int{0, 3, 60} {
			for _, lane := range []string{"interactive", "batch"} {
				t.Run(fmt.Sprintf("%s %d and %d", lane, n, other), func(t *testing.T) {
					w := newWorld(t, nil)
					w.a.does(cutAfter("lanyun", n))
					w.b.does(cutAfter("bailian", other))
					x := w.chat(askStream, headerLane, lane)
					text, ended := x.text()
					if ended {
						t.Fatal("a cut answer looks whole")
					}
					if x.status != http.StatusOK {
						text = ""
					}
					if !strings.HasPrefix(words("lanyun", 60), text) && !strings.HasPrefix(words("bailian", 60), text) {
						t.Fatalf("a mixture: %q", text)
					}
					if lane == "batch" && x.status != http.StatusBadGateway {
						t.Errorf("status %d, want 502", x.status)
					}
				})
			}
		}
	}
}

func TestCommit_EachEventLeavesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	step := make(chan struct{})
	w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
		s := say{rw}
		s.begin()
		for i := 1; i <= 5; i++ {
			s.words("lanyun", i, i)
			<-step
		}
		s.finish("lanyun")
		s.done()
	})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+chatPath, strings.NewReader(askStream))
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 4096)
	for i := 1; i <= 5; i++ {
		n, err := res.Body.Read(buf)
		if err != nil || !strings.Contains(string(buf[:n]), fmt.Sprintf("lanyun%d ", i)) {
			t.Fatalf("event %d: %q, %v", i, buf[:n], err)
		}
		step <- struct{}{}
	}
	_, _ = io.Copy(io.Discard, res.Body)
}

func TestCommit_BytesAreTheVendors(t *testing.T) {
	t.Parallel()
	const stream = ": hello\n\nid: 1\nevent: message\ndata:{\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"odd\":  [1 ,2]}\n\n" +
		"retry: 5\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n"
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
		s := say{rw}
		s.begin()
		s.raw(stream)
	})
	for _, lane := range []string{"interactive", "batch"} {
		want := strings.TrimPrefix(stream, ": hello\n\n") // a comment before the commit point goes nowhere
		if lane == "batch" {
			want = strings.Replace(want, "retry: 5\n\n", "", 1)
		}
		if x := w.chat(askStream, headerLane, lane); x.body != want {
			t.Errorf("%s:\n%q, want\n%q", lane, x.body, want)
		}
	}
	const whole = "\n\n {\"choices\":[{\"index\":0, \"message\":{\"content\":\"\\u00e9\"} ,\"finish_reason\":\"length\"}]}\n"
	w.a.does(refuses(http.StatusOK, whole))
	if x := w.chat(askWhole); x.body != whole {
		t.Errorf("%q, want %q", x.body, whole)
	}
}

func TestCommit_CommentsAndEmptyDeltasArmNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		for r.Context().Err() == nil {
			s.raw(": keep-alive\n\n")
			s.role()
			time.Sleep(20 * time.Millisecond)
		}
	})
	x := w.chat(askStream)
	w.wants(x, "bailian")
	if x.took > 3*slack*time.Second {
		t.Errorf("it took %s", x.took)
	}
	if list := w.g.Failures("lanyun", 0); len(list) != 1 || list[0].Clock != "first_token" {
		t.Errorf("failures %+v, want one by the first_token clock", list)
	}
}

func TestCommit_IdleClockCountsMeaningfulEventsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 20)
		for r.Context().Err() == nil {
			s.raw(": keep-alive\n\n")
			time.Sleep(20 * time.Millisecond)
		}
	})
	x := w.chat(askStream)
	if x.took > 3*slack*time.Second || !strings.Contains(x.body, codeInterrupted) {
		t.Errorf("it took %s and ended with %q", x.took, x.short())
	}
	select {
	case <-w.a.left:
	case <-time.After(slack * time.Second):
		t.Error("the vendor's connection stayed open")
	}
	if list := w.g.Failures("lanyun", 0); len(list) != 1 || list[0].Clock != "idle" {
		t.Errorf("failures %+v, want one by the idle clock", list)
	}
}

func TestCommit_SuppliesDoneAndStripsUsageNobodyAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		_, usage := asked(r)
		if !usage {
			t.Error("usage was not asked for upstream")
		}
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 60)
		s.finish("lanyun")
		s.usage()
	})
	x := w.chat(askStream)
	w.wants(x, "lanyun")
	if strings.Contains(x.body, "prompt_tokens") {
		t.Errorf("usage shows:\n%s", x.short())
	}
	x = w.chat(`{"model":"m","stream":true,"stream_options":{"include_usage":true}}`)
	if w.wants(x, "lanyun"); !strings.Contains(x.body, "prompt_tokens") {
		t.Errorf("the usage that was asked for is missing:\n%s", x.short())
	}
}

func TestCommit_AFinishedStreamThatStaysOpenEndsSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"TIMEOUTS": `idle = "30s"`})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 60)
		s.finish("lanyun")
		s.usage()
		<-r.Context().Done()
	})
	x := w.chat(askStream)
	w.wants(x, "lanyun")
	if x.took > 10*time.Second { // long before the idle clock
		t.Errorf("it took %s", x.took)
	}
}

func TestBatch_WaitsForTheLimitAndInteractiveDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	limit := refuses(http.StatusTooManyRequests, openAIError("rate_limit_exceeded"), "Retry-After", "2")
	w.a.does(limit)
	w.b.does(limit)
	x := w.chat(askWhole)
	if x.status != http.StatusTooManyRequests || x.header.Get("Retry-After") == "" || x.took > 1900*time.Millisecond {
		t.Errorf("status %d, Retry-After %q after %s; want 429 at once", x.status, x.header.Get("Retry-After"), x.took)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		w.a.does(well("lanyun"))
		w.b.does(well("bailian"))
	}()
	x = w.chat(askWhole, headerLane, control.Batch.String())
	if x.status != http.StatusOK {
		t.Errorf("batch: status %d %s", x.status, x.body)
	}
}

func TestCommit_StripsUsageWithoutChoicesToo(t *testing.T) {
	t.Parallel()
	for _, choices := range []string{``, `"choices":null,`, `"choices":[],`} {
		w := newWorld(t, nil)
		w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
			s := say{rw}
			s.begin()
			s.words("lanyun", 1, 60)
			s.finish("lanyun")
			s.raw("data: {\"id\":\"u\"," + choices + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":60,\"total_tokens\":65}}\n\n")
			s.done()
		})
		x := w.chat(askStream)
		if w.wants(x, "lanyun"); strings.Contains(x.body, "prompt_tokens") {
			t.Errorf("usage with %q shows:\n%s", choices, x.short())
		}
	}
}
