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

	"baton/engine/config"
	"baton/vendors/sim"
)

func (a *app) simCommand() *cobra.Command {
	var (
		o    sim.Options
		addr string
		list bool

		slope, crash float64
	)
	c := &cobra.Command{
		Use: "sim", Short: "Run one simulated vendor as a server of its own", Args: cobra.NoArgs,
		Long: "Run one simulated vendor on a loopback port, to test clients or a gateway against. elastic is a hosted service with spare room; limited one that admits 20 requests per second; naive-gpu one GPU behind FastAPI that runs out of memory; vllm-pool servers with continuous batching; in the profile faults the model's name picks how it misbehaves.\n" +
			"GET /sim/log is the log of attempts, DELETE /sim/log clears it, GET /sim/stats the totals, GET /sim/faults the faults. PUT /sim/options changes it while it runs, with the names of [vendors.sim]: {\"first_token\":\"1s\",\"errors\":0.1,\"limit\":15}; GET shows them.",
		Example: "  baton sim --listen 127.0.0.1:9001\n  baton sim --profile faults --listen 127.0.0.1:9002\n  baton sim --profile faults --list\n  baton sim --profile limited --limit-mode queue\n  baton sim --profile vllm-pool --replicas 2",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.LimitSlope = orNone(slope, cmd.Flags().Changed("limit-slope"))
			o.Crash = orNone(crash, cmd.Flags().Changed("crash"))
			if list {
				for _, f := range sim.Faults() {
					fmt.Fprintf(a.out, "%-24s %s\n", f.Name, f.Does)
				}
				return nil
			}
			return a.runSim(o, addr)
		},
	}
	c.AddCommand(a.simSetCommand())
	f := c.Flags()
	f.StringVar(&o.Profile, "profile", "elastic", "how it behaves: "+strings.Join(sim.Profiles(), ", "))
	f.StringVar(&addr, "listen", "127.0.0.1:9001", "loopback address")
	f.StringVar(&o.Name, "name", "sim", "its name")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of its randomness")
	f.DurationVar(&o.FirstToken, "first-token", 0, "median time to the first token (default: the profile's)")
	f.Float64Var(&o.Sigma, "sigma", 0, "spread of the first token, ln units (default: the profile's)")
	f.DurationVar(&o.PerToken, "per-token", 0, "median time per token (default: the profile's)")
	f.IntVar(&o.Tokens, "tokens", 0, "median length of an answer (default: the profile's)")
	f.Float64Var(&o.TokenSigma, "token-sigma", 0, "spread of the length, ln units (default: the profile's)")
	f.IntVar(&o.Capacity, "capacity", 0, "requests in flight at full load (default: the profile's)")
	f.Float64Var(&o.Limit, "limit", 0, "requests per second and model; over it 429 (default: the profile's)")
	f.StringVar(&o.LimitMode, "limit-mode", "reject", "what happens to those over the limit: reject, queue")
	f.IntVar(&o.LimitQueue, "limit-queue", 0, "most that wait with --limit-mode queue (default 90)")
	f.IntVar(&o.LimitTokens, "limit-tokens", 0, "tokens per minute and model; over it 429")
	f.Float64Var(&slope, "limit-slope", 0, "growth within ten seconds over which it refuses, 0 none (default: the profile's)")
	f.DurationVar(&o.KeepAlive, "keep-alive", 0, "a comment to those that wait this often (default none)")
	f.IntVar(&o.Replicas, "replicas", 0, "servers of vllm-pool (default 1)")
	f.IntVar(&o.MaxReplicas, "max-replicas", 0, "vllm-pool grows up to this many (default: --replicas)")
	f.IntVar(&o.KVTokens, "kv-tokens", 0, "cache of one server of vllm-pool (default 400000)")
	f.BoolVar(&o.Quantized, "quantized", false, "naive-gpu with 4-bit weights")
	f.Float64Var(&crash, "crash", 0, "chance that naive-gpu dies when it runs out of memory, 0-1 (default 0.002)")
	f.Float64Var(&o.ErrorRate, "errors", 0, "part of the requests answered with 503, 0-1")
	f.Float64Var(&o.Scale, "scale", 0, "factor on every duration (default 1)")
	f.BoolVar(&list, "list", false, "list the faults of the profile faults and end")
	return c
}

// orNone makes a given 0 none, where 0 would be the profile's own.
func orNone(v float64, given bool) float64 {
	if given && v == 0 {
		return -1
	}
	return v
}

// simOptions are the options of a simulated vendor of the configuration.
func simOptions(vc *config.Vendor) sim.Options {
	s := &vc.Sim
	o := sim.Options{
		Name: vc.Name, Label: vc.Label, Profile: vc.Simulate, Seed: s.Seed,
		FirstToken: s.FirstToken, Sigma: s.Sigma, PerToken: s.PerToken, Tokens: s.Tokens, TokenSigma: s.TokenSigma, Capacity: s.Capacity,
		Limit: s.Limit, LimitMode: s.LimitMode, LimitQueue: s.LimitQueue, LimitTokens: s.LimitTokens, KeepAlive: s.KeepAlive,
		Replicas: s.Replicas, MaxReplicas: s.MaxReplicas, KVTokens: s.KVTokens, Quantized: s.Quantized,
		ErrorRate: s.Errors, Scale: s.Scale, Models: s.Models,
	}
	if s.LimitSlope != nil {
		o.LimitSlope = orNone(*s.LimitSlope, true)
	}
	if s.Crash != nil {
		o.Crash = orNone(*s.Crash, true)
	}
	return o
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
