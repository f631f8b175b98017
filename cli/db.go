package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/store"
)

func (a *app) dbCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "db", Short: "The state's file: give back room, export what it holds",
		Example: "  baton db vacuum\n  baton db export attempts --since 24h > attempts.csv",
	}
	c.AddCommand(a.vacuumCommand(), a.exportCommand())
	return c
}

func (a *app) vacuumCommand() *cobra.Command {
	return &cobra.Command{
		Use: "vacuum", Short: "Give back the room of what was removed", Example: "  baton db vacuum", Args: cobra.NoArgs,
		Long: "Give back the room of what was removed. It works while an engine runs: traffic goes on, and what it costs waits in memory meanwhile.",
		RunE: func(*cobra.Command, []string) error {
			var done *control.Vacuumed
			err := a.moneyFrom(func(ctx context.Context, c control.Control) (err error) {
				done, err = control.Get[*control.Vacuumed](ctx, c, control.Vacuum{})
				return err
			}, func(ctx context.Context, v *offline) error {
				before, after, err := v.Vacuum(ctx)
				done = &control.Vacuumed{Before: before, After: after}
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%d bytes before, %d after\n", done.Before, done.After)
			return nil
		},
	}
}

func (a *app) exportCommand() *cobra.Command {
	var since, until, output string
	var asJSON bool
	c := &cobra.Command{
		Use: "export [TABLE]", Short: "Write attempts, minutes, latencies or events as CSV or JSON lines", Args: cobra.MaximumNArgs(1),
		Long:    "Write a table as CSV or JSON lines: " + strings.Join(store.Tables(), ", ") + " (default attempts). It works while an engine runs.\nTimes are RFC 3339 in UTC, took and first_token nanoseconds, costs of the tables minutes and attempts 10^-12 units of the currency (no cost: unpriced).",
		Example: "  baton db export > attempts.csv\n  baton db export minutes --since 2026-11-01 --until 2026-12-01 --jsonl -o november.jsonl",
		RunE: func(_ *cobra.Command, args []string) error {
			table := "attempts"
			if len(args) == 1 {
				table = args[0]
			}
			from, to, err := period(since, until, leverageOver, time.Now())
			if err != nil {
				return err
			}
			out, end, err := a.output(output)
			if err != nil {
				return err
			}
			err = a.export(table, from, to, rowWriter(out, asJSON))
			return end(err)
		},
	}
	c.Flags().StringVar(&since, "since", "", "how long ago (24h, 7d) or a day; default 30d")
	c.Flags().StringVar(&until, "until", "", "as --since; default now")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write to; default standard output")
	c.Flags().BoolVar(&asJSON, "jsonl", false, "one JSON object a line")
	return c
}

// output opens where an export goes; end closes it, and removes what failed.
func (a *app) output(path string) (w io.Writer, end func(error) error, err error) {
	if path == "" {
		return a.out, func(err error) error { return err }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return f, func(err error) error {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(path)
		}
		return err
	}, nil
}

// export reads a table of the state, or of a copy that the engine makes of it.
func (a *app) export(table string, since, until time.Time, row func([]string, []any) error) error {
	return a.moneyFrom(func(ctx context.Context, c control.Control) error {
		made, err := control.Get[*control.StoreCopy](ctx, c, control.CopyStore{})
		if err != nil {
			return err
		}
		defer func() {
			for _, with := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(made.Path + with)
			}
		}()
		v, err := store.OpenView(made.Path, ledger.NoBook())
		if err != nil {
			return err
		}
		defer v.Close()
		return v.Export(ctx, table, since, until, row)
	}, func(ctx context.Context, v *offline) error { return v.Export(ctx, table, since, until, row) })
}

// rowWriter writes rows as they come.
func rowWriter(w io.Writer, asJSON bool) func(columns []string, values []any) error {
	if asJSON {
		enc := json.NewEncoder(w)
		return func(columns []string, values []any) error {
			doc := map[string]any{}
			for i, c := range columns {
				doc[c] = exported(c, values[i])
			}
			return enc.Encode(doc)
		}
	}
	out, begun := csv.NewWriter(w), false
	return func(columns []string, values []any) error {
		if !begun {
			begun = true
			_ = out.Write(columns)
		}
		record := make([]string, len(columns))
		for i, c := range columns {
			if v := exported(c, values[i]); v != nil {
				record[i] = cell(fmt.Sprint(v))
			}
		}
		_ = out.Write(record)
		out.Flush()
		return out.Error()
	}
}

// exported is a value for the outside.
func exported(column string, v any) any {
	n, ok := v.(int64)
	if !ok {
		return v
	}
	switch column {
	case "ended", "time":
		return time.Unix(0, n).UTC().Format(time.RFC3339Nano)
	case "minute", "quarter":
		return time.Unix(n, 0).UTC().Format(time.RFC3339)
	}
	return n
}
