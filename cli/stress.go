package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"baton/drills/stress"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/vendors"
)

// stressFlags are the flags of `baton stress` that are no member of its plan as they are.
type stressFlags struct {
	plan                  stress.Plan
	model, prompts        string
	yes                   bool
	json, csv, html, hgrm string
}

func (a *app) stressCommand() *cobra.Command {
	var f stressFlags
	c := &cobra.Command{
		Use: "stress VENDOR...", Short: "Measure a vendor's engine under load, and tell it from its rate limit",
		Long: "Climb a ladder of concurrent requests at one vendor, or at several in turns, straight and not through the gateway. A probe looks for a rate limit first, and where there is one the ladder is not begun without --go-on: it would measure the limiter.\n" +
			"Exit codes: 0 OK, 1 the SLO was missed, 2 could not run, 3 LIMITED, CLIENT-LIMITED, UNSTABLE or TOO-FEW, 4 stopped early.",
		Example: "  baton stress lanyun\n  baton stress lanyun bailian --concurrency 1,10,50,100 --duration 60s --html stress.html\n  baton stress lanyun --rate 5,10,20 --arrivals constant\n  baton stress compare 20261201-100000-4f2a 20261202-100000-91c0",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.stress(&f, args) },
	}
	p, fl := &f.plan, c.Flags()
	fl.IntSliceVar(&p.Ladder, "concurrency", stress.DefaultLadder(), "requests under way at once, level by level")
	fl.Float64SliceVar(&p.Rates, "rate", nil, "requests per second instead, level by level: open loop only")
	fl.StringVar(&p.Arrivals, "arrivals", stress.Poisson, "of the open loop: poisson, constant, or closed for none")
	fl.DurationVar(&p.Duration, "duration", 30*time.Second, "measured window of a level")
	fl.DurationVar(&p.Warmup, "warmup", 0, "before it, on top (default 10s, or half of a shorter --duration)")
	fl.IntVar(&p.MinSamples, "requests", 50, "at least so many in a window: it is prolonged for them, up to five times")
	fl.DurationVar(&p.Timeout, "timeout", 2*time.Minute, "of one request")
	fl.StringVar(&f.model, "model", "", "what is asked for (default: the first of the configuration)")
	fl.StringVar(&f.prompts, "prompts", "chat", "a built-in set ("+strings.Join(stress.Sets(), ", ")+") or a file of JSON lines with prompt or messages")
	fl.StringVar(&p.Cache, "cache", stress.Cold, "cold: every prompt begins with a word of its own; warm: the same prompts again and again")
	fl.IntVar(&p.MaxTokens, "max-tokens", 128, "of an answer")
	fl.StringVar(&p.Kind, "kind", stress.Stream, "stream or whole")
	fl.Uint64Var(&p.Seed, "seed", 1, "of prompts and arrivals")
	fl.IntVar(&p.Keys, "keys", 1, "of the vendor's keys so many take turns")
	fl.BoolVar(&p.KeyProbe, "key-probe", false, "where a limit is found, ask with a second key whose it is; look at the vendor's terms first")
	fl.StringVar(&p.Ramp, "ramp", "", "from level to level: gentle, by 25 % in 10 s, or fast (default: gentle for real vendors)")
	fl.BoolVar(&p.NoProbe, "no-probe", false, "do not look for a limit first")
	fl.BoolVar(&p.GoOn, "go-on", false, "climb the ladder above a limit that was found, too")
	fl.Float64Var(&p.MaxErrors, "max-errors", 0.5, "part of failed requests over which a vendor's ladder ends, refusals apart")
	fl.Float64Var(&p.Budget, "budget", 0, "stop when so much is spent, in ledger.currency")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask whether a vendor may be paid")
	fl.DurationVar(&p.SLO.P90, "slo-p90", 0, "first token of 90 % of all requests (default: routing.slo_p90)")
	fl.DurationVar(&p.SLO.P99, "slo-p99", 0, "first token of 99 % of all requests (default: routing.slo_p99)")
	fl.DurationVar(&p.SLO.PerToken, "slo-per-token", 0, "for goodput: time per token")
	fl.DurationVar(&p.SLO.Total, "slo-total", 0, "for goodput: time of a whole answer")
	fl.StringVar(&f.json, "json", "", "write the report as JSON into a file, - for the standard output")
	fl.StringVar(&f.csv, "csv", "", "write a row for each level into a file")
	fl.StringVar(&f.html, "html", "", "write one page with charts into a file")
	fl.StringVar(&f.hgrm, "hgrm", "", "write percentile distributions (HdrHistogram) into a directory")
	c.AddCommand(a.stressCompareCommand(), a.stressShowCommand(), a.stressHistoryCommand())
	return c
}

