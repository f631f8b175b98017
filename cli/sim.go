package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"baton/vendors/sim"
)

func (a *app) simCommand() *cobra.Command {
	var (
		o    sim.Options
		addr string
		list bool
	)
	c := &cobra.Command{
		Use: "sim", Short: "Run one simulated vendor as a server of its own", Args: cobra.NoArgs,
		Long: "Run one simulated vendor on a loopback port, to test clients or a gateway against. The profile elastic is a hosted service with spare room; in the profile faults the model's name picks how it misbehaves.\n" +
			"GET /sim/log is the log of attempts, DELETE /sim/log clears it, GET /sim/stats the totals, GET /sim/faults the faults.",
		Example: "  baton sim --listen 127.0.0.1:9001\n  baton sim --profile faults --listen 127.0.0.1:9002\n  baton sim --profile faults --list",
		RunE: func(*cobra.Command, []string) error {
			if list {
				for _, f := range sim.Faults() {
					fmt.Fprintf(a.out, "%-24s %s\n", f.Name, f.Does)
				}
				return nil
			}
			return a.runSim(o, addr)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Profile, "profile", "elastic", "how it behaves: "+strings.Join(sim.Profiles(), ", "))
	f.StringVar(&addr, "listen", "127.0.0.1:9001", "loopback address")
	f.StringVar(&o.Name, "name", "sim", "its name")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of its randomness")
	f.DurationVar(&o.FirstToken, "first-token", 0, "median time to the first token (default: the profile's)")
	f.DurationVar(&o.PerToken, "per-token", 0, "median time per token (default: the profile's)")
	f.IntVar(&o.Tokens, "tokens", 0, "median length of an answer (default: the profile's)")
	f.IntVar(&o.Capacity, "capacity", 0, "requests in flight at full load (default: the profile's)")
	f.Float64Var(&o.Limit, "limit", 0, "requests per second; over it 429")
	f.Float64Var(&o.ErrorRate, "errors", 0, "part of the requests answered with 503, 0-1")
	f.Float64Var(&o.Scale, "scale", 0, "factor on every duration (default 1)")
	f.BoolVar(&list, "list", false, "list the faults of the profile faults and end")
	return c
}

func (a *app) runSim(o sim.Options, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--listen = %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen = %q: a simulated vendor listens on loopback only", addr)
	}
	v, err := sim.New(o)
	if err != nil {
		return err
	}
	ln, err := listen("--listen", addr, false)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	srv := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	fmt.Fprintf(a.out, "SIMULATED vendor %s (%s) on http://%s/v1\n", o.Name, o.Profile, ln.Addr())
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
