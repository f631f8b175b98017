package gateway

import (
	"net/http"
	"testing"
)

func TestGateway_AnswersFromThePrimary(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"streamed": askStream, "whole": askWhole} {
		for _, lane := range []string{"interactive", "batch"} {
			t.Run(name+" "+lane, func(t *testing.T) {
				w := newWorld(t, nil)
				x := w.chat(body, headerLane, lane, headerRequestID, "mine")
				w.wants(x, "lanyun")
				for h, want := range map[string]string{headerAttempts: "1", headerLane: lane, headerRequestID: "mine", "X-Vendor": "lanyun"} {
					if got := x.header.Get(h); got != want {
						t.Errorf("%s is %q, want %q", h, got, want)
					}
				}
				if w.a.tries() != 1 || w.b.tries() != 0 {
					t.Errorf("tries %d and %d, want 1 and 0", w.a.tries(), w.b.tries())
				}
			})
		}
	}
}

func TestGateway_FailsOverBeforeTheCommitPoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(refuses(http.StatusInternalServerError, `{"error":{"message":"broken"}}`))
	x := w.chat(askStream)
	w.wants(x, "bailian")
	if got := x.header.Get(headerAttempts); got != "2" {
		t.Errorf("%s is %q, want 2", headerAttempts, got)
	}
}
