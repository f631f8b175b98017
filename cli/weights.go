package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) weightsCommand() *cobra.Command {
	var (
		lasts    time.Duration
		reason   string
		override bool
		asJSON   bool
	)
	c := &cobra.Command{
		Use: "weights [VENDOR=PERCENT... | extend | auto]", Short: "Show the weights, pin them, or give them back to the controller",
		Long:    "Without arguments: the weights as they are. With VENDOR=PERCENT for the vendors: pin them (they sum to 100; a vendor left out gets 0). With extend: the pin holds for another --for from now. With auto: the controller moves them again.",
		Example: "  baton weights\n  baton weights lanyun=70 bailian=30 --for 15m --reason \"price talks\"\n  baton weights extend --for 30m\n  baton weights auto",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return a.ask(func(ctx context.Context, c control.Control) error { return a.showWeights(ctx, c, asJSON) })
			case len(args) == 1 && args[0] == "auto":
				return a.ask(func(ctx context.Context, c control.Control) error {
					if err := c.Do(ctx, &control.ReleaseWeights{Meta: a.meta()}); err != nil {
						return err
					}
					if asJSON {
						return a.showWeights(ctx, c, true)
					}
					fmt.Fprintln(a.out, "weights are the controller's")
					return nil
				})
			}
			var cmd *control.SetWeights
			if len(args) != 1 || args[0] != "extend" {
				w, err := parseWeights(args)
				if err != nil {
					return err
				}
				cmd = &control.SetWeights{Meta: a.meta(), Weights: w, For: control.Duration(lasts), Reason: reason, Override: override}
			}
			return a.ask(func(ctx context.Context, c control.Control) error {
				if cmd == nil {
					again, err := a.extension(ctx, c, lasts)
					if err != nil {
						return err
					}
					cmd = again
				}
				return a.pin(ctx, c, cmd, asJSON)
			})
		},
	}
	c.Flags().DurationVar(&lasts, "for", 0, "how long the pin holds (default 15m, at most 4h)")
	c.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	c.Flags().BoolVar(&override, "override", false, "also against health: an ejected vendor keeps its weight")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// extension is the pin in force once more, for another while from now.
func (a *app) extension(ctx context.Context, c control.Control, lasts time.Duration) (*control.SetWeights, error) {
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil {
		return nil, err
	}
	p := s.Pin
	if p == nil {
		return nil, errors.New("weights: there is no pin to extend")
	}
	cmd := &control.SetWeights{Meta: a.meta(), Weights: p.Weights, For: control.Duration(lasts), Reason: p.Reason, Override: p.Override}
	cmd.Revision = &s.Revision // somebody may release it meanwhile
	return cmd, nil
}

// pin pins the weights and says until when.
func (a *app) pin(ctx context.Context, c control.Control, cmd *control.SetWeights, asJSON bool) error {
	if err := c.Do(ctx, cmd); err != nil {
		return err
	}
	if asJSON {
		return a.showWeights(ctx, c, true)
	}
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil {
		return err
	}
	if s.Pin != nil {
		fmt.Fprintf(a.out, "pinned to %s until %s\n", control.FormatWeights(s.Pin.Weights), s.Pin.Until.Local().Format("15:04:05"))
	}
	return nil
}

// parseWeights reads VENDOR=PERCENT arguments.
func parseWeights(args []string) (map[string]float64, error) {
	w := map[string]float64{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("weights: %q is not VENDOR=PERCENT", arg)
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil {
			return nil, fmt.Errorf("weights: %q of %s is not a number", value, name)
		}
		if _, twice := w[name]; twice {
			return nil, fmt.Errorf("weights: %s is named twice", name)
		}
		w[name] = v
	}
	return w, nil
}

func (a *app) showWeights(ctx context.Context, c control.Control, asJSON bool) error {
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil {
		return err
	}
	if asJSON {
		out := map[string]any{"control": s.Control, "pin": s.Pin, "revision": s.Revision}
		w := map[string]float64{}
		for _, v := range s.Vendors {
			w[v.Name] = v.Weight
		}
		out["weights"] = w
		return a.printJSON(out)
	}
	for _, v := range s.Vendors {
		fmt.Fprintf(a.out, "%-12s %5.1f  target %5.1f  band %g-%g  share %s\n", v.Name, v.Weight, v.Target, v.Band[0], v.Band[1], percentText(v.Share60s))
	}
	if s.Pin != nil {
		fmt.Fprintf(a.out, "pinned by %s until %s\n", s.Pin.By, s.Pin.Until.Local().Format("15:04:05"))
	}
	return nil
}

func percentText(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *p)
}
