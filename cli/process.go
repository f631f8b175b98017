package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"baton/drills"
	"baton/drills/cpu"
	"baton/engine"
	"baton/engine/api"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/gateway"
	"baton/engine/ledger"
	"baton/engine/store"
	"baton/vendors"
	"baton/vendors/fault"
	"baton/vendors/sim"
)

// demoAgent is the User-Agent by which demo traffic is known not to be a client.
const demoAgent = "baton-demo"

// process is an engine with all its servers: what `baton` and `baton serve`
// run.
type process struct {
	state  *state
	logger *slog.Logger

	cfg      atomic.Pointer[config.Config]
	load     func() (*config.Config, error) // the configuration again, for a reload
	demo     config.Demo
	engine   *engine.Engine
	gateway  *gateway.Gateway
	hub      *control.Hub
	store    *store.Store
	machine  *drills.Machine
	faults   *fault.Set
	held     heldFaults
	sims     *simulators
	gatewayL net.Listener
	controlL net.Listener
	token    string

	reloading sync.Mutex
	set       *vendors.Set // guarded by reloading

	book       atomic.Pointer[ledger.Book]
	windows    faultWindows
	lastAlert  string       // of the store, as the journal has it; only saved uses it
	lastClient atomic.Int64 // unix seconds of the last request that was not demo traffic
	alert      atomic.Pointer[string]
	stopDemo   atomic.Pointer[context.CancelFunc]
	quieted    atomic.Int32 // drills that want no demo traffic
}

// newProcess wires an engine together and opens its ports. It starts nothing.
func newProcess(cfg *config.Config, st *state, free freePorts, logger *slog.Logger) (_ *process, err error) {
	p := &process{state: st, logger: logger, faults: fault.NewSet(), demo: cfg.Demo}
	p.cfg.Store(cfg)
	p.lastClient.Store(time.Now().Unix())
	defer func() {
		if err != nil {
			p.closeListeners()
		}
	}()
	if p.gatewayL, err = listen(cfg.At("gateway.listen"), cfg.Gateway.Listen, free.gateway); err != nil {
		return nil, err
	}
	if p.controlL, err = listen(cfg.At("control.listen"), cfg.Control.Listen, free.control); err != nil {
		return nil, err
	}
	if p.sims, err = newSimulators(cfg, logger); err != nil {
		return nil, err
	}
	if p.set, err = vendors.Open(cfg, vendors.Options{SimURL: p.sims.url, Faults: p.faults}); err != nil {
		return nil, err
	}
	var before control.Saved
	if p.store, before, err = store.Open(st.path("baton.db")); err != nil {
		return nil, err
	}
	p.hub = control.NewHub(control.Backend{Do: p.do, Ask: p.ask, Fill: p.fill, Older: p.store.Events}, func(e control.Event) {
		logEvent(logger, e)
		p.store.Event(e)
	})
	p.hub.Resume(before)
	p.engine = engine.New(cfg, p.hub.Log)
	p.engine.Resume(before)
	p.account(cfg)
	p.gateway = gateway.New(gateway.Options{Config: cfg, Engine: p.engine, Vendors: p.set, Version: version(), Logger: logger, Ledger: p.store.Attempt})
	p.machine, err = drills.New(drills.Options{
		Control: p.hub, Dir: filepath.Join(st.dir, "drills"), Config: cfg, Version: version(), Log: p.hub.Log,
		Quiet: p.quiet, Shows: []drills.Show{storyShow(filepath.Join(st.dir, "drills"))},
	})
	if err != nil {
		return nil, err
	}
	p.machine.Clear()
	p.token = st.token(cfg.Control.Token.Reveal())
	return p, nil
}

// closeListeners closes what newProcess has opened.
func (p *process) closeListeners() {
	for _, l := range []net.Listener{p.gatewayL, p.controlL} {
		if l != nil {
			_ = l.Close()
		}
	}
	if p.sims != nil {
		p.sims.close()
	}
	if p.store != nil {
		p.store.Close()
	}
}

// controlAddr is the control API's URL.
func (p *process) controlAddr() string { return "http://" + p.controlL.Addr().String() }

