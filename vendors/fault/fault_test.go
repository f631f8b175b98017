package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const events = 20

// wholeAnswer is what the vendor of the tests answers when no stream is asked for.
var wholeAnswer = `{"choices":[{"message":{"content":"` + strings.Repeat("word ", 60) + `"},"finish_reason":"stop"}]}`

// streamed is what it answers when one is.
func streamed() string {
	var b strings.Builder
	for i := range events {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"delta\":{\"content\":\"w%d \"}}]}\n\n", i)
	}
	return b.String() + "data: [DONE]\n\n"
}

// path is a client, a point and a vendor on a loopback port.
type path struct {
	point     *Point
	trip      http.RoundTripper
	transport *http.Transport
	url       string
	arrivals  atomic.Int64
	gate      chan struct{} // streams wait here in their midst; closed: they do not
}

func newPath(t testing.TB) *path {
	t.Helper()
	p := &path{point: new(Point), gate: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	dialer := &net.Dialer{}
	p.transport = &http.Transport{DialContext: p.point.Dial(dialer.DialContext)}
	p.trip = p.point.Wrap(p.transport)
	p.url = server.URL
	remove := p.point.OnChange(p.transport.CloseIdleConnections)
	t.Cleanup(func() {
		remove()
		p.point.Clear()
		p.transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

func (p *path) serve(w http.ResponseWriter, r *http.Request) {
	p.arrivals.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	switch r.URL.Path {
	case "/stream", "/held":
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i, e := range strings.SplitAfter(streamed(), "\n\n") {
			if i == events/2 && r.URL.Path == "/held" {
				select {
				case <-p.gate:
				case <-r.Context().Done():
					return
				}
			}
			_, _ = io.WriteString(w, e)
			_ = http.NewResponseController(w).Flush()
		}
	case "/silent":
		select {
		case <-p.gate:
		case <-r.Context().Done():
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, wholeAnswer)
	}
}

func (p *path) inject(t testing.TB, s Spec) *Lease {
	t.Helper()
	l := p.point.Inject(time.Now(), s)
	t.Cleanup(l.Release)
	return l
}

// ask posts to the vendor and returns the answer with its body unread.
func (p *path) ask(t testing.TB, ctx context.Context, at string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+at, strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	return p.trip.RoundTrip(r)
}

// read asks and reads all there is.
func (p *path) read(t testing.TB, ctx context.Context, at string) (status int, body string, err error) {
	t.Helper()
	r, err := p.ask(t, ctx, at)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

var bothKinds = map[string]string{"/stream": streamed(), "/whole": wholeAnswer}

func TestPoint_WithoutFaultPassesEveryByte(t *testing.T) {
	p := newPath(t)
	for at, want := range bothKinds {
		status, body, err := p.read(t, t.Context(), at)
		if status != 200 || body != want || err != nil {
			t.Errorf("%s: %d, %d bytes, %v; want 200 and %d bytes", at, status, len(body), err, len(want))
		}
	}
}

// sameChain says whether two errors have the same types all the way down, and the same errno.
func sameChain(a, b error) string {
	for {
		if fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
			return fmt.Sprintf("%T and %T", a, b)
		}
		x, y := errors.Unwrap(a), errors.Unwrap(b)
		if x == nil && y == nil {
			return ""
		}
		if x == nil || y == nil {
			return fmt.Sprintf("one ends at %T", a)
		}
		a, b = x, y
	}
}

func TestRefuse_LooksLikeAPortWithoutListener(t *testing.T) {
	p := newPath(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	_ = l.Close()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, closed, strings.NewReader("{}"))
	_, real := p.trip.RoundTrip(r)
	p.inject(t, Spec{Kind: Refuse})
	_, ours := p.trip.RoundTrip(r)
	if diff := sameChain(real, ours); diff != "" || real.Error() != ours.Error() {
		t.Errorf("real %q, ours %q: %s", real, ours, diff)
	}
	for at := range bothKinds {
		if _, err := p.ask(t, t.Context(), at); err == nil {
			t.Errorf("%s was answered", at)
		}
	}
	if n := p.arrivals.Load(); n != 0 {
		t.Errorf("the vendor saw %d requests, want none", n)
	}
}

func TestReset_LooksLikeAVendorThatResets(t *testing.T) {
	p := newPath(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 1024))
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), strings.NewReader("{}"))
	_, real := p.transport.RoundTrip(r)
	p.inject(t, Spec{Kind: Reset})
	_, ours := p.ask(t, t.Context(), "/whole")
	if diff := sameChain(real, ours); diff != "" {
		t.Errorf("real %q (%T), ours %q (%T): %s", real, real, ours, ours, diff)
	}
}

func TestDNS_LooksLikeANameThatDoesNotExist(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: DNS})
	_, err := p.ask(t, t.Context(), "/whole")
	var op *net.OpError
	var name *net.DNSError
	if !errors.As(err, &op) || op.Op != "dial" || !errors.As(err, &name) || !name.IsNotFound || name.Name != "127.0.0.1" {
		t.Errorf("got %#v", err)
	}
}

func TestTLS_LooksLikeAnExpiredCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	defer server.Close()
	client := server.Client().Transport.(*http.Transport).Clone()
	client.TLSClientConfig.Time = func() time.Time { return time.Now().AddDate(200, 0, 0) }
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	_, real := client.RoundTrip(r)
	client.CloseIdleConnections()

	p := newPath(t)
	p.inject(t, Spec{Kind: TLS})
	_, ours := p.ask(t, t.Context(), "/whole")
	if diff := sameChain(real, ours); diff != "" {
		t.Errorf("real %v, ours %v: %s", real, ours, diff)
	}
	if !strings.HasPrefix(ours.Error(), "tls: failed to verify certificate: x509: certificate has expired") {
		t.Errorf("ours says %q", ours)
	}
}

func TestStatuses_AnswerWithoutTheVendor(t *testing.T) {
	for kind, want := range map[Kind]int{HTTP500: 500, HTTP503: 503, HTTP429: 429, Auth: 401} {
		t.Run(string(kind), func(t *testing.T) {
			p := newPath(t)
			p.inject(t, Spec{Kind: kind})
			for at := range bothKinds {
				r, err := p.ask(t, t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				b, _ := io.ReadAll(r.Body)
				_ = r.Body.Close()
				if r.StatusCode != want || !strings.HasPrefix(string(b), `{"error":{`) || int64(len(b)) != r.ContentLength {
					t.Errorf("%s: %d %q", at, r.StatusCode, b)
				}
				if (r.Header.Get("Retry-After") != "") != (kind == HTTP429) {
					t.Errorf("%s: Retry-After %q", at, r.Header.Get("Retry-After"))
				}
			}
			if n := p.arrivals.Load(); n != 0 {
				t.Errorf("the vendor saw %d requests, want none", n)
			}
		})
	}
}

func TestBlackhole_LastsUntilTheContextEnds(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: Blackhole})
	cause := errors.New("the header clock")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, cause)
	defer cancel()
	began := time.Now()
	_, err := p.ask(t, ctx, "/stream")
	if !errors.Is(err, cause) || time.Since(began) < 30*time.Millisecond {
		t.Errorf("after %v: %v, want the context's cause", time.Since(began), err)
	}
}

func TestBlackhole_LetsGoWhenTheFaultEnds(t *testing.T) {
	p := newPath(t)
	l := p.inject(t, Spec{Kind: Blackhole})
	time.AfterFunc(20*time.Millisecond, l.Release)
	if _, body, err := p.read(t, within(t, 5*time.Second), "/whole"); err != nil || body != wholeAnswer {
		t.Errorf("%q, %v", body, err)
	}
}

func TestFailedAttempts_CloseTheirBody(t *testing.T) {
	p := newPath(t)
	for _, kind := range []Kind{Refuse, Reset, DNS, TLS, HTTP500, HTTP503, HTTP429, Auth, Blackhole} {
		l := p.inject(t, Spec{Kind: kind})
		body := &closing{Reader: strings.NewReader("{}")}
		r, _ := http.NewRequestWithContext(within(t, 10*time.Millisecond), http.MethodPost, p.url, body)
		answer, err := p.trip.RoundTrip(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !body.closed {
			t.Errorf("%s leaves the request's body open", kind)
		}
		l.Release()
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestErrno_IsTheSystems(t *testing.T) {
	p := newPath(t)
	p.inject(t, Spec{Kind: Refuse})
	_, err := p.ask(t, t.Context(), "/whole")
	var call *os.SyscallError
	if !errors.As(err, &call) || call.Syscall != "connect" {
		t.Errorf("got %v", err)
	}
}
