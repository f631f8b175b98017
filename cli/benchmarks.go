package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"baton/drills/stress"
)

// benchmarks are the imported figures of a state directory.
func benchmarks(state string) stress.Benchmarks {
	return stress.Benchmarks{Path: filepath.Join(state, "benchmarks.csv")}
}

func (a *app) benchmarksCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "benchmarks", Short: "What third parties measured, to hold our own figures against",
		Example: "  baton benchmarks import aiping.csv\n  baton benchmarks show", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("benchmarks: import or show? (`baton benchmarks --help`)")
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "import FILE", Short: "Add the figures of a CSV file to those that are kept",
		Long: "Add the figures of a CSV file to those that are kept in the state directory; one that is there already is replaced. Columns: " + strings.Join(stress.Columns, ",") +
			".\nmetric is ttft, e2e, tpot, throughput or success_rate; stat p50, p75, p90, p95, p99 or mean; unit ms, s, tok/s or ratio. What is not known is left empty.",
		Example: "  baton benchmarks import aiping.csv", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.importBenchmarks(args[0]) },
	}, a.showBenchmarksCommand())
	return c
}

func (a *app) importBenchmarks(path string) error {
	dir, err := a.findState()
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	more, err := stress.ReadBenchmarks(file)
	if err != nil {
		return err
	}
	added, replaced, err := benchmarks(dir).Import(more)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d figures added, %d replaced\n", added, replaced)
	return nil
}

func (a *app) showBenchmarksCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show", Short: "The kept figures, beside our own of the last stress test", Example: "  baton benchmarks show", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := a.heldAgainst()
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(map[string]any{"benchmarks": all})
			case len(all) == 0:
				fmt.Fprintln(a.out, "no published figures are kept: `baton benchmarks import FILE`, or [vendors.published] in the configuration")
				return nil
			}
			return a.printBenchmarks(all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// heldAgainst is every published figure, those of the configuration too, held against
// the last report of its vendor in which anything was measured.
func (a *app) heldAgainst() ([]stress.Comparison, error) {
	dir, err := a.findState()
	if err != nil {
		return nil, err
	}
	kept, err := benchmarks(dir).Read()
	if err != nil {
		return nil, err
	}
	reports, err := stress.History{Dir: filepath.Join(dir, "stress")}.List()
	if err != nil {
		return nil, err
	}
	if cfg, err := a.looseConfig(); err == nil {
		for i := range cfg.Vendors {
			kept = append(kept, stress.PublishedOf(nil, &cfg.Vendors[i], "")...)
		}
	}
	out := []stress.Comparison{}
	for _, b := range kept {
		run := &stress.RunReport{Vendor: b.Vendor}
		for _, rep := range reports {
			if r := rep.Run(b.Vendor); r != nil && len(r.Levels) > 0 {
				run = r
				break
			}
		}
		out = append(out, stress.Publish(run, []stress.Benchmark{b})...)
	}
	return out, nil
}

func (a *app) printBenchmarks(all []stress.Comparison) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VENDOR\tMODEL\tSOURCE\tMETRIC\tSTAT\tTHEIRS\tOURS\tOUR P99\tAT C")
	for i := range all {
		c := &all[i]
		unit := map[string]string{"throughput": " tok/s", "success_rate": ""}
		u, ok := unit[c.Published.Metric]
		if !ok {
			u = " ms"
		}
		at := "-"
		if c.Ours != nil {
			at = fmt.Sprint(c.Concurrency)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.4g%s\t%s\t%s\t%s\n", c.Published.Vendor, c.Published.Model, c.Published.Source, c.Published.Metric, c.Published.Stat, c.Value, u, withUnit(c.Ours, u), withUnit(c.OursP99, u), at)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range all {
		if len(all[i].Warnings) > 0 {
			fmt.Fprintf(a.out, "%s %s: %s\n", all[i].Published.Vendor, all[i].Published.Source, strings.Join(all[i].Warnings, "; "))
		}
	}
	return nil
}

func withUnit(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g%s", *v, unit)
}
