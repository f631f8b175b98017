package speed

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is the results as Markdown, ready for docs/performance.md.
type report struct {
	detail, ratios strings.Builder
}

// add takes in the results of one case: the mock, the reference and baton.
func (r *report) add(c *testCase, results []*measured) {
	mock, reference, baton := results[0], results[1], results[2]
	fmt.Fprintf(&r.detail, "\n%s: %s\n\n", c.name, c)
	fmt.Fprintf(&r.detail, "| | requests | requests/s | CPU s per 10,000 | first token P50 / P99 ms | added to the mock's | cut | failed | RSS MB idle / loaded |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, m := range results {
		fmt.Fprintf(&r.detail, "| %s | %d | %.0f | %.2f | %s / %s | %s / %s | %d | %d | %.0f / %.0f |\n",
			m.name, m.all.answers, m.perSecond(), m.all.perTenThousand(),
			ms(m.quantile(0.5)), ms(m.quantile(0.99)), ms(m.quantile(0.5)-mock.quantile(0.5)), ms(m.quantile(0.99)-mock.quantile(0.99)),
			m.all.cut, m.all.failed, mb(m.idle), mb(m.all.rss))
	}
	cpu, low, high := baton.ratio(reference)
	fmt.Fprintf(&r.ratios, "| %s | %.2f (%.2f-%.2f) | %.2f | %s | %s | %d | %.2f |\n", c.name, cpu, low, high,
		baton.perSecond()/reference.perSecond(),
		added(baton, reference, mock, 0.5), added(baton, reference, mock, 0.99),
		baton.all.cut+baton.all.failed, mb(baton.all.rss)/mb(reference.all.rss))
}

// added is how the time that baton adds to the mock's stands to what the reference
// adds; a word where either adds nothing that can be told from noise.
func added(baton, reference, mock *measured, q float64) string {
	b, r := baton.quantile(q)-mock.quantile(q), reference.quantile(q)-mock.quantile(q)
	if b < 50*time.Microsecond || r < 50*time.Microsecond {
		return "-"
	}
	return fmt.Sprintf("%.2f", b.Seconds()/r.Seconds())
}

// String returns all of it.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d cores, load average %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), loadAverage())
	b.WriteString(r.detail.String())
	b.WriteString("\nbaton / reference\n\n| case | CPU per request (middle half of the rounds) | requests/s | added P50 | added P99 | cut or failed | RSS loaded |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	b.WriteString(r.ratios.String())
	return b.String()
}

// loadAverage is the machine's over the last 1, 5 and 15 minutes.
func loadAverage() string {
	b, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return "unknown"
	}
	return strings.Join(f[:3], " ")
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e3) }

func mb(n int64) float64 { return float64(n) / (1 << 20) }
