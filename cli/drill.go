package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"baton/drills"
	"baton/drills/chain"
	"baton/engine/control"
)

func (a *app) drillCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "drill", Short: "Drills: list, run, mark, abort, cancel, history, show, verify",
		Long: "Rehearse losing a vendor: a fault goes into the path to it, the engine (or people) have to notice, and the time until clients are served well without it is measured and kept as evidence.\n" +
			"`baton kill VENDOR` is the shortest of them; docs/drills.md has the rest.",
		Example: "  baton drill list\n  baton drill run kill-primary\n  baton drill history\n  baton drill show 20261201-100000-4f2a\n  baton drill abort", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("drill: list, run, mark, abort, cancel, history, show or verify? (`baton drill --help`)")
		},
	}
	c.AddCommand(a.drillListCommand(), a.drillRunCommand(), a.drillMarkCommand(), a.drillAbortCommand(), a.drillCancelCommand(),
		a.drillHistoryCommand(), a.drillShowCommand(), a.drillVerifyCommand())
	return c
}

func (a *app) drillAbortCommand() *cobra.Command {
	return &cobra.Command{
		Use: "abort", Short: "End the drill that runs and restore its vendor", Example: "  baton drill abort", Args: cobra.NoArgs,
		RunE: a.sends(func([]string) (control.Command, error) { return &control.AbortDrill{Meta: a.meta()}, nil },
			func([]string) string { return "aborted; the vendor is restored" }),
	}
}

func (a *app) drillMarkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mark [N]", Short: "Say that what the drill waits for is done, or tick line N of its checklist",
		Long:    "In an external drill: that the vendor has been cut now, and later that it is back. With a number: ticks that line of the facilitator's checklist, or takes the tick away.",
		Example: "  baton drill mark\n  baton drill mark 2", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m := &control.MarkDrill{Meta: a.meta()}
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 1 {
					return fmt.Errorf("mark: %q is no line of a checklist, which begins at 1", args[0])
				}
				m.Task = n
			}
			return a.ask(func(ctx context.Context, c control.Control) error {
				if err := c.Do(ctx, m); err != nil {
					return err
				}
				_, err := fmt.Fprintln(a.out, marked(ctx, c, m.Task))
				return err
			})
		},
	}
}

// marked says what a mark has done: a line of the checklist may have lost its tick.
func marked(ctx context.Context, c control.Control, task int) string {
	if task == 0 {
		return "marked"
	}
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil || s.Drill == nil || task > len(s.Drill.Checklist) {
		return fmt.Sprintf("line %d is marked", task)
	}
	t := s.Drill.Checklist[task-1]
	return fmt.Sprintf("line %d is %s now: %s", task, map[bool]string{true: "ticked", false: "not ticked"}[t.Done], t.Text)
}

func (a *app) drillCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Take one drill off the schedule, by the id that its announcement has", Example: "  baton drill cancel kill-primary-20261208-1000", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.CancelScheduled{Meta: a.meta(), ID: args[0]}, nil
		}, func(args []string) string { return args[0] + " is cancelled" }),
	}
}

func (a *app) drillListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "The scenarios, and what each does", Args: cobra.NoArgs,
		Long:    "The scenarios that come with baton and your own, which lie in drills/ beside the configuration file. Exit 1: one of your own is wrong, and cannot be run.",
		Example: "  baton drill list\n  baton drill list --json",
		RunE: func(*cobra.Command, []string) error {
			all, wrong, err := a.scenarios()
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(map[string]any{"scenarios": all})
			} else {
				a.printScenarios(all)
			}
			for _, w := range wrong {
				fmt.Fprintln(a.err, "baton:", w)
			}
			if err == nil && len(wrong) > 0 {
				return exitCode(exitNo)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// scenarios asks the engine that runs; where none does, it reads the files.
func (a *app) scenarios() (all []control.Scenario, wrong []error, err error) {
	cfg, cfgErr := a.config()
	if cfgErr == nil {
		_, errs := drills.Own(drills.OwnDir(cfg.Path))
		for _, e := range errs {
			wrong = append(wrong, e)
		}
	}
	if c, err := a.remote(""); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		all, err := control.Get[[]control.Scenario](ctx, c, control.Scenarios{})
		var e *control.Error
		if !errors.As(err, &e) || e.Kind != control.Unreachable || a.controlURL != "" {
			return all, wrong, err
		}
	} else if a.controlURL != "" {
		return nil, nil, err
	}
	if cfgErr != nil {
		return nil, nil, cfgErr
	}
	m, err := drills.New(drills.Options{Config: cfg, Log: func(control.Event) {}, Shows: []drills.Show{storyShow("")}})
	if err != nil {
		return nil, nil, err
	}
	return m.Scenarios(), wrong, nil
}

