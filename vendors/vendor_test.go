package vendors

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"baton/engine/config"
	"baton/engine/outcome"
	"baton/vendors/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conf is a configuration with one vendor.
func conf(v config.Vendor) *config.Config {
	if v.Name == "" {
		v.Name = "lanyun"
	}
	return &config.Config{
		Probe:    config.Probe{Path: "/models"},
		Timeouts: config.Timeouts{Connect: time.Second},
		Vendors:  []config.Vendor{v},
	}
}

func open(t testing.TB, v config.Vendor, o Options) *Vendor {
	t.Helper()
	s, err := Open(conf(v), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.All()[0]
}

// bytesOf is a body that can be opened again and again.
func bytesOf(text string) Body {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// serve starts a vendor and stops it with the test.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func post(t testing.TB, v *Vendor, ctx context.Context, h http.Header, key *Key) (*http.Response, error) {
	t.Helper()
	const body = `{"model":"m"}`
	r, err := v.NewRequest(ctx, http.MethodPost, "/v1/chat/completions", "", h, bytesOf(body), int64(len(body)), key)
	if err != nil {
		t.Fatal(err)
	}
	return v.RoundTrip(r)
}

func TestNewRequest_JoinsURLs(t *testing.T) {
	for _, c := range []struct{ name, base, path, query, want string }{
		{"plain", "https://a.example/v1", "/v1/chat/completions", "", "https://a.example/v1/chat/completions"},
		{"slash at the end", "https://a.example/v1/", "/v1/models", "", "https://a.example/v1/models"},
		{"longer path", "https://a.example/compatible-mode/v1", "/v1/embeddings", "", "https://a.example/compatible-mode/v1/embeddings"},
		{"no path", "https://a.example", "/v1/models", "", "https://a.example/models"},
		{"escapes stay", "https://a.example/v1", "/v1/models/%2Fmaas%2Fx%20y", "", "https://a.example/v1/models/%2Fmaas%2Fx%20y"},
		{"double slashes stay", "https://a.example/v1", "/v1/models//maas//x", "", "https://a.example/v1/models//maas//x"},
		{"double slash first", "https://a.example", "/v1//models", "", "https://a.example//models"},
		{"query", "https://a.example/v1", "/v1/files", "limit=2&after=x%20y", "https://a.example/v1/files?limit=2&after=x%20y"},
		{"base's query", "https://a.example/openai/deployments/d?api-version=1", "/v1/chat/completions", "", "https://a.example/openai/deployments/d/chat/completions?api-version=1"},
		{"both, base's wins", "https://a.example/d?api-version=1", "/v1/files", "a=b&api%2Dversion=2&c", "https://a.example/d/files?api-version=1&a=b&c"},
		{"not our version", "https://a.example/v1", "/v10/x", "", "https://a.example/v1/v10/x"},
		{"dots in a name", "https://a.example/v1", "/v1/models/qwen3.7..plus", "", "https://a.example/v1/models/qwen3.7..plus"},
	} {
		v := open(t, config.Vendor{BaseURL: c.base}, Options{})
		r, err := v.NewRequest(t.Context(), http.MethodGet, c.path, c.query, nil, nil, 0, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.URL.String() != c.want || r.Host != "a.example" {
			t.Errorf("%s: %s to %s, want %s", c.name, r.URL, r.Host, c.want)
		}
	}
}

func TestNewRequest_StaysBeneathTheBase(t *testing.T) {
	v := open(t, config.Vendor{BaseURL: "https://a.example/v1"}, Options{})
	for _, path := range []string{"/v1/../admin", "/v1/%2e%2E/admin", "/v1/x/./y", "/v1/x%2f..%2fy", "/v1/%zz"} {
		_, err := v.NewRequest(t.Context(), http.MethodGet, path, "", nil, nil, 0, nil)
		if _, ok := errors.AsType[*PathError](err); !ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNewContinuation_TakesTheDialectsPath(t *testing.T) {
	for _, name := range DialectNames() {
		d, _ := Dialect(name)
		v := open(t, config.Vendor{BaseURL: "https://a.example/v1", Dialect: name}, Options{})
		r, err := v.NewContinuation(t.Context(), http.MethodPost, "/v1/chat/completions", "", nil, nil, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "/v1/chat/completions"
		if d.Prefill.BasePath != "" {
			want = strings.TrimRight(d.Prefill.BasePath, "/") + "/chat/completions"
		}
		if r.URL.Path != want {
			t.Errorf("%s: %s, want %s", name, r.URL.Path, want)
		}
	}
}

func TestNewRequest_NeverSendsWhatIsTheClients(t *testing.T) {
	got := make(chan http.Header, 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header })
	for _, c := range []struct{ dialect, header, value string }{
		{"openai", "Authorization", "Bearer sk-vendor-0123456789"},
		{"azure", "Api-Key", "sk-vendor-0123456789"},
	} {
		v := open(t, config.Vendor{BaseURL: url, Dialect: c.dialect, APIKeys: []config.Secret{config.NewSecret("sk-vendor-0123456789")}}, Options{})
		h := http.Header{
			"Authorization": {"Bearer client"}, "authorization": {"Bearer client"}, "Api-Key": {"client"}, "X-Api-Key": {"client"},
			"Cookie": {"session=client"}, "Proxy-Authorization": {"client"}, "Connection": {"X-Gone, close"}, "X-Gone": {"client"},
			"Keep-Alive": {"client"}, "Te": {"client"}, "Upgrade": {"client"}, "X-Baton-Lane": {"batch"}, "X-Forwarded-For": {"client"},
			"Openai-Organization": {"client"}, "Accept-Encoding": {"gzip"},
			"Content-Type": {"application/json"}, "X-Request-Id": {"r1"}, "X-Custom": {"a", "b"},
		}
		for _, key := range []*Key{v.Keys.Any(), nil} {
			answer, err := post(t, v, t.Context(), h, key)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			seen := <-got
			for name, values := range seen {
				if strings.Contains(strings.Join(values, " "), "client") || strings.HasPrefix(name, "X-Baton-") {
					t.Errorf("%s: the vendor got %s: %q", c.dialect, name, values)
				}
			}
			want := c.value
			if key == nil {
				want = ""
			}
			if seen.Get(c.header) != want || seen.Get("X-Request-Id") != "r1" || len(seen["X-Custom"]) != 2 ||
				seen.Get("Accept-Encoding") != "" || seen.Get("User-Agent") != "baton" || seen.Get("Content-Length") != "13" {
				t.Errorf("%s: the vendor got %v", c.dialect, seen)
			}
		}
		if h.Get("Authorization") != "Bearer client" {
			t.Error("the client's header was changed")
		}
	}
}

func TestRoundTrip_FollowsNoRedirectAndDecompressesNothing(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			w.Header().Set("Content-Encoding", "gzip")
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		t.Errorf("the vendor was asked for %s", r.URL.Path)
	})
	v := open(t, config.Vendor{BaseURL: url + "/v1"}, Options{})
	answer, err := post(t, v, t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusTemporaryRedirect || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
}

func TestRoundTrip_UsesConnectionsAgain(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]bool{}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		conns[r.RemoteAddr] = true
		_, _ = io.Copy(w, r.Body)
	})
	v := open(t, config.Vendor{BaseURL: url}, Options{})
	for range 20 {
		answer, err := post(t, v, t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(answer.Body); string(b) != `{"model":"m"}` {
			t.Errorf("the vendor got %q", b)
		}
		_ = answer.Body.Close()
	}
	if len(conns) != 1 {
		t.Errorf("%d connections for 20 requests in a row", len(conns))
	}
}

// overTLS starts a vendor that speaks HTTP/2 and returns the way to it.
func overTLS(t *testing.T, h http.HandlerFunc, o Options) *Vendor {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	v := open(t, config.Vendor{BaseURL: server.URL}, o)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	v.link.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return v
}

func TestRoundTrip_SpeaksHTTP2OverTLS(t *testing.T) {
	v := overTLS(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }, Options{})
	answer, err := post(t, v, t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if b, _ := io.ReadAll(answer.Body); string(b) != "HTTP/2.0" {
		t.Errorf("the vendor was asked over %s", b)
	}
}

func TestCut_ResetsStreamsOverHTTP2(t *testing.T) {
	faults := fault.NewSet()
	v := overTLS(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: x\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, Options{Faults: faults})
	answer, err := post(t, v, t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.ReadFull(answer.Body, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	defer faults.Point("lanyun").Inject(time.Now(), fault.Spec{Kind: fault.Reset}).Release()
	if _, err := answer.Body.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestProxy_IsNeverBetweenUsAndThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost:8080": true, "127.0.0.1": true, "127.8.8.8:1": true, "[::1]:80": true,
		"a.example": false, "localhost.example": false, "10.0.0.1": false,
	} {
		b, err := parseBase("http://" + host)
		if err != nil || b.loopback() != want || want && proxyFor(b) != nil {
			t.Errorf("%s: on this machine %v, %v", host, b.loopback(), err)
		}
	}
}

// TestFaults_AreClassifiedAsRealFailures puts every fault through the classifier, which knows of none.
func TestFaults_AreClassifiedAsRealFailures(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	faults := fault.NewSet()
	v := open(t, config.Vendor{BaseURL: url}, Options{Faults: faults})
	for kind, want := range map[fault.Kind]struct {
		outcome outcome.Outcome
		reason  string
		unsent  bool
	}{
		fault.Refuse:  {outcome.VendorFault, "connection_refused", true},
		fault.DNS:     {outcome.VendorFault, "dns_failed", true},
		fault.TLS:     {outcome.VendorFault, "tls_failed", true},
		fault.Reset:   {outcome.VendorFault, "connection_reset", false},
		fault.HTTP500: {outcome.VendorFault, "internal_error", false},
		fault.HTTP503: {outcome.VendorFault, "server_is_overloaded", false},
		fault.HTTP429: {outcome.RateLimited, "rate_limit_exceeded", false},
		fault.Auth:    {outcome.AccountFault, "invalid_api_key", false},
	} {
		l := faults.Point("lanyun").Inject(time.Now(), fault.Spec{Kind: kind})
		a := outcome.Attempt{Phase: outcome.Header, Dialect: v.Dialect}
		answer, err := post(t, v, t.Context(), nil, nil)
		if a.Err = err; err == nil {
			a.Status, a.Header = answer.StatusCode, answer.Header.Get
			a.Body, _ = io.ReadAll(answer.Body)
			_ = answer.Body.Close()
		} else if NothingSent(err) {
			a.Phase = outcome.Connect
		}
		got := outcome.Classify(a)
		if got.Outcome != want.outcome || got.Reason != want.reason || got.Connect != want.unsent {
			t.Errorf("%s: %v %q, connect %v; want %v %q, %v", kind, got.Outcome, got.Reason, got.Connect, want.outcome, want.reason, want.unsent)
		}
		l.Release()
	}
	answer, err := post(t, v, t.Context(), nil, nil)
	if err != nil {
		t.Fatalf("after the faults: %v", err)
	}
	_ = answer.Body.Close()
}

func TestNothingSent_OfRealFailures(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	plain := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, c := range map[string]struct {
		url  string
		want bool
	}{
		"refused":             {"http://" + closed.Addr().String(), true},
		"no TLS there":        {strings.Replace(plain, "http:", "https:", 1), true},
		"closed after asking": {plain, false},
	} {
		v := open(t, config.Vendor{BaseURL: c.url}, Options{})
		_, err := post(t, v, t.Context(), nil, nil)
		if err == nil || NothingSent(err) != c.want {
			t.Errorf("%s: %v (%T): nothing sent %v, want %v", name, err, err, NothingSent(err), c.want)
		}
	}
	if NothingSent(nil) || NothingSent(context.Canceled) {
		t.Error("no error, or a cancelled request, counts as nothing sent")
	}
}

func TestOpen_TellsOfEveryVendorThatCannotBeMade(t *testing.T) {
	_, err := Open(&config.Config{Vendors: []config.Vendor{
		{Name: "a", BaseURL: "ftp://x"},
		{Name: "b", BaseURL: "https://user:hush@x"},
		{Name: "c", BaseURL: "https://x", Dialect: "klingon"},
		{Name: "d", Simulate: "elastic"},
	}}, Options{})
	if err == nil {
		t.Fatal("opened")
	}
	for _, want := range []string{`"a"`, `"b"`, `"klingon"`, `"elastic"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("%q quotes a password", err)
	}
}

func TestOpen_AsksForTheAddressOfASimulatedVendor(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	v := open(t, config.Vendor{Simulate: "elastic"}, Options{SimURL: func(string) string { return url + "/v1" }})
	answer, err := post(t, v, t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if b, _ := io.ReadAll(answer.Body); string(b) != "/v1/chat/completions" || !v.Simulated {
		t.Errorf("asked for %s, simulated %v", b, v.Simulated)
	}
}

func TestReload_KeepsConnectionsAndKeys(t *testing.T) {
	faults := fault.NewSet()
	keys := []config.Secret{config.NewSecret("sk-first-000000001111"), config.NewSecret("sk-other-000000002222")}
	before, err := Open(conf(config.Vendor{BaseURL: "https://a.example/v1", APIKeys: keys}), Options{Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	old := before.Vendor("lanyun")
	old.Keys.All()[0].Revoke()
	after, err := Open(conf(config.Vendor{BaseURL: "https://a.example/v1", APIKeys: keys[:1], Weight: 5}), Options{Faults: faults, Before: before})
	if err != nil {
		t.Fatal(err)
	}
	v := after.Vendor("lanyun")
	if v.link != old.link || v.Keys.Live() != 0 {
		t.Errorf("same connections %v, %d live keys", v.link == old.link, v.Keys.Live())
	}
	moved, err := Open(conf(config.Vendor{BaseURL: "https://b.example/v1", APIKeys: keys}), Options{Faults: faults, Before: after})
	if err != nil {
		t.Fatal(err)
	}
	if m := moved.Vendor("lanyun"); m.link == v.link || m.Keys.Live() != 1 {
		t.Errorf("another address shares connections: %v; %d live keys", m.link == v.link, m.Keys.Live())
	}
	before.Close()
	after.Close()
	moved.Close()
}

func TestProbe_IsGoodBelow500(t *testing.T) {
	status := http.StatusOK
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer sk-probe-000000001111" {
			t.Errorf("probed with %s %s %v", r.Method, r.URL, r.Header)
		}
		w.WriteHeader(status)
	})
	faults := fault.NewSet()
	v := open(t, config.Vendor{BaseURL: url + "/v1", APIKeys: []config.Secret{config.NewSecret("sk-probe-000000001111")}}, Options{Faults: faults})
	for status = range map[int]bool{200: true, 302: true, 404: true, 429: true} {
		if err := v.Probe(t.Context(), nil); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status = range []int{401, 403} {
		var account *AccountError
		if err := v.Probe(t.Context(), nil); !errors.As(err, &account) || account.Key != "…1111" {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status = range []int{500, 503} {
		var bad *StatusError
		if err := v.Probe(t.Context(), nil); !errors.As(err, &bad) || bad.Status != status {
			t.Errorf("%d: %v", status, err)
		}
	}
	status = 200
	l := faults.Point("lanyun").Inject(time.Now(), fault.Spec{Kind: fault.Refuse})
	if err := v.Probe(t.Context(), nil); err == nil || !NothingSent(err) {
		t.Errorf("under a fault: %v", err)
	}
	l.Release()

	c := conf(config.Vendor{BaseURL: url})
	c.Probe.Path = ""
	s, err := Open(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Vendor("lanyun").Probe(t.Context(), nil); !errors.Is(err, ErrNoProbe) {
		t.Errorf("without a path: %v", err)
	}
}

func TestClosedFault_FreesTheRequestWithinASecondOfItsClient(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	faults := fault.NewSet()
	v := open(t, config.Vendor{BaseURL: url}, Options{Faults: faults})
	defer faults.Point("lanyun").Inject(time.Now(), fault.Spec{Kind: fault.Blackhole}).Release()
	left := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(left) })
	if _, err := post(t, v, ctx, nil, nil); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
}

// Budget: 8 allocations, most of them the request, its URL and its header.
func BenchmarkNewRequest(b *testing.B) {
	v := open(b, config.Vendor{BaseURL: "https://a.example/v1", APIKeys: []config.Secret{config.NewSecret("sk-first-000000001111")}}, Options{})
	h := http.Header{"Content-Type": {"application/json"}, "Authorization": {"x"}, "User-Agent": {"x"}, "Accept": {"*/*"}}
	body := bytesOf("{}")
	b.ReportAllocs()
	for b.Loop() {
		key, _ := v.Keys.Take(time.Time{})
		if _, err := v.NewRequest(b.Context(), http.MethodPost, "/v1/chat/completions", "", h, body, 2, key); err != nil {
			b.Fatal(err)
		}
	}
}
