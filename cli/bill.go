package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/ledger/report"
)

func (a *app) billCommand() *cobra.Command {
	var vendor, zone, tolerance string
	var asJSON bool
	c := &cobra.Command{
		Use: "bill FILE.csv", Short: "Hold a vendor's bill against the ledger, by day and model", Args: cobra.ExactArgs(1),
		Long:    "Hold a vendor's bill against the ledger, by day and model. The file needs a header with the columns day and model, and some of requests, input_tokens, cached_tokens, output_tokens, amount and currency; vendors' usual names for them are known, Chinese ones too.\nExit code 0: they agree; 1: they differ.",
		Example: "  baton bill lanyun-2026-11.csv --vendor lanyun\n  baton bill november.csv --vendor bailian --timezone UTC --tolerance 0.5%",
		RunE: func(_ *cobra.Command, args []string) error {
			part, err := tolerated(tolerance)
			if err != nil {
				return err
			}
			bill, err := readBill(args[0])
			if err != nil {
				return err
			}
			r, err := a.reconcile(bill, vendor, zone, part)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(r)
			} else {
				err = a.printBill(r)
			}
			if err == nil && len(r.Differences) > 0 {
				return exitCode(exitNo)
			}
			return err
		},
	}
	c.Flags().StringVar(&vendor, "vendor", "", "whose bill it is (needed where there are several vendors)")
	c.Flags().StringVar(&zone, "timezone", "", "of the bill's days; default ledger.timezone")
	c.Flags().StringVar(&tolerance, "tolerance", "0", "what counts as the same, as part of the ledger's figure: 0.5%")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func tolerated(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, fmt.Errorf("--tolerance: %q is no part such as 0.5%%", s)
	}
	return v, nil
}

func readBill(path string) ([]ledger.Charge, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bill, err := ledger.ReadBill(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(bill) == 0 {
		return nil, fmt.Errorf("%s: the bill has no lines", path)
	}
	return bill, nil
}

// reconcile holds the bill against the ledger of its days.
func (a *app) reconcile(bill []ledger.Charge, vendor, zone string, tolerance float64) (*ledger.Reconciled, error) {
	cfg, err := a.looseConfig()
	if err != nil {
		return nil, err
	}
	if vendor == "" && len(cfg.Vendors) == 1 {
		vendor = cfg.Vendors[0].Name
	}
	if !known(cfg, vendor) {
		return nil, fmt.Errorf("whose bill is it? --vendor is one of %s", strings.Join(vendorNames(cfg), ", "))
	}
	for i := range bill {
		if cur := bill[i].Currency; cur != "" && !strings.EqualFold(cur, cfg.Ledger.Currency) {
			return nil, fmt.Errorf("the bill is in %s, the ledger in %s: amounts cannot be compared", cur, cfg.Ledger.Currency)
		}
	}
	if zone == "" {
		zone = cfg.Ledger.Timezone
	}
	days, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("--timezone: there is no time zone %q", zone)
	}
	q := control.LinesOf{Vendor: vendor, Timezone: zone}
	q.Since, _ = time.ParseInLocation(time.DateOnly, bill[0].Day, days)
	last, _ := time.ParseInLocation(time.DateOnly, bill[len(bill)-1].Day, days)
	q.Until = last.AddDate(0, 0, 1).Add(-time.Second)
	lines, err := a.lines(q)
	if err != nil {
		return nil, err
	}
	r := ledger.Reconcile(bill, lines, tolerance)
	r.Vendor, r.Currency, r.Timezone = vendor, cfg.Ledger.Currency, zone
	return &r, nil
}

func (a *app) lines(q control.LinesOf) (lines []control.BillLine, err error) {
	err = a.moneyFrom(func(ctx context.Context, c control.Control) error {
		lines, err = control.Get[[]control.BillLine](ctx, c, q)
		return err
	}, func(ctx context.Context, v *offline) error {
		lines, err = linesOf(ctx, v, ledger.NewBook(v.cfg), q)
		return err
	})
	return lines, err
}

func known(cfg *config.Config, vendor string) bool {
	for i := range cfg.Vendors {
		if cfg.Vendors[i].Name == vendor {
			return true
		}
	}
	return false
}

func (a *app) printBill(r *ledger.Reconciled) error {
	fmt.Fprintf(a.out, "%s, days of %s: billed %s %s, recorded %s; %d days and models compared\n", r.Vendor, r.Timezone, report.Money(r.Billed), r.Currency, report.Money(r.Recorded), r.Compared)
	if len(r.Differences) == 0 {
		fmt.Fprintln(a.out, "they agree")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DAY\tMODEL\tWHAT\tBILL\tLEDGER\tDIFFERENCE\t\tNOTE")
	for _, d := range r.Differences {
		percent := ""
		if d.Percent != nil {
			percent = strconv.FormatFloat(*d.Percent, 'f', 2, 64) + " %"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Day, cell(d.Model), d.What, plainFigure(d.Bill), plainFigure(d.Ledger), plainFigure(d.More), percent, d.Note)
	}
	return w.Flush()
}

func plainFigure(v *float64) string {
	if v == nil {
		return "-"
	}
	if *v == float64(int64(*v)) {
		return strconv.FormatInt(int64(*v), 10)
	}
	return strconv.FormatFloat(*v, 'f', 4, 64)
}
