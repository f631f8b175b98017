package fault

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// first returns the first n events of the test's stream.
func first(n int) string {
	return strings.Join(strings.SplitAfter(streamed(), "\n\n")[:n], "")
}

func TestSlowFirstToken_DelaysTheFirstEventAndNotTheHeaders(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: SlowFirstToken, Delay: 80 * time.Millisecond})
	began := time.Now()
	r, err := p.ask(t, t.Context(), "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	headers := time.Since(began)
	b, err := io.ReadAll(r.Body)
	if took := time.Since(began); err != nil || string(b) != streamed() || headers > 60*time.Millisecond || took < 80*time.Millisecond {
		t.Errorf("headers after %v, all %d bytes after %v, %v", headers, len(b), took, err)
	}
}

func TestSlowFirstToken_DelaysAWholeAnswer(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: SlowFirstToken, Delay: 50 * time.Millisecond})
	began := time.Now()
	r, err := p.ask(t, t.Context(), "/whole")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("headers after %v", took)
	}
	if b, err := io.ReadAll(r.Body); string(b) != wholeAnswer || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

func TestSlowFirstToken_EndsWithTheContextAndWithClose(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: SlowFirstToken})
	for _, at := range []string{"/stream", "/whole"} {
		if _, _, err := p.read(t, within(t, 30*time.Millisecond), at); err == nil {
			t.Errorf("%s was answered", at)
		}
	}
	r, err := p.ask(t, t.Context(), "/stream")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = r.Body.Close() })
	if _, err := r.Body.Read(make([]byte, 10)); err == nil {
		t.Error("a closed body was read")
	}
}

func TestSlowDrip_PacesEvents(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: SlowDrip, Rate: 100})
	for at, least := range map[string]time.Duration{"/stream": events * 10 * time.Millisecond, "/whole": 50 * time.Millisecond} {
		began := time.Now()
		_, body, err := p.read(t, t.Context(), at)
		if took := time.Since(began); err != nil || body != bothKinds[at] || took < least {
			t.Errorf("%s: %d bytes in %v, %v; want at least %v", at, len(body), took, err, least)
		}
	}
}

func TestCutStream_EndsAfterItsEvents(t *testing.T) {
	for _, after := range []int{0, 1, 10} {
		p := newPath(t)
		p.inject(t, Spec{Kind: CutStream, After: after})
		_, body, err := p.read(t, t.Context(), "/stream")
		if !errors.Is(err, io.ErrUnexpectedEOF) || body != first(after) {
			t.Errorf("after %d: %q, %v", after, body, err)
		}
	}
}

func TestCutStream_LooksLikeARealCut(t *testing.T) {
	p := newPath(t)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/held", nil)
	answer, err := p.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	go func() { close(p.gate) }()
	_, _ = io.ReadAll(answer.Body)
	p.inject(t, Spec{Kind: CutStream})
	for at := range bothKinds {
		if _, _, err := p.read(t, t.Context(), at); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestWholeAnswers_BreakHalfway(t *testing.T) {
	half := (len(wholeAnswer) + 1) / 2
	t.Run("cut_stream", func(t *testing.T) {
		p := newPath(t)
		p.inject(t, Spec{Kind: CutStream, After: 10})
		_, body, err := p.read(t, t.Context(), "/whole")
		if !errors.Is(err, io.ErrUnexpectedEOF) || body != wholeAnswer[:half] {
			t.Errorf("%q, %v", body, err)
		}
	})
	t.Run("garbage", func(t *testing.T) {
		p := newPath(t)
		p.inject(t, Spec{Kind: Garbage, After: 10})
		_, body, err := p.read(t, t.Context(), "/whole")
		if err != nil || len(body) != len(wholeAnswer) || body[:half] != wholeAnswer[:half] || !strings.Contains(body[half:], "<html>") {
			t.Errorf("%q, %v", body, err)
		}
	})
	t.Run("stall_stream", func(t *testing.T) {
		p := newPath(t)
		p.inject(t, Spec{Kind: StallStream, After: 10})
		_, body, err := p.read(t, within(t, 50*time.Millisecond), "/whole")
		if err == nil || body != wholeAnswer[:half] {
			t.Errorf("%q, %v", body, err)
		}
	})
}

func TestStallStream_FallsSilentAndGoesOnWhenItEnds(t *testing.T) {
	p := newPath(t)
	l := p.inject(t, Spec{Kind: StallStream, After: 3})
	_, body, err := p.read(t, within(t, 50*time.Millisecond), "/stream")
	if err == nil || body != first(3) {
		t.Errorf("%q, %v", body, err)
	}
	time.AfterFunc(30*time.Millisecond, l.Release)
	if _, body, err := p.read(t, within(t, 5*time.Second), "/stream"); err != nil || body != streamed() {
		t.Errorf("after the fault: %d bytes, %v", len(body), err)
	}
}

func TestGarbage_BreaksEveryLaterEvent(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: Garbage, After: 10})
	_, body, err := p.read(t, t.Context(), "/stream")
	want := first(10) + strings.Repeat(badEvent, events+1-10)
	if err != nil || body != want {
		t.Errorf("%q, %v", body, err)
	}
}

// TestPieces_CountEventsHoweverTheyArrive feeds the same events in every spelling and size of reads.
func TestPieces_CountEventsHoweverTheyArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, text := range map[string]string{
			"lf":                        "data: a\n\ndata: b\n\ndata: c\n\n",
			"crlf":                      "data: a\r\n\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
			"blank lines between them":  "\n\ndata: a\n\n\n\ndata: b\n\n\ndata: c\n\n",
			"comments and names inside": ": hi\nevent: x\ndata: a\n\ndata: b\ndata: b\n\n: c\n\n",
		} {
			for _, one := range []bool{false, true} {
				var r io.Reader = strings.NewReader(text)
				if one {
					r = iotest.OneByteReader(r)
				}
				s := &pieces{body: io.NopCloser(r), stream: true, closed: make(chan struct{})}
				got := new(bytes.Buffer)
				for {
					p := make([]byte, 5)
					n, _, err := s.next(p)
					got.Write(p[:n])
					if err != nil {
						break
					}
				}
				if got.String() != text || s.passed != 3 {
					t.Errorf("%s, one byte %v: %d events, %q", name, one, s.passed, got)
				}
			}
		}
	})
}
