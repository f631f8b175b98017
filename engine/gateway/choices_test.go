package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// twice is a vendor's answer of two choices, the second after the first, with what
// happens inside the second.
func twice(name, finish string, inside func(s say)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := say{w}
		s.begin()
		s.words(name, 1, 30)
		s.finish(name)
		for i := 31; i <= 60; i++ {
			if i == 60 && inside != nil {
				inside(s)
			}
			s.raw(fmt.Sprintf("data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"%s%d \"}}]}\n\n", name, i))
		}
		s.raw(fmt.Sprintf("data: {\"choices\":[{\"delta\":{},\"finish_reason\":%q,\"index\":1}]}\n\n", finish))
		s.done()
	}
}

const askTwo = `{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true,"n":2}`

func TestChoices_AStreamIsWholeWhenEachOfThemIs(t *testing.T) {
	t.Parallel()
	breaks := func(say) { panic(http.ErrAbortHandler) }
	completion := func(w http.ResponseWriter, _ *http.Request) {
		s := say{w}
		s.begin()
		s.raw("data: {\"choices\":[{\"index\":0,\"text\":\"lanyun1 \",\"finish_reason\":\"stop\"}]}\n\n")
		breaks(s)
	}
	tests := []struct {
		name, path, ask string
		vendor          http.HandlerFunc
		whole           bool
	}{
		{"both finished", chatPath, askTwo, twice("lanyun", "stop", nil), true},
		{"the second is cut", chatPath, askTwo, twice("lanyun", "stop", breaks), false},
		{"the second is cut, and nobody asked for it", chatPath, askStream, twice("lanyun", "stop", breaks), false},
		{"the second ends badly", chatPath, askTwo, twice("lanyun", "insufficient_system_resource", nil), false},
		{"the second prompt is never answered", "/v1/completions", `{"model":"m","prompt":["a","b"],"stream":true}`, completion, false},
		{"one that goes on after its finish is cut", chatPath, askStream, func(w http.ResponseWriter, _ *http.Request) {
			s := say{w}
			s.begin()
			s.words("lanyun", 1, 30)
			s.finish("lanyun")
			s.words("lanyun", 31, 40)
			breaks(s)
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.a.does(tt.vendor)
			w.b.does(twice("bailian", "stop", nil))
			x := w.do(http.MethodPost, tt.path, tt.ask)
			if tt.whole {
				w.wants(x, "lanyun")
			} else if _, ended := x.text(); ended || !strings.Contains(x.body, codeInterrupted) || w.b.tries() != 0 {
				t.Errorf("interactive: ended %v, %d tries at the other vendor:\n%s", ended, w.b.tries(), x.short())
			}
			x = w.do(http.MethodPost, tt.path, tt.ask, headerLane, "batch")
			if tt.whole {
				w.wants(x, "lanyun")
			} else {
				w.wants(x, "bailian")
			}
		})
	}
}

func TestChoices_ThatPauseAfterAnothersFinishAreNotCut(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{"asked for": askTwo, "not asked for": askStream} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"TIMEOUTS": `idle = "20s"`})
			w.a.does(twice("lanyun", "stop", func(say) { time.Sleep(tailFinished + 600*time.Millisecond) }))
			w.wants(w.chat(ask), "lanyun")
		})
	}
}
