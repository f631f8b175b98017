package draw

import (
	"math"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Series of which asciigraph fails, or draws another number of rows.
func TestLines_HoldTheirSizeWhateverTheValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, v := range [][]float64{nil, {}, {1}, {nan, nan}, {inf, 1, 2}, {-5, -6}, {0, 0, 0}, {1e300, 1}, {3, nan, 3, nan}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		for w := 0; w < 90; w += 11 {
			for h := range 14 {
				all := []Curve{{V: v, Ink: 80}, {V: []float64{1, 2}, Ink: 176}}
				wantSize(t, "lines", Lines(all, w, h, moneyLabel, look(h%2 == 0, theme.True)), w, h)
				wantSize(t, "lines", Lines(all[:1], w, h, moneyLabel, look(false, theme.Plain)), w, h)
			}
		}
	}
}

func TestLines_LabelOnlyRoundFigures(t *testing.T) {
	got := strings.Join(Lines([]Curve{{V: []float64{120, 160}}}, 60, 9, moneyLabel, look(false, theme.Plain)), "\n")
	for _, want := range []string{"200.00", "100.00", "0"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s at the axis\n%s", want, got)
		}
	}
}

func TestMoney_KeepsTheFiguresThatMatter(t *testing.T) {
	for _, x := range []struct {
		v    float64
		want string
	}{{0, "0.00"}, {0.42, "0.42"}, {0.002658, "0.00266"}, {0.0001, "0.0001"}, {1e-9, "<0.00001"}, {3.1, "3.10"}, {999.4, "999.40"}, {4213.4, "4,213"}, {-12.66, "-12.66"}, {-0.5, "-0.50"}} {
		if got := Money(&x.v); got != x.want {
			t.Errorf("%v is %q, want %q", x.v, got, x.want)
		}
	}
	if got := Money(nil); got != "--" {
		t.Errorf("an unknown amount is %q", got)
	}
}

func TestLimitText_SaysHowMuchOfWhatForWhomAndWhy(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := now.Add(-3 * time.Minute)
	f := control.Figure
	for _, x := range []struct {
		l    control.Limit
		want string
	}{
		{control.Limit{}, "no limit known"},
		{control.Limit{KnownRPS: f(20)}, "20/s, configured"},
		{control.Limit{LearnedRPS: f(20), Type: "requests", Scope: "account", LearnedAt: &at, Evidence: "from 41 refusals", Confidence: f(0.92)}, "~20/s per account, learned 3:00 ago · from 41 refusals · 92% sure"},
		{control.Limit{Type: "tokens", Scope: "key", Unit: "tokens/min", Value: f(60000), LearnedAt: &at}, "~60,000 tokens/min per key, learned 3:00 ago"},
		{control.Limit{Type: "concurrency", Value: f(16), LearnedAt: &at}, "~16 in flight, learned 3:00 ago"},
		{control.Limit{LearnedRPS: f(20), Type: "requests", Scope: "account", LearnedAt: &at, Evidence: "~20/s per account, learned 3 min ago from 41 refusals", Confidence: f(0.92)}, "~20/s per account, learned 3:00 ago · from 41 refusals · 92% sure"},
		{control.Limit{Type: "slope", Evidence: "slope: rose too fast"}, "its rate may rise slowly only · slope: rose too fast"},
	} {
		if got := LimitText(&x.l, now, look(false, theme.Plain)); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