// stress runs a test and writes what came of it.
func (a *app) stress(f *stressFlags, names []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	f.plan.Version, f.plan.Currency = version(), cfg.Ledger.Currency
	if f.plan.SLO.P90 == 0 {
		f.plan.SLO.P90 = cfg.Routing.SLOP90
	}
	if f.plan.SLO.P99 == 0 {
		f.plan.SLO.P99 = cfg.Routing.SLOP99
	}
	if f.plan.Prompts, err = readPrompts(f.prompts, f.plan.Seed); err != nil {
		return err
	}
	dir, err := stateDir(a.statePath, cfg.State.Dir, a.env)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sims, err := newSimulators(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	// The simulators outlive the signal: what is under way ends, and is no vendor's failure.
	var serving sync.WaitGroup
	simulating, endSims := context.WithCancel(context.Background())
	serving.Go(func() { _ = sims.run(simulating) })
	defer serving.Wait()
	defer endSims()
	set, err := vendors.Open(cfg, vendors.Options{SimURL: sims.url})
	if err != nil {
		return err
	}
	defer set.Close()
	if f.plan.Targets, err = stressTargets(cfg, set, names, f.model, dir); err != nil {
		return err
	}
	if err := a.mayStress(f); err != nil {
		return err
	}
	spent := new(spending)
	for i := range f.plan.Targets {
		spent.of(&f.plan.Targets[i], f.model)
	}
	progress, end := a.progress()
	rep, err := stress.Run(ctx, f.plan, progress)
	end()
	if err != nil {
		return err
	}
	if err := spent.keep(dir, rep.ID); err != nil {
		fmt.Fprintln(a.err, "baton: warning:", err)
	}
	return a.stressed(f, rep, dir)
}

func readPrompts(from string, seed uint64) ([]stress.Prompt, error) {
	if slices.Contains(stress.Sets(), from) {
		return stress.BuiltIn(from, seed)
	}
	file, err := os.Open(from)
	if err != nil {
		_, unknown := stress.BuiltIn(from, seed)
		return nil, fmt.Errorf("--prompts: %w; %w", unknown, err)
	}
	defer file.Close()
	return stress.ReadPrompts(file)
}

// stressTargets are the vendors of those names as a stress test asks them.
func stressTargets(cfg *config.Config, set *vendors.Set, names []string, model, state string) ([]stress.Target, error) {
	published, err := benchmarks(state).Read()
	if err != nil {
		return nil, err
	}
	book := ledger.NewBook(cfg)
	var out []stress.Target
	for _, name := range names {
		i := slices.IndexFunc(cfg.Vendors, func(v config.Vendor) bool { return v.Name == name })
		if i < 0 {
			var known []string
			for k := range cfg.Vendors {
				known = append(known, cfg.Vendors[k].Name)
			}
			return nil, fmt.Errorf("vendor %q: must be one of %s", name, strings.Join(known, ", "))
		}
		vc := &cfg.Vendors[i]
		asked, err := modelAt(cfg, vc, model)
		if err != nil {
			return nil, err
		}
		out = append(out, stress.Target{
			Vendor: set.Vendor(name), Label: vc.Label, Model: asked, Real: vc.Real(),
			Price:     stressPrice(book, vc.Name, model, asked),
			Published: stress.PublishedOf(published, vc, asked),
		})
	}
	return out, nil
}

// stressPrice is what the book says of answers of a vendor's model; nil: it has no price.
func stressPrice(book *ledger.Book, vendor, model, at string) stress.Price {
	if !book.Priced(vendor) {
		return nil
	}
	return func(in, cached, out int) (float64, bool) {
		c := book.Price(&ledger.Attempt{
			Ended: time.Now(), Vendor: vendor, Model: model, At: at, Lane: control.Interactive, Source: ledger.Stress, Outcome: "ok",
			Input: in, Cached: cached, Output: out,
		})
		return ledger.Pico(c.Sum()).Float(), c.Known
	}
}

// modelAt is what a vendor calls the model that is asked for.
func modelAt(cfg *config.Config, vc *config.Vendor, model string) (string, error) {
	if model == "" && len(cfg.Models) == 0 {
		if vc.Simulate != "" {
			return "demo", nil
		}
		return "", errors.New("--model: the configuration names no model, so this has to")
	}
	for i := range cfg.Models {
		m := &cfg.Models[i]
		at, sold := m.NameAt(vc.Name)
		switch {
		case model == "" && sold, model == m.Name && sold:
			return at, nil
		case model == m.Name:
			return "", fmt.Errorf("--model = %q: vendor %s does not have it", model, vc.Name)
		}
	}
	if model == "" {
		return "", fmt.Errorf("--model: vendor %s has none of the configured models, so this has to name one", vc.Name)
	}
	return model, nil
}

// mayStress says what a test will ask for, and asks whether a real vendor with a price may be paid.
func (a *app) mayStress(f *stressFlags) error {
	v, err := f.plan.Preview()
	if err != nil {
		return err
	}
	cost := "unpriced"
	if v.Cost != nil {
		cost = fmt.Sprintf("about %.2f %s", *v.Cost, f.plan.Currency)
		if len(v.Unpriced) > 0 {
			cost += " and what is unpriced at " + strings.Join(v.Unpriced, ", ")
		}
	}
	if f.plan.Budget > 0 {
		cost += fmt.Sprintf(", stopped at %g %s", f.plan.Budget, f.plan.Currency)
	}
	fmt.Fprintf(a.err, "about %d requests, %s tokens in and up to %s out, %s; about %s\n", v.Requests, thousands(v.Input), thousands(v.Output), cost, time.Duration(v.Seconds*float64(time.Second)).Round(time.Second))
	for _, t := range f.plan.Targets {
		if f.plan.Budget > 0 && t.Real && t.Price == nil {
			return fmt.Errorf("--budget = %g: vendor %s has no price, so that nothing can be held against it", f.plan.Budget, t.Vendor.Name)
		}
	}
	paid := slices.ContainsFunc(f.plan.Targets, func(t stress.Target) bool { return t.Real && t.Price != nil })
	if !paid || f.yes {
		return nil
	}
	if a.onTerminal() && a.confirm("This costs money. Go on? [y/N] ") {
		return nil
	}
	return errors.New("stress: a real vendor would be paid: say --yes to this cost, or set a --budget as well")
}

func thousands(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// progress tells on the standard error where a test is: one line that changes on a
// terminal, else a line for each stage.
func (a *app) progress() (tell func(stress.Progress), end func()) {
	file, ok := a.err.(*os.File)
	onTerminal := ok && isTerminal(file)
	last := ""
	tell = func(p stress.Progress) {
		line := progressLine(p)
		switch {
		case onTerminal:
			fmt.Fprintf(a.err, "\r\x1b[K%s", line)
		case stageOf(p) != last:
			fmt.Fprintln(a.err, line)
		}
		last = stageOf(p)
	}
	return tell, func() {
		if onTerminal {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
	}
}

func stageOf(p stress.Progress) string {
	return fmt.Sprintf("%s %s %d %s %.3f", p.Vendor, p.Stage, p.Level, p.Arrivals, p.Rate)
}

func progressLine(p stress.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  ", p.Vendor)
	switch {
	case p.Arrivals != "" && p.Level == 0:
		b.WriteString("under the limit: ")
	case p.Arrivals == stress.ClosedLoop:
		fmt.Fprintf(&b, "level %d/%d, %d at once: ", p.Level, p.Levels, p.Concurrency)
	case p.Arrivals != "":
		fmt.Fprintf(&b, "level %d/%d, %s %.1f/s: ", p.Level, p.Levels, p.Arrivals, p.Rate)
	}
	b.WriteString(p.Stage)
	if p.Arrivals != "" {
		fmt.Fprintf(&b, "  %d samples  %.1f/s  P50 %s P99 %s", p.Samples, p.RPS, msText(p.P50ms), msText(p.P99ms))
		if p.Refused > 0 {
			fmt.Fprintf(&b, "  refused %d", p.Refused)
		}
		if p.Failed > 0 {
			fmt.Fprintf(&b, "  failed %d", p.Failed)
		}
	}
	fmt.Fprintf(&b, "  about %s left", p.Left.Round(time.Second))
	return b.String()
}

// stressed keeps and writes a report.
func (a *app) stressed(f *stressFlags, rep *stress.Report, dir string) error {
	kept, err := stress.History{Dir: filepath.Join(dir, "stress")}.Save(rep)
	if err != nil {
		fmt.Fprintln(a.err, "baton: warning:", err)
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{{f.json, rep.JSON}, {f.csv, rep.CSV}, {f.html, rep.HTML}} {
		if out.path != "" && out.path != "-" {
			if err := writeTo(out.path, out.write); err != nil {
				return err
			}
		}
	}
	if f.hgrm != "" {
		if err := writeHGRM(f.hgrm, rep); err != nil {
			return err
		}
	}
	if f.json == "-" {
		err = rep.JSON(a.out)
	} else if err = rep.Text(a.out); err == nil && kept != "" {
		fmt.Fprintf(a.out, "\nkept as %s: `baton stress show %s`, `baton stress compare %s OTHER`\n", kept, rep.ID, rep.ID)
	}
	if err != nil {
		return err
	}
	if code := rep.Code(); code != exitOK {
		return exitCode(code)
	}
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeHGRM(dir string, rep *stress.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--hgrm: %w", err)
	}
	return rep.HGRM(func(name string, distribution func(io.Writer) error) error {
		return writeTo(filepath.Join(dir, name), distribution)
	})
}

// stressHistory is the kept reports.
func (a *app) stressHistory() (stress.History, error) {
	dir, err := a.findState()
	return stress.History{Dir: filepath.Join(dir, "stress")}, err
}

func (a *app) stressShowCommand() *cobra.Command {
	var asJSON bool
	var html string
	c := &cobra.Command{
		Use: "show ID", Short: "The report of one stress test", Example: "  baton stress show 20261201-100000-4f2a --html stress.html", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.stressHistory()
			if err != nil {
				return err
			}
			rep, err := h.Read(args[0])
			switch {
			case err != nil:
				return err
			case html != "":
				return writeTo(html, rep.HTML)
			case asJSON:
				return rep.JSON(a.out)
			}
			return rep.Text(a.out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&html, "html", "", "write one page with charts into a file instead")
	return c
}

func (a *app) stressHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history", Short: "Past stress tests, newest first", Example: "  baton stress history", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			h, err := a.stressHistory()
			if err != nil {
				return err
			}
			all, err := h.List()
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintln(a.out, "no stress tests are kept")
				return nil
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tVENDOR\tMODEL\tVERDICT\tREASON")
			for _, rep := range all {
				for i := range rep.Runs {
					r := &rep.Runs[i]
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", rep.ID, r.Vendor, r.Model, r.Verdict, r.Reason)
				}
			}
			return w.Flush()
		},
	}
}

func (a *app) stressCompareCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "compare A B", Short: "Which of two stress tests is slower, and whether chance explains it",
		Long:    "Compare two reports, by their IDs or files, level by level: the ratio B/A with its 95 % interval. They differ where the interval excludes 1. A report with several vendors takes ID:VENDOR.",
		Example: "  baton stress compare 20261201-100000-4f2a 20261202-100000-91c0\n  baton stress compare 20261201-100000-4f2a:lanyun 20261201-100000-4f2a:bailian", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.stressHistory()
			if err != nil {
				return err
			}
			diff, err := h.Compare(args[0], args[1])
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(diff)
			}
			return diff.Text(a.out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
