package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/scan"
	"baton/vendors"
)

// Options is what a gateway is made of. Logger may be nil.
type Options struct {
	Config  *config.Config
	Engine  *engine.Engine
	Vendors *vendors.Set
	Version string
	Logger  *slog.Logger
	Ledger  func(*ledger.Attempt) // told of each attempt that has ended, which it must not keep; nil: nobody
}

// Gateway serves the OpenAI-compatible API.
type Gateway struct {
	engine  *engine.Engine
	version string
	log     *slog.Logger
	ledger  func(*ledger.Attempt)
	state   atomic.Pointer[state]

	memory   budget // of bodies and of answers that are held
	retries  retryBudget
	memo     memo
	reach    reach
	failures failures
	union    modelUnion
	dropped  atomic.Int64

	inFlight atomic.Int64
	draining atomic.Bool
	idle     chan struct{} // gets a token when the last request ends while draining
	reloaded chan struct{} // wakes Run

	base context.Context // parent of every request of Server; cancelled by Drain's end
	stop context.CancelCauseFunc
}

// errStopping is the cause with which Drain ends what is still under way.
var errStopping = errors.New("the gateway is shutting down")

// New makes a gateway. It starts nothing.
func New(o Options) *Gateway {
	g := &Gateway{
		engine: o.Engine, version: o.Version, log: o.Logger, ledger: o.Ledger,
		idle: make(chan struct{}, 1), reloaded: make(chan struct{}, 1),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.base, g.stop = context.WithCancelCause(context.Background())
	g.memory.limit.Store(int64(o.Config.Gateway.Buffer))
	g.state.Store(newState(o.Config, o.Vendors))
	g.countKeys(g.state.Load())
	return g
}

// Reload swaps in another configuration and its vendors. Requests under way end
// with what they began with; after the last of them the old vendors are closed.
func (g *Gateway) Reload(cfg *config.Config, set *vendors.Set) {
	g.memory.limit.Store(int64(cfg.Gateway.Buffer))
	g.memo.forget()
	next := newState(cfg, set)
	g.countKeys(next)
	old := g.state.Swap(next)
	old.kept = old.set == set
	old.release()
	select {
	case g.reloaded <- struct{}{}:
	default:
	}
}

// InFlight returns how many requests under /v1/ are under way.
func (g *Gateway) InFlight() int { return int(g.inFlight.Load()) }

// Dropped returns how many events were left out of streams since the start
// because they were not JSON.
func (g *Gateway) Dropped() int64 { return g.dropped.Load() }

// Failures returns the last failed attempts at a vendor ("": at any), newest
// first, at most limit of them (0: 100).
func (g *Gateway) Failures(vendor string, limit int) []control.Failure {
	return g.failures.last(vendor, limit)
}

// Drain refuses new requests under /v1/ with 503, waits for those under way, and
// cancels what is left when ctx ends; the error is then ctx's.
func (g *Gateway) Drain(ctx context.Context) error {
	g.draining.Store(true)
	if g.inFlight.Load() == 0 {
		return nil
	}
	select {
	case <-g.idle:
		return nil
	case <-ctx.Done():
	}
	g.stop(errStopping)
	// They end by themselves now; a client that does not read may hold one up.
	last := time.NewTimer(2 * time.Second)
	defer last.Stop()
	select {
	case <-g.idle:
	case <-last.C:
	}
	return ctx.Err()
}

// ServeHTTP serves /v1/*, /healthz and /readyz.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Not a ServeMux: it redirects paths with a double slash, which models' names have.
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1/"):
		g.serve(w, r)
	case path == "/healthz":
		g.health(w, r, true)
	case path == "/readyz":
		g.health(w, r, !g.draining.Load() && g.engine.Ready())
	default:
		h := w.Header()
		h.Set(headerRequestID, requestID(r.Header))
		writeError(w, notFound(r.URL.Path))
	}
}

func (g *Gateway) health(w http.ResponseWriter, r *http.Request, ok bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeError(w, wrongMethod(r.Method, r.URL.Path))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status":"unavailable"}` + "\n"))
		return
	}
	body := scan.AppendString([]byte(`{"status":"ok","version":`), g.version)
	_, _ = w.Write(append(body, "}\n"...))
}

// enter counts a request in; false if the gateway is full.
func (g *Gateway) enter(limit int) bool {
	return g.inFlight.Add(1) <= int64(limit) || limit <= 0
}

func (g *Gateway) leave() {
	if g.inFlight.Add(-1) == 0 && g.draining.Load() {
		select {
		case g.idle <- struct{}{}:
		default:
		}
	}
}

// state is a configuration with its vendors, counted by the requests that use it.
type state struct {
	cfg     *config.Config
	set     *vendors.Set
	models  map[string]*config.Model
	clients []clientKey
	resumes bool // a vendor may continue an interrupted answer

	// Where a request names its conversation: a member of its body or a header.
	affinityMember, affinityHeader string

	refs atomic.Int64
	kept bool // the set lives on in the state that came after
	once sync.Once
}

func newState(cfg *config.Config, set *vendors.Set) *state {
	s := &state{cfg: cfg, set: set, models: make(map[string]*config.Model, len(cfg.Models)), clients: clientKeys(cfg)}
	for i := range cfg.Models {
		s.models[cfg.Models[i].Name] = &cfg.Models[i]
	}
	for i := range cfg.Vendors {
		if v := set.Vendor(cfg.Vendors[i].Name); v != nil && v.Resume {
			s.resumes = true
		}
	}
	switch name := cfg.Routing.Affinity; name {
	case "prompt_cache_key", "user":
		s.affinityMember = name
	default:
		s.affinityHeader = http.CanonicalHeaderKey(name)
	}
	s.refs.Store(1)
	return s
}

// hold returns the state in force, which stays open until its release.
func (g *Gateway) hold() *state {
	for {
		s := g.state.Load()
		n := s.refs.Load()
		if n > 0 && s.refs.CompareAndSwap(n, n+1) {
			return s
		}
	}
}

func (s *state) release() {
	if s.refs.Add(-1) == 0 && !s.kept {
		s.once.Do(s.set.Close)
	}
}
