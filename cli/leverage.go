package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"baton/drills"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/ledger/report"
)

// format is how a document is written.
type format struct {
	json, md, csv bool
	html          string
}

func (f *format) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.md, "md", false, "print Markdown")
	c.Flags().BoolVar(&f.csv, "csv", false, "print CSV")
	c.Flags().StringVar(&f.html, "html", "", "write one HTML page into this file")
}

// write writes a document: doc is the page's JSON.
func (a *app) write(f *format, p *report.Page, doc any) error {
	chosen := 0
	for _, on := range []bool{f.json, f.md, f.csv} {
		if on {
			chosen++
		}
	}
	if chosen > 1 {
		return errors.New("one of --json, --md and --csv at a time")
	}
	if f.html != "" {
		var b strings.Builder
		if err := p.HTML(&b); err != nil {
			return err
		}
		if err := renameio.WriteFile(f.html, []byte(b.String()), 0o600); err != nil {
			return fmt.Errorf("write the page: %w", err)
		}
		if chosen == 0 {
			fmt.Fprintln(a.out, "written to", f.html)
			return nil
		}
	}
	var to func(io.Writer) error
	switch {
	case f.json:
		return a.printJSON(doc)
	case f.md:
		to = p.Markdown
	case f.csv:
		to = p.CSV
	default:
		to = p.Text
	}
	return to(a.out)
}

