package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/ledger/report"
	"baton/engine/store"
)

// moneyCommands are the commands about the ledger.
func (a *app) moneyCommands() []*cobra.Command {
	return []*cobra.Command{a.costsCommand(), a.leverageCommand(), a.billCommand(), a.dbCommand()}
}

func (a *app) costsCommand() *cobra.Command {
	var since, until string
	var asJSON bool
	c := &cobra.Command{
		Use: "costs", Short: "What was spent, by vendor, model, lane, key and day", Args: cobra.NoArgs,
		Long:    "What was spent, by vendor, model, lane, key and day: of the engine that runs, or of the state directory where none does.\nWhat has no price is unpriced, never free.",
		Example: "  baton costs\n  baton costs --since 7d\n  baton costs --since 2026-11-01 --until 2026-12-01 --json",
		RunE: func(*cobra.Command, []string) error {
			q := control.CostsOf{}
			var err error
			if q.Since, q.Until, err = period(since, until, costsOver, time.Now()); err != nil {
				return err
			}
			doc, err := a.costs(q)
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(doc)
			}
			return printCosts(a.out, doc)
		},
	}
	c.Flags().StringVar(&since, "since", "", "how long ago (24h, 7d) or a day (2026-12-01); default 24h")
	c.Flags().StringVar(&until, "until", "", "as --since; default now")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// costs asks the engine, or reads the state where none runs.
func (a *app) costs(q control.CostsOf) (doc *control.Costs, err error) {
	err = a.moneyFrom(func(ctx context.Context, c control.Control) error {
		doc, err = control.Get[*control.Costs](ctx, c, q)
		return err
	}, func(ctx context.Context, v *offline) error {
		acc, err := v.Account(ctx, q.Since, q.Until, false)
		if err != nil {
			return err
		}
		acc.Simulated = v.cfg.Simulated()
		doc = ledger.NewBook(v.cfg).Costs(acc.Rows, acc.Period, vendorNames(v.cfg))
		doc.StepS, doc.ByStep = ledger.BySteps(acc)
		return nil
	})
	return doc, err
}

// moneyPatience is how long a question about months may take.
const moneyPatience = 60 * time.Second

// moneyFrom asks the engine that runs, or else reads its state directory.
func (a *app) moneyFrom(ask func(context.Context, control.Control) error, read func(context.Context, *offline) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), moneyPatience)
	defer cancel()
	named := a.controlURL != "" || a.env("BATON_CONTROL") != ""
	c, err := a.remote("")
	if err == nil {
		err = ask(ctx, c)
		ce, ok := errors.AsType[*control.Error](err)
		if !ok || ce.Kind != control.Unreachable {
			return err
		}
	}
	if named {
		return err
	}
	v, offErr := a.offline()
	if offErr != nil {
		return offErr
	}
	defer v.close()
	return read(ctx, v)
}

// offline is a state directory in which no engine runs.
type offline struct {
	*store.View
	dir  string
	cfg  *config.Config
	lock *flock.Flock
}

// offline opens the state for reading.
func (a *app) offline() (*offline, error) {
	dir, err := a.findState()
	if err != nil {
		return nil, err
	}
	cfg, err := a.looseConfig()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "baton.db")
	v := &offline{dir: dir, cfg: cfg, lock: flock.New(filepath.Join(dir, "lock"))}
	// Where the directory cannot be written there is no lock, and nobody who writes.
	if ok, err := v.lock.TryLock(); err == nil && !ok {
		return nil, fmt.Errorf("an engine runs on the state %s but does not answer at %q", dir, address(dir))
	}
	if v.View, err = store.OpenView(path, ledger.NewBook(cfg)); err != nil {
		_ = v.lock.Unlock()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no engine runs on the state %s, and none has: there is no %s, and no spending of stress tests", dir, path)
		}
		return nil, err
	}
	return v, nil
}

func (v *offline) close() {
	v.Close()
	_ = v.lock.Unlock()
}

// looseConfig reads the configuration for what it says of prices: the vendors'
// keys may be in the engine's environment only.
func (a *app) looseConfig() (*config.Config, error) {
	return config.Load(config.Options{Flag: a.configPath, BuiltIn: a.builtin, Environ: a.looseEnv})
}