// run serves until ctx ends, then drains and returns once everything has
// stopped.
func (p *process) run(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE) // whoever reads our log may leave; the gateway stays
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if err := p.state.publish(p.controlAddr(), p.token); err != nil {
		p.warn(err.Error())
	}
	gw := p.gateway.Server()
	gw.Handler = p.clients(gw.Handler)
	ctl := &http.Server{
		Handler:           p.clients(api.NewServer(api.Options{Control: p.hub, Token: p.token})),
		ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(p.logger.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return work }, // its streams end with the work
	}

	var wg sync.WaitGroup
	failed := make(chan error, 8)
	start := func(what string, f func() error) {
		wg.Go(func() {
			if err := f(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.Canceled) {
				failed <- fmt.Errorf("%s: %w", what, err)
			}
		})
	}
	endStore := p.keep(ctx)
	start("simulated vendors", func() error { return p.sims.run(work) })
	start("engine", func() error { return p.engine.Run(work) })
	start("probes", func() error {
		return partly(work, "gateway", func() error { return p.gateway.Run(work) }) // connections that they open serve requests, too
	})
	start("drills", func() error { return p.machine.Run(work) })
	start("gateway", func() error {
		return partly(work, "gateway", func() error { return gw.Serve(p.gatewayL) })
	})
	start("control API", func() error { return ctl.Serve(p.controlL) })
	start("demo traffic", func() error { return p.runDemo(ctx) })
	p.warnOf(p.cfg.Load())
	p.logger.Info("serving", "gateway", "http://"+p.gatewayL.Addr().String()+"/v1", "control", p.controlAddr(), "state", p.state.dir, "version", version())

	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	p.shutdown(gw, ctl, stopWork)
	wg.Wait()
	endStore() // after everybody who has something to say
	select {
	case later := <-failed:
		err = errors.Join(err, later)
	default:
	}
	return err
}

// shutdown stops in order: no new requests, the ones under way end, then
// everything that served them.
func (p *process) shutdown(gw, ctl *http.Server, stopWork context.CancelFunc) {
	grace, cancel := context.WithTimeout(context.Background(), p.cfg.Load().Gateway.Grace)
	defer cancel()
	p.logger.Info("draining", "grace", p.cfg.Load().Gateway.Grace)
	if err := p.gateway.Drain(grace); err != nil {
		p.logger.Warn("requests were cut", "reason", err)
	}
	// An answer's last bytes leave after its handler has returned: until then its
	// connection is not idle, and Close would cut it.
	written, cancelWritten := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancelWritten()
	_ = gw.Shutdown(written)
	_ = gw.Close()
	stopWork()
	last, cancelLast := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancelLast()
	_ = ctl.Shutdown(last)
	_ = ctl.Close()
	p.sims.close()
	p.reloading.Lock()
	p.set.Close()
	p.reloading.Unlock()
	p.logger.Info("stopped")
}

// partly serves as that part of the process, with every goroutine that it starts:
// what a load spike says about processor time goes by it.
func partly(ctx context.Context, part string, serve func() error) (err error) {
	cpu.As(ctx, part, func(context.Context) { err = serve() })
	return err
}

// clients remembers when somebody other than the demo traffic last asked.
func (p *process) clients(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != demoAgent {
			p.lastClient.Store(time.Now().Unix())
		}
		h.ServeHTTP(w, r)
	})
}

// warn puts something that a person has to see to into the journal and above
// the snapshot.
func (p *process) warn(text string) {
	p.alert.Store(&text)
	p.hub.Log(control.Event{Level: control.Crit, Kind: "store", Text: text})
}

// simulators are the servers of the simulated vendors.
type simulators struct {
	logger  *slog.Logger
	servers map[string]*simulator
}

type simulator struct {
	vendor *sim.Vendor
	server *http.Server
	ln     net.Listener
}

// newSimulators opens a loopback port for each simulated vendor.
func newSimulators(cfg *config.Config, logger *slog.Logger) (*simulators, error) {
	s := &simulators{logger: logger, servers: map[string]*simulator{}}
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		if vc.Simulate == "" {
			continue
		}
		if err := s.open(vc); err != nil {
			s.close()
			return nil, fmt.Errorf("simulated vendor %s: %w", vc.Name, err)
		}
	}
	return s, nil
}

func (s *simulators) open(vc *config.Vendor) error {
	v, err := sim.New(simOptions(vc))
	if err != nil {
		return err
	}
	ln, err := listen("vendors."+vc.Name, "127.0.0.1:0", false)
	if err != nil {
		return err
	}
	s.servers[vc.Name] = &simulator{
		vendor: v, ln: ln,
		server: &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug)},
	}
	return nil
}

func (s *simulators) url(name string) string {
	if x := s.servers[name]; x != nil {
		return "http://" + x.ln.Addr().String() + "/v1"
	}
	return ""
}

func (s *simulators) run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, x := range s.servers {
		wg.Go(func() { _ = partly(ctx, "vendors", func() error { return x.server.Serve(x.ln) }) })
	}
	<-ctx.Done()
	s.close()
	wg.Wait()
	return nil
}

func (s *simulators) close() {
	for _, x := range s.servers {
		_ = x.server.Close()
		_ = x.ln.Close()
	}
}