func (a *app) leverageCommand() *cobra.Command {
	var f format
	var since, until string
	var q control.LeverageOf
	terms := map[string]*string{}
	c := &cobra.Command{
		Use: "leverage", Short: "What having several vendors costs and is worth: a page for a negotiation", Args: cobra.NoArgs,
		Long:    "What having several vendors costs against a single contract, the price at which each loses its share, how much can credibly be moved, and from how many calls a day the second one pays.\nThe page is internal and says so; --for makes the copy for one vendor, without the others' names and prices.",
		Example: "  baton leverage --overhead 700\n  baton leverage --since 30d --html leverage.html\n  baton leverage --for lanyun --md",
		RunE: func(*cobra.Command, []string) error {
			var err error
			if q.Since, q.Until, err = period(since, until, leverageOver, time.Now()); err != nil {
				return err
			}
			if err := readTerms(terms, &q.Terms); err != nil {
				return err
			}
			l, err := a.leverage(q)
			if err != nil {
				return err
			}
			return a.write(&f, report.Leverage(l), l)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&q.For, "for", "", "the copy for this vendor: the others' names and prices masked")
	c.Flags().StringVar(&since, "since", "", "how long ago (24h, 7d) or a day; default 30d")
	c.Flags().StringVar(&until, "until", "", "as --since; default now")
	for _, t := range []struct{ name, says string }{
		{"overhead", "per day, what a second vendor takes beside its calls, in place of ledger.overhead"},
		{"discount", "what the primary alone would take off (5% or 0.05), in place of ledger.single_discount"},
		{"won", "what competing has taken off already, in place of ledger.won"},
		{"outage-cost", "lost per minute without service, in place of ledger.outage_cost"},
		{"outage-minutes", "minutes per month that the second vendor saves, in place of ledger.outage_minutes"},
	} {
		terms[t.name] = new(string)
		c.Flags().StringVar(terms[t.name], t.name, "", t.says)
	}
	c.AddCommand(a.dossierCommand())
	return c
}

func readTerms(given map[string]*string, t *control.Terms) error {
	for name, to := range map[string]**float64{
		"overhead": &t.Overhead, "discount": &t.Discount, "won": &t.Won, "outage-cost": &t.OutageCost, "outage-minutes": &t.OutageMins,
	} {
		s := *given[name]
		if s == "" {
			continue
		}
		part := name == "discount" || name == "won"
		number, percent := strings.CutSuffix(s, "%")
		v, err := strconv.ParseFloat(number, 64)
		if percent {
			v /= 100
		}
		switch {
		case err != nil || !(v >= 0) || math.IsInf(v, 0) || percent && !part:
			return fmt.Errorf("--%s: %q is no figure of 0 or more", name, s)
		case part && v >= 1:
			return fmt.Errorf("--%s: %q is no part of a price: under 100%% (or 1)", name, s)
		}
		*to = &v
	}
	return nil
}

// leverage asks the engine, or reads the state where none runs.
func (a *app) leverage(q control.LeverageOf) (l *control.Leverage, err error) {
	err = a.moneyFrom(func(ctx context.Context, c control.Control) error {
		l, err = control.Get[*control.Leverage](ctx, c, q)
		return err
	}, func(ctx context.Context, v *offline) error {
		if q.For != "" && !known(v.cfg, q.For) {
			return fmt.Errorf("there is no vendor %q", q.For)
		}
		acc, err := v.Account(ctx, q.Since, q.Until, true)
		if err != nil {
			return err
		}
		acc.Simulated = v.cfg.Simulated()
		f := factsOf(v.cfg, filepath.Join(v.dir, "drills"), q.Until)
		f.Terms = q.Terms
		learned, err := v.Limits(ctx)
		if err != nil {
			return err
		}
		book := ledger.NewBook(v.cfg)
		f.Measured = measured(learned, book.Zone)
		if l = book.Leverage(acc, f); q.For != "" {
			l = ledger.Mask(l, q.For)
		}
		return nil
	})
	return l, err
}

func (a *app) dossierCommand() *cobra.Command {
	var f format
	var q control.DossierOf
	c := &cobra.Command{
		Use: "dossier VENDOR", Short: "A vendor's month, to mail to it: bad minutes, request ids, P99, refusals, limits", Args: cobra.ExactArgs(1),
		Example: "  baton leverage dossier lanyun\n  baton leverage dossier lanyun --month 2026-11 --html lanyun.html",
		RunE: func(_ *cobra.Command, args []string) error {
			q.Vendor = args[0]
			d, err := a.dossier(q)
			if err != nil {
				return err
			}
			return a.write(&f, report.Dossier(d), d)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&q.Month, "month", "", "2026-11; default the present one")
	return c
}

func (a *app) dossier(q control.DossierOf) (d *control.Dossier, err error) {
	err = a.moneyFrom(func(ctx context.Context, c control.Control) error {
		d, err = control.Get[*control.Dossier](ctx, c, q)
		return err
	}, func(ctx context.Context, v *offline) error {
		if !known(v.cfg, q.Vendor) {
			return fmt.Errorf("there is no vendor %q", q.Vendor)
		}
		learned, err := v.Limits(ctx)
		if err != nil {
			return err
		}
		book := ledger.NewBook(v.cfg)
		d, err = dossierOf(ctx, v, book, v.cfg, measured(learned, book.Zone), q)
		return err
	})
	return d, err
}

// proofs are the drills, ordered or not, that were passed and lost a vendor whole,
// from their records.
func proofs(dir string, until time.Time) []ledger.Proof {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	all, err := drills.History(dir)
	if err != nil {
		return nil
	}
	var out []ledger.Proof
	for i := range all {
		if !proves(&all[i], until) {
			continue
		}
		r, err := drills.Read(dir, all[i].ID) // with its series
		if err != nil {
			continue
		}
		share, rate, ok := before(r)
		if !ok {
			continue
		}
		p := ledger.Proof{ID: r.ID, Vendor: r.Vendor, At: r.Started, Share: share, Rate: rate}
		p.Text = fmt.Sprintf("%s on %s UTC: %s lost with %.1f %% of %.1f calls/s, cutover %.1f s, %d of %d requests failed", r.Scenario, r.Started.UTC().Format("2006-01-02 15:04"),
			r.Vendor, share, rate, *r.CutoverS, r.Requests.Failed, r.Requests.Total)
		out = append(out, p)
	}
	return out
}

// proves says whether a drill shows that its vendor can be done without.
func proves(r *control.Report, until time.Time) bool {
	whole := r.Fault.Percent == nil || *r.Fault.Percent >= 100
	return r.Verdict == control.Passed && r.CutoverS != nil && whole && (r.Judge == "" || r.Judge == "cutover") && until.Sub(r.Started) <= ledger.ProofFor
}

// before is the vendor's share (percent) and the rate of requests before the
// fault: of the seconds before it, or where none were recorded, of the weights
// and the first second.
func before(r *control.Report) (share, rate float64, ok bool) {
	its, all, seconds, requests := int64(0), int64(0), 0, int64(0)
	for _, p := range r.Series {
		if p.TS >= 0 {
			continue
		}
		for v, n := range p.Attempts {
			if all += n; v == r.Vendor {
				its += n
			}
		}
		requests += p.Requests
		seconds++
	}
	if all > 0 {
		return 100 * float64(its) / float64(all), float64(requests) / float64(seconds), true
	}
	if len(r.Weights) == 0 {
		return 0, 0, false
	}
	n := 0
	for _, p := range r.Series {
		if p.TS < 10 {
			requests += p.Requests
			n++
		}
	}
	if n > 0 {
		rate = float64(requests) / float64(n)
	}
	return r.Weights[0].Weights[r.Vendor], rate, true
}
