package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON, watch bool
	c := &cobra.Command{
		Use: "status", Short: "One look at the engine (exit 0: all healthy or drained, 1: not, 2: unreachable)",
		Example: "  baton status\n  baton status --json | jq .vendors[].state\n  baton status --watch", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON && watch {
				return errors.New("--json and --watch do not go together")
			}
			if watch {
				return a.watchStatus()
			}
			return a.ask(func(ctx context.Context, c control.Control) error {
				s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
				if err != nil {
					return err
				}
				if asJSON {
					err = a.printJSON(s)
				} else {
					err = writeStatus(a.out, s)
				}
				if err != nil {
					return err
				}
				if !well(s) {
					return exitCode(exitNo)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the snapshot as JSON")
	c.Flags().BoolVar(&watch, "watch", false, "the present state, then a line each second and each event, until interrupted")
	return c
}

// well says whether every vendor is healthy or drained, and at least one of
// them takes traffic.
func well(s *control.Snapshot) bool {
	healthy := 0
	for _, v := range s.Vendors {
		switch v.State {
		case control.Healthy:
			healthy++
		case control.Drained:
		default:
			return false
		}
	}
	return healthy > 0
}

func (a *app) watchStatus() error {
	c, err := a.remote("")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var last time.Time
	begun := false // with the present state: what happened before it is history
	for u, err := range c.Watch(ctx, time.Second) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if !begun {
			u.Events = nil
		}
		for _, e := range u.Events {
			fmt.Fprintf(a.out, "%s %-4s %s\n", e.Time.Local().Format("15:04:05"), strings.ToUpper(e.Level), e.Text)
		}
		if u.Snapshot != nil && time.Since(last) > 900*time.Millisecond {
			last, begun = time.Now(), true
			fmt.Fprintln(a.out, statusLine(u.Snapshot))
		}
	}
	return nil
}

// statusLine is the state in one line.
func statusLine(s *control.Snapshot) string {
	parts := []string{s.Time.Local().Format("15:04:05")}
	for _, v := range s.Vendors {
		parts = append(parts, fmt.Sprintf("%s %s %.0f%% P99 %s", v.Name, v.State, v.Weight, msText(v.FirstToken["60s"].P99ms)))
	}
	if s.Mode == "observe" {
		parts = append(parts, "observe")
	}
	if s.Failover == "manual" {
		parts = append(parts, "failover manual")
	}
	parts = append(parts, fmt.Sprintf("%.0f req/s, success %s", s.Gateway.RPS, rateText(s.Service.Success10s)))
	parts = append(parts, drillLines(s)...)
	return strings.Join(parts, "  ")
}

// writeStatus is one look for people.
func writeStatus(w io.Writer, s *control.Snapshot) error {
	var b strings.Builder
	sim := ""
	if s.Simulated {
		sim = "  SIMULATED"
	}
	fmt.Fprintf(&b, "baton %s  %s%s  http://%s/v1  up %s  weights %s\n", s.Version, s.Environment, sim, s.Gateway.Address, control.Duration(time.Duration(s.UptimeS)*time.Second), controlWord(s))
	fmt.Fprintf(&b, "service  %.1f requests/s  success %s  first token P50 %s P90 %s P99 %s (60 s, n=%d)\n", s.Gateway.RPS, rateText(s.Service.Success10s),
		msText(s.Service.P50ms), msText(s.Service.P90ms), msText(s.Service.P99ms), s.Service.Count)
	fmt.Fprintf(&b, "totals   %d requests: %d ok, %d failed, %d client faults, %d left; %d failed over; %d attempts\n\n", s.Totals.Requests, s.Totals.OK, s.Totals.Failed,
		s.Totals.ClientFault, s.Totals.ClientCancel, s.Totals.FailedOver, s.Totals.Attempts)
	b.WriteString(pad("VENDOR", 20) + pad("STATE", 12) + pad("WEIGHT", 8) + pad("SHARE", 8) + pad("RPS", 8) + pad("IN FLIGHT", 11) + pad("P90", 9) + pad("P99", 9) + "ERRORS\n")
	for _, v := range s.Vendors {
		name := v.Name
		if v.Label != "" && v.Label != v.Name {
			name = v.Label + " " + v.Name
		}
		f := v.FirstToken["60s"]
		b.WriteString(pad(name, 20) + pad(v.State, 12) + pad(fmt.Sprintf("%.0f%%", v.Weight), 8) + pad(percentText(v.Share60s), 8) + pad(fmt.Sprintf("%.1f", v.RPS), 8) +
			pad(fmt.Sprint(v.InFlight), 11) + pad(msText(f.P90ms), 9) + pad(msText(f.P99ms), 9) + rateText(v.Errors.Rate60s))
		if v.Reason != "" {
			b.WriteString("  " + v.Reason)
		}
		if v.Fault != nil {
			fmt.Fprintf(&b, "  FAULT %s, %s left", strings.TrimSpace(v.Fault.Kind+" "+v.Fault.Lane), control.Duration(time.Until(v.Fault.Until).Round(time.Second)))
		}
		b.WriteByte('\n')
		if v.Release != "" && v.State != control.Healthy {
			b.WriteString("  released by " + v.Release + "\n")
		}
	}
	for _, d := range drillLines(s) {
		b.WriteString("\n" + d + "\n")
	}
	writeOverrides(&b, s)
	for _, al := range s.Alerts {
		b.WriteString("! " + al + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// controlWord is who moves the weights.
func controlWord(s *control.Snapshot) string {
	if s.Mode == "observe" {
		return s.Control + ", observe"
	}
	return s.Control
}

// writeOverrides lists what people have set over the controller, and how each ends.
func writeOverrides(b *strings.Builder, s *control.Snapshot) {
	if len(s.Overrides) == 0 {
		return
	}
	b.WriteString("\noverrides in force\n")
	for _, o := range s.Overrides {
		b.WriteString("  " + o.Text)
		if o.By != "" {
			b.WriteString(", by " + o.By)
		}
		if o.Until != nil {
			fmt.Fprintf(b, ", %s left", control.Duration(o.Until.Sub(s.Time).Round(time.Second)))
		}
		b.WriteString("; ends with: " + o.Release)
		if o.Extend != "" {
			if o.Ending {
				b.WriteString("; ENDS SOON")
			}
			b.WriteString("; longer with: " + o.Extend)
		}
		b.WriteByte('\n')
	}
}

// drillLines are the outage that nobody ordered and the drill, each in a line.
func drillLines(s *control.Snapshot) (out []string) {
	for _, d := range []*control.DrillState{s.Incident, s.Drill} {
		if l := drillLine(d); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// drillLine is the drill in one line, "" without one.
func drillLine(d *control.DrillState) string {
	if d == nil {
		return ""
	}
	s := fmt.Sprintf("drill %s %s %s", d.ID, d.Scenario, d.Vendor)
	if d.Incident {
		s = fmt.Sprintf("INCIDENT %s %s, nobody ordered it", d.ID, d.Vendor)
	}
	if d.Verdict == nil || d.Phase != *d.Verdict {
		s += ": " + d.Phase
	}
	switch {
	case d.CutoverS != nil:
		s += fmt.Sprintf(", cutover %s, asked %s", clockText(*d.CutoverS), asksText(d))
	case d.Verdict == nil:
		s += fmt.Sprintf(", %s, asked %s", clockText(d.ClockS), asksText(d))
	}
	if d.Verdict != nil {
		s += ", " + *d.Verdict
	}
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	if d.Until != nil {
		s += fmt.Sprintf(", ends by itself in %s", control.Duration(time.Until(*d.Until).Round(time.Second)))
	}
	return s + fmt.Sprintf(", %d requests failed", d.Requests.Failed)
}

// clockText is a clock's reading, m:ss.t, rounded half up: a result is not made
// better than it was.
func clockText(s float64) string {
	t := int64(s*10 + 0.5 + 1e-6)
	return fmt.Sprintf("%d:%02d.%d", t/600, t/10%60, t%10)
}

// pad fills s up to n cells: a CJK letter takes two.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-ansi.StringWidth(s))) }

func msText(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v < 1000:
		return fmt.Sprintf("%.0fms", *v)
	}
	return fmt.Sprintf("%.2fs", *v/1000)
}

func rateText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**v)
}
