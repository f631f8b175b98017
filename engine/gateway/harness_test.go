package gateway

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/sse"
	"baton/vendors"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "12") // they wait for clocks, most of the time
	goleak.VerifyTestMain(m)
}

// vendor is a vendor of a test: a real server whose handler misbehaves as it likes.
type vendor struct {
	name   string
	mu     sync.Mutex
	handle http.HandlerFunc
	bodies [][]byte
	heads  []http.Header
	paths  []string
	left   chan struct{} // gets one for each request whose client left
	url    string
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") && r.Method == http.MethodGet {
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"m-%s","object":"model"},{"id":"/maas/shared","object":"model"}]}`, v.name)
		return
	}
	body, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	v.bodies, v.heads, v.paths = append(v.bodies, body), append(v.heads, r.Header.Clone()), append(v.paths, r.URL.EscapedPath())
	h := v.handle
	v.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	defer func() {
		if r.Context().Err() != nil {
			select {
			case v.left <- struct{}{}:
			default:
			}
		}
	}()
	h(w, r)
}

func (v *vendor) does(h http.HandlerFunc) {
	v.mu.Lock()
	v.handle = h
	v.mu.Unlock()
}

// tries is how often the vendor was asked.
func (v *vendor) tries() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.bodies)
}

func (v *vendor) lastBody() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return string(v.bodies[len(v.bodies)-1])
}

func (v *vendor) lastHead() http.Header {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.heads[len(v.heads)-1]
}

// world is a gateway between a client and two vendors, all over sockets.
type world struct {
	*testing.T
	g      *Gateway
	engine *engine.Engine
	cfg    *config.Config
	a, b   *vendor // lanyun, which takes all first attempts unless told otherwise, and bailian
	url    string
	log    *bytes.Buffer
	diary  *diary
	client *http.Client
}

// basic is the configuration of a test; words behind % are sections that it may fill.
const basic = `
[gateway]
listen = "127.0.0.1:0"
%GATEWAY
[routing]
mode = "observe"
%ROUTING
[timeouts]
%TIMEOUTS
[probe]
path = ""
%TOP
[[vendors]]
name = "lanyun"
base_url = "<A>/v1"
weight = 100
band = [0, 100]
%LANYUN
[[vendors]]
name = "bailian"
base_url = "<B>/v1"
weight = 0
band = [0, 0]
%BAILIAN
`

// newWorld starts a world; sections are added to the configuration's by name.
func newWorld(t *testing.T, sections map[string]string) *world {
	t.Helper()
	w := &world{T: t, log: new(bytes.Buffer)}
	w.a, w.b = w.vendor("lanyun"), w.vendor("bailian")
	text := strings.NewReplacer("<A>", w.a.url, "<B>", w.b.url).Replace(basic)
	if sections["TIMEOUTS"] == "" {
		text = strings.ReplaceAll(text, "%TIMEOUTS", fmt.Sprintf("connect = \"%[1]ds\"\nheader = \"%[1]ds\"\nfirst_token = \"%[1]ds\"\nidle = \"%[1]ds\"\nwhole = \"%[2]ds\"", slack, 2*slack))
	}
	for _, s := range []string{"TIMEOUTS", "GATEWAY", "ROUTING", "TOP", "LANYUN", "BAILIAN"} {
		text = strings.ReplaceAll(text, "%"+s, sections[s])
	}
	w.configure(text)
	return w
}

func (w *world) vendor(name string) *vendor {
	v := &vendor{name: name, left: make(chan struct{}, 100)}
	v.handle = well(name)
	s := httptest.NewUnstartedServer(v)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	v.url = s.URL
	w.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return v
}

func parse(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.toml", []byte(text), func(string) string { return "" })
	if err != nil {
		t.Fatalf("the test's configuration: %v\n%s", err, text)
	}
	return cfg
}

func (w *world) configure(text string) {
	w.Helper()
	w.cfg = parse(w, text)
	set, err := vendors.Open(w.cfg, vendors.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.diary = new(diary)
	w.engine = engine.New(w.cfg, w.diary.add)
	w.g = New(Options{Config: w.cfg, Engine: w.engine, Vendors: set, Version: "test", Logger: slog.New(slog.NewTextHandler(w.log, nil))})
	w.url = serveOn(w, w.g.Server())
	tr := &http.Transport{}
	w.client = &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w.Cleanup(func() {
		tr.CloseIdleConnections()
		w.g.state.Load().set.Close()
	})
}

// diary is the journal of a test.
type diary struct {
	mu   sync.Mutex
	list []control.Event
}

func (d *diary) add(ev control.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, ev)
}

// of returns the events of a kind about a vendor.
func (d *diary) of(kind, vendor string) (out []control.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, ev := range d.list {
		if ev.Kind == kind && ev.Vendor == vendor {
			out = append(out, ev)
		}
	}
	return out
}

// serveOn serves on a port of its own until the test ends, and returns the address.
func serveOn(t testing.TB, s *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // while reading
	took   time.Duration
}

func (w *world) do(method, path, body string, head ...string) answer {
	w.Helper()
	begun := time.Now()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		return answer{err: err, took: time.Since(begun)}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b), err, time.Since(begun)}
}

const (
	askStream = `{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true}`
	askWhole  = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	chatPath  = "/v1/chat/completions"
)

func (w *world) chat(body string, head ...string) answer {
	w.Helper()
	return w.do(http.MethodPost, chatPath, body, head...)
}

// text is what a chat answer says, streamed or whole, and whether it ended well.
func (x answer) text() (text string, ended bool) {
	type part struct {
		Content string `json:"content"`
	}
	type body struct {
		Choices []struct {
			Delta, Message part
			Text           string
		}
	}
	var out strings.Builder
	if !strings.HasPrefix(x.header.Get("Content-Type"), "text/event-stream") {
		var b body
		_ = json.Unmarshal([]byte(x.body), &b)
		for _, c := range b.Choices {
			out.WriteString(c.Message.Content + c.Text)
		}
		return out.String(), x.status == http.StatusOK
	}
	events := sse.NewReader(strings.NewReader(x.body), 0)
	for {
		ev, err := events.Next()
		if err != nil {
			return out.String(), ended
		}
		if sse.IsDone(ev.Data) {
			ended = true
			continue
		}
		var b body
		_ = json.Unmarshal(ev.Data, &b)
		for _, c := range b.Choices {
			out.WriteString(c.Delta.Content + c.Text)
		}
	}
}

// short is the end of an answer's body, for a test's complaint.
func (x answer) short() string {
	if len(x.body) > 900 {
		return x.body[:300] + " … " + x.body[len(x.body)-600:]
	}
	return x.body
}

// words is n words that name their vendor.
func words(name string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "%s%d ", name, i+1)
	}
	return out.String()
}

// say writes events of a chat and flushes each.
type say struct{ w http.ResponseWriter }

func (s say) raw(text string) {
	_, _ = io.WriteString(s.w, text)
	s.w.(http.Flusher).Flush()
}

func (s say) begin() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
}

func (s say) role() {
	s.raw("data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n")
}

func (s say) words(name string, from, to int) {
	for i := from; i <= to; i++ {
		s.raw(fmt.Sprintf("data: {\"id\":\"%s-id\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s%d \"},\"finish_reason\":null}]}\n\n", name, name, i))
	}
}

func (s say) finish(name string) {
	s.raw(fmt.Sprintf("data: {\"id\":\"%s-id\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", name))
}

func (s say) usage() {
	s.raw("data: {\"id\":\"u\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":60,\"total_tokens\":65}}\n\n")
}

func (s say) done() { s.raw("data: [DONE]\n\n") }

// asked is what a request to a vendor wants.
func asked(r *http.Request) (stream, usage bool) {
	var b struct {
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &b)
	return b.Stream, b.StreamOptions.IncludeUsage
}

// well is a vendor that answers with sixty words.
func well(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream, usage := asked(r)
		w.Header().Set("X-Vendor", name)
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"id":"%s-id","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":60,"total_tokens":65}}`, name, words(name, 60))
			return
		}
		s := say{w}
		s.begin()
		s.role()
		s.words(name, 1, 60)
		s.finish(name)
		if usage {
			s.usage()
		}
		s.done()
	}
}

// refuses answers with a status and a body.
func refuses(status int, body string, head ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(head); i += 2 {
			w.Header().Set(head[i], head[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func openAIError(code string) string {
	return `{"error":{"message":"it said ` + code + `","type":"invalid_request_error","param":null,"code":"` + code + `"}}`
}

// wants checks an answer that should be whole and of one vendor.
func (w *world) wants(x answer, vendor string) {
	w.Helper()
	text, ended := x.text()
	if x.err != nil || x.status != http.StatusOK || text != words(vendor, 60) || !ended {
		w.Fatalf("status %d, error %v, ended %v; want all of %s's answer; got\n%s", x.status, x.err, ended, vendor, x.short())
	}
	if got := x.header.Get(headerVendor); got != vendor {
		w.Fatalf("%s is %q, want %q", headerVendor, got, vendor)
	}
}

func (w *world) code(x answer) string {
	w.Helper()
	var b struct{ Error struct{ Code string } }
	if err := json.Unmarshal([]byte(x.body), &b); err != nil {
		w.Fatalf("no error in OpenAI's shape: %v in %q", err, x.body)
	}
	return b.Error.Code
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
