package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) failuresCommand() *cobra.Command {
	var asJSON, asCSV bool
	var limit int
	c := &cobra.Command{
		Use: "failures [VENDOR]", Short: "The last failed attempts, to read or to send to the vendor",
		Example: "  baton failures\n  baton failures lanyun --csv > lanyun.csv", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON && asCSV {
				return errors.New("--json and --csv do not go together")
			}
			q := control.FailuresOf{Limit: limit}
			if len(args) == 1 {
				q.Vendor = args[0]
			}
			return a.ask(func(ctx context.Context, c control.Control) error {
				all, err := control.Get[[]control.Failure](ctx, c, q)
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.printJSON(map[string]any{"failures": all})
				case asCSV:
					return a.failuresCSV(all)
				}
				return a.failuresTable(all)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	c.Flags().IntVar(&limit, "limit", 100, "how many at most")
	return c
}

func statusText(s *int) string {
	if s == nil {
		return ""
	}
	return strconv.Itoa(*s)
}

func (a *app) failuresCSV(all []control.Failure) error {
	w := csv.NewWriter(a.out)
	_ = w.Write([]string{"time", "vendor", "request_id", "vendor_request_id", "attempt", "lane", "endpoint", "outcome", "reason", "status", "clock", "after_ms", "rescued", "message"})
	for _, f := range all {
		_ = w.Write([]string{
			f.Time.UTC().Format(time.RFC3339Nano), f.Vendor, cell(f.RequestID), cell(f.VendorRequestID), strconv.Itoa(f.Attempt), f.Lane, cell(f.Endpoint), f.Outcome, cell(f.Reason),
			statusText(f.Status), f.Clock, strconv.FormatFloat(f.AfterMs, 'f', 1, 64), strconv.FormatBool(f.Rescued), cell(f.Message),
		})
	}
	w.Flush()
	return w.Error()
}

// cell keeps a text of somebody else's from being a formula where the file is opened as
// a sheet.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

func (a *app) failuresTable(all []control.Failure) error {
	if len(all) == 0 {
		fmt.Fprintln(a.out, "no failed attempts")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tVENDOR\tOUTCOME\tREASON\tSTATUS\tCLOCK\tAFTER\tRESCUED\tVENDOR'S ID\tMESSAGE")
	for _, f := range all {
		rescued := "no"
		if f.Rescued {
			rescued = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%.0fms\t%s\t%s\t%s\n", f.Time.Local().Format("15:04:05.000"), f.Vendor, f.Outcome, f.Reason, statusText(f.Status), f.Clock, f.AfterMs, rescued, f.VendorRequestID, f.Message)
	}
	return w.Flush()
}