// period reads --since and --until.
func period(since, until string, over time.Duration, now time.Time) (from, to time.Time, err error) {
	to, from = now, now.Add(-over)
	if until != "" {
		if to, err = moment("--until", until, now); err != nil {
			return from, to, err
		}
		from = to.Add(-over)
	}
	if since != "" {
		if from, err = moment("--since", since, now); err != nil {
			return from, to, err
		}
	}
	if !from.Before(to) {
		return from, to, fmt.Errorf("--since %s is not before --until %s", from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	return from, to, nil
}

func moment(flag, s string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 10_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: %q is no time: 24h, 7d, 2026-12-01 or 2026-12-01T10:00:00+08:00", flag, s)
}

// simulatedMark stands above figures that no vendor has made.
const simulatedMark = "SIMULATED: no vendor is real"

func printCosts(out io.Writer, c *control.Costs) error {
	if c.Simulated {
		fmt.Fprintln(out, simulatedMark)
	}
	fmt.Fprintf(out, "%s to %s, %s; days of %s\n", c.Since.Local().Format("2006-01-02 15:04"), c.Until.Local().Format("2006-01-02 15:04"), c.Currency, c.Timezone)
	if len(c.Recorded) == 0 {
		fmt.Fprintln(out, "nothing is recorded")
		return nil
	}
	if err := costTable(out, c); err != nil {
		return err
	}
	fmt.Fprintln(out, "* part of all; probes and stress tests are not")
	if r := c.RunRate; r.PerHour != nil {
		fmt.Fprintf(out, "run rate over the last %s: %s %s per hour, %s per day, %s per month\n", control.Duration((time.Duration(r.OverS) * time.Second).Round(time.Second)), report.Money(r.PerHour), c.Currency, report.Money(r.PerDay), report.Money(r.PerMonth))
	}
	for _, u := range c.Usage {
		fmt.Fprintf(out, "tokens of %s: %d attempts reported, %s of our estimate in and %s out; %d estimated\n", u.Vendor, u.Reported, times(u.RatioInput), times(u.RatioOutput), u.Estimated)
	}
	if c.Totals.Unpriced > 0 {
		fmt.Fprintf(out, "%d attempts are unpriced: [[vendors.price]] gives their price\n", c.Totals.Unpriced)
	}
	return nil
}

// costTable writes the lines of the ledger, figures to the right.
func costTable(out io.Writer, c *control.Costs) error {
	type line struct {
		name string
		g    *control.CostGroup
	}
	lines := []line{{"all", &c.Totals}}
	for _, part := range []struct {
		title string
		list  []control.CostGroup
	}{{"by vendor", c.ByVendor}, {"by model", c.ByModel}, {"by lane", c.ByLane}, {"by key", c.ByKey}, {"by day", c.ByDay}} {
		lines = append(lines, line{part.title, nil})
		for i := range part.list {
			g := &part.list[i]
			lines = append(lines, line{"  " + cell(g.Vendor+g.Model+g.Lane+g.Key+g.Day), g})
		}
	}
	lines = append(lines, line{"apart", nil}, line{"  failed *", &c.Apart.Failed}, line{"  in drills *", &c.Apart.Drills}, line{"  estimated *", &c.Apart.Estimated},
		line{"  probes", &c.Apart.Probes}, line{"  stress", &c.Apart.Stress})
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l.name))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%-*s\trequests\tattempts\tfailed\tinput\tcached\toutput\tcost\t/M in\t/M out\t/M\t/success\t\n", width, "")
	for _, l := range lines {
		if name := fmt.Sprintf("%-*s", width, l.name); l.g == nil {
			fmt.Fprintln(w, name+strings.Repeat("\t", 12))
		} else {
			costLine(w, name, l.g)
		}
	}
	return w.Flush()
}

func costLine(w io.Writer, name string, g *control.CostGroup) {
	cost := report.Money(g.Cost)
	if g.Cost != nil && g.Unpriced > 0 {
		cost += "+"
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t\n", name, g.Requests, g.Attempts, g.Failed, g.InputTokens, g.CachedTokens, g.OutputTokens,
		cost, figure(g.PerMillionInput), figure(g.PerMillionOutput), figure(g.PerMillion), small(g.PerSuccess))
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 3, 64)
}

func small(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 6, 64)
}

func times(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 2, 64) + "x"
}