func (a *app) printScenarios(all []control.Scenario) {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		where := ""
		if s.File != "" {
			where = "  (" + s.File + ")"
		}
		fmt.Fprintf(a.out, "%s%s\n  claims that %s\n  fault %s, target %s, judged by %s, failover %s\n", s.Name, where, s.Claim, s.Fault.Kind, s.Target, s.Judge, s.Failover)
		for _, e := range s.Explain {
			fmt.Fprintf(a.out, "  - %s\n", e)
		}
	}
}

func (a *app) drillHistoryCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "history", Short: "Past drills and incidents, newest first, with their trend", Example: "  baton drill history\n  baton drill history --json", Args: cobra.NoArgs,
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
	fmt.Fprintln(w, "ID\tSCENARIO\tVENDOR\tVERDICT\tCUTOVER\tFAILED\tFAILBACK\tWHO\tTREND")
	for i := range all {
		r := &all[i]
		cut, back, verdict := "-", "-", r.Verdict
		if r.CutoverS != nil {
			cut = clockText(*r.CutoverS)
		}
		if r.FailbackS != nil {
			back = clockText(*r.FailbackS)
		}
		if verdict == "" {
			verdict = "running"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, r.Scenario, r.Vendor, verdict, cut, r.Requests.Failed, back, r.Who, r.Trend)
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
			if asJSON {
				return a.printJSON(r)
			}
			_, err = fmt.Fprint(a.out, drills.Markdown(r))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) drillVerifyCommand() *cobra.Command {
	var asJSON bool
	var head string
	c := &cobra.Command{
		Use: "verify [ID]", Short: "Say whether the records are as they were written (exit 1: one is not)", Args: cobra.MaximumNArgs(1),
		Long: "Each record carries the digest of the one before it. Verify says which have been changed, removed or inserted since. It prints the chain's head: kept elsewhere, in a ticket say, " +
			"it also shows (--head) that nobody has made the whole chain anew or cut off its end.",
		Example: "  baton drill verify\n  baton drill verify 20261201-100000-4f2a\n  baton drill verify --head 9f3c…",
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.findState()
			if err != nil {
				return err
			}
			res, err := chain.Verify(filepath.Join(dir, "drills"))
			if err != nil {
				return err
			}
			return a.verified(res, args, head, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&head, "head", "", "a head that was kept elsewhere")
	return c
}

// verified prints what Verify found, of one record or of all.
func (a *app) verified(res *chain.Result, args []string, head string, asJSON bool) error {
	problems := res.Problems
	if len(args) == 1 {
		link, its := res.Of(args[0])
		if link == nil && len(its) == 0 {
			return fmt.Errorf("there is no drill %q in the chain", args[0])
		}
		problems = its
	}
	said := make([]string, len(problems))
	for i, p := range problems {
		said[i] = p.String()
	}
	if head != "" && !res.Knows(head) {
		said = append(said, "the head "+head+" is not in the chain")
	}
	if asJSON {
		if err := a.printJSON(map[string]any{"head": res.Head, "problems": said}); err != nil {
			return err
		}
	} else {
		for _, s := range said {
			fmt.Fprintln(a.out, s)
		}
		if len(said) == 0 {
			fmt.Fprintln(a.out, "the records are as they were written")
		}
		fmt.Fprintln(a.out, "head", res.Head)
	}
	if len(said) > 0 {
		return exitCode(exitNo)
	}
	return nil
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

// writeReport writes a report's files into a directory of the user's.
func writeReport(dir string, r *control.Report) ([]string, error) {
	files, err := drills.Render(r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths, nil
}

// ticked is a checklist's box.
func ticked(done bool) string {
	if done {
		return "[x]"
	}
	return "[ ]"
}
