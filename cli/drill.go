package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"baton/drills"
	"baton/engine/control"
)

func (a *app) drillCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "drill", Short: "Drills: list, history, show, abort",
		Example: "  baton drill list\n  baton drill history\n  baton drill show 20261201-100000-4f2a\n  baton drill abort", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("drill: list, history, show or abort? (`baton drill --help`)")
		},
	}
	c.AddCommand(a.drillListCommand(), a.drillHistoryCommand(), a.drillShowCommand(), &cobra.Command{
		Use: "abort", Short: "End the drill that runs and restore its vendor", Example: "  baton drill abort", Args: cobra.NoArgs,
		RunE: a.sends(func([]string) (control.Command, error) { return &control.AbortDrill{Meta: a.meta()}, nil },
			func([]string) string { return "aborted; the vendor is restored" }),
	})
	return c
}

func (a *app) drillListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "The scenarios and what each claims", Example: "  baton drill list", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.ask(func(ctx context.Context, c control.Control) error {
				all, err := control.Get[[]control.Scenario](ctx, c, control.Scenarios{})
				if err != nil {
					return err
				}
				for _, s := range all {
					fmt.Fprintf(a.out, "%-20s %s (fault %s, judged by %s)\n", s.Name, s.Claim, s.Fault.Kind, s.Judge)
				}
				return nil
			})
		},
	}
}

func (a *app) drillHistoryCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "history", Short: "Past drills, newest first", Example: "  baton drill history --json", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := recorded(a, control.Drills{}, func(dir string) ([]control.Report, error) { return drills.History(dir) })
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(map[string]any{"drills": all})
			}
			return a.printHistory(all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) printHistory(all []control.Report) error {
	if len(all) == 0 {
		fmt.Fprintln(a.out, "no drills are recorded")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSCENARIO\tVENDOR\tVERDICT\tCUTOVER\tFAILED\tWHO")
	for _, r := range all {
		cut := "-"
		if r.CutoverS != nil {
			cut = clockText(*r.CutoverS)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.ID, r.Scenario, r.Vendor, r.Verdict, cut, r.Requests.Failed, r.Who)
	}
	return w.Flush()
}

func (a *app) drillShowCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID", Short: "The report of one drill", Example: "  baton drill show 20261201-100000-4f2a", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := recorded(a, control.DrillByID{ID: args[0]}, func(dir string) (*control.Report, error) { return drills.Read(dir, args[0]) })
			if err != nil {
				return err
			}
			if !asJSON {
				if md, err := os.ReadFile(r.Files["markdown"]); err == nil {
					_, err = a.out.Write(md)
					return err
				}
			}
			return a.printJSON(r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// recorded asks the engine for records, and reads the state directory where none
// runs: they are looked at after the event, too.
func recorded[T any](a *app, q control.Query, read func(dir string) (T, error)) (T, error) {
	var zero T
	dir, err := a.findState()
	if err != nil {
		return zero, err
	}
	here := a.controlURL == "" && a.env("BATON_CONTROL") == ""
	if here && address(dir) == "" {
		return read(filepath.Join(dir, "drills"))
	}
	c, err := a.remote("")
	if err != nil {
		return zero, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	v, err := control.Get[T](ctx, c, q)
	var e *control.Error
	if here && errors.As(err, &e) && e.Kind == control.Unreachable { // it was killed outright, and left its address
		return read(filepath.Join(dir, "drills"))
	}
	return v, err
}
