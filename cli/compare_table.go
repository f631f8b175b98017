package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// compareWidth is the widest that a vendor's column gets, in cells.
const compareWidth = 34

// writeComparison writes the vendors side by side, and below what differs.
func writeComparison(w io.Writer, c *Comparison) {
	rows := [][]string{{""}}
	add := func(name string, of func(*Answer) string) {
		row := []string{name}
		for i := range c.Answers {
			s := of(&c.Answers[i])
			if s == "" {
				s = "-"
			}
			row = append(row, ansi.Truncate(s, compareWidth, "…"))
		}
		rows = append(rows, row)
	}
	for i := range c.Answers {
		name := c.Answers[i].Vendor
		if c.Answers[i].Simulated {
			name += " SIMULATED"
		}
		rows[0] = append(rows[0], name)
	}
	add("asked for", func(x *Answer) string { return x.Asked })
	add("answered by", func(x *Answer) string { return x.Model })
	add("status", func(x *Answer) string {
		switch {
		case x.Asked == "":
			return "not asked"
		case x.Status == 0:
			return "no answer"
		}
		return strconv.Itoa(x.Status)
	})
	add("first token", func(x *Answer) string { return msText(x.FirstTokenMs) })
	add("whole", func(x *Answer) string { return msText(x.TotalMs) })
	add("tokens in, out", func(x *Answer) string {
		if !x.Usage {
			return "not counted"
		}
		return fmt.Sprintf("%d, %d", *x.InputTokens, *x.OutputTokens)
	})
	add("cached tokens", func(x *Answer) string {
		if x.CachedTokens == nil {
			return ""
		}
		return fmt.Sprintf("%d in %s", *x.CachedTokens, strings.TrimSuffix(x.CachedField, ".cached_tokens"))
	})
	add("finish reason", func(x *Answer) string { return x.Finish })
	add("[DONE]", func(x *Answer) string {
		if x.Done {
			return "yes"
		}
		return "no"
	})
	add("request id in", func(x *Answer) string { return x.IDHeader })
	add("cost, "+c.Currency, func(x *Answer) string {
		if x.Cost == nil {
			return ""
		}
		return fmt.Sprintf("%.6f", *x.Cost)
	})
	for _, name := range limitHeaders(c.Answers) {
		add(name, func(x *Answer) string { return x.RateLimits[name] })
	}
	fmt.Fprintln(w)
	writeAligned(w, rows)
	if len(limitHeaders(c.Answers)) == 0 {
		fmt.Fprintln(w, "no vendor announces a rate limit in its headers")
	}
	fmt.Fprintln(w)
	for _, d := range c.Differences {
		mark := "note: "
		if d.Hurts {
			mark = "HURTS a failover: "
		}
		fmt.Fprintln(w, mark+d.Text)
	}
	if len(c.Differences) == 0 {
		fmt.Fprintln(w, "nothing differs that a client would notice")
	}
}

// limitHeaders are the headers about limits that any answer had.
func limitHeaders(all []Answer) []string {
	names := map[string]bool{}
	for i := range all {
		for n := range all[i].RateLimits {
			names[n] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// writeAligned writes rows in columns, by cells.
func writeAligned(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, s := range row {
			width[i] = max(width[i], ansi.StringWidth(s))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, s := range row {
			b.WriteString(pad(s, width[i]+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
