package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// elements parses a chart strictly and returns its elements and its text.
func elements(t *testing.T, svg string) (count map[string]int, texts string) {
	t.Helper()
	count = map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count, texts
		}
		if err != nil {
			t.Fatalf("the chart is not well-formed: %v\n%s", err, svg)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					count[e.Name.Local+"."+strings.Fields(a.Value)[0]]++
				}
			}
			count[e.Name.Local]++
		case xml.CharData:
			texts += string(e) + "\n"
		}
	}
}

var coordinate = regexp.MustCompile(`(?:NaN|Inf)`)

func seconds(n int, f func(i int) float64) []XY {
	out := make([]XY, n)
	for i := range out {
		out[i] = XY{float64(i), f(i)}
	}
	return out
}

func example() Lines {
	return Lines{
		Title: "First token, P99",
		X:     Axis{Label: "from the fault", Scale: Time},
		Y:     Axis{Label: "ms", Zero: true},
		Series: []Series{
			{Name: "蓝耘", Points: seconds(90, func(i int) float64 { return 400 + 80*math.Sin(float64(i)/5) })},
			{Name: "bailian", Stroke: Dashed, Points: seconds(90, func(i int) float64 {
				if i > 30 && i < 40 {
					return Missing()
				}
				return 600
			})},
		},
		Spans:  []Span{{5, 60}},
		Marks:  []Mark{{5, "fault"}, {5.8, "detected 0:00.8"}, {7, "shifted 0:02.0"}, {9.1, "cutover 0:04.1"}, {60, "restored"}, {88, "failback"}},
		Limits: []Limit{{2000, "SLO 2000 ms"}},
	}
}

func charts() map[string]string {
	line := example()
	share := Stack{
		Title: "Share of attempts", X: Axis{Scale: Time}, Y: Axis{Label: "%", Max: 100},
		Layers: []Series{
			{Name: "lanyun", Points: seconds(60, func(i int) float64 { return 75 - min(75, float64(max(0, i-10))*20) })},
			{Name: "bailian", Points: seconds(60, func(i int) float64 { return 25 + min(75, float64(max(0, i-10))*20) })},
		},
		Marks: []Mark{{10, "fault"}, {14, "cutover"}},
	}
	bars := Bars{
		Title: "P99 by concurrency", Y: Axis{Label: "ms"}, LabelX: "concurrency", Groups: []string{"1", "10", "100"},
		Sets: []BarSet{
			{Name: "lanyun", Bars: []Bar{{Value: 300, Low: 280, High: 340, Note: "n=1000"}, {Value: 420}, {Value: 1900, Low: 1500, High: 2500}}},
			{Name: "bailian", Bars: []Bar{{Value: 350}, {Value: Missing()}}},
		},
		Limits: []Limit{{2000, "SLO"}},
	}
	tail := Percentiles{
		Title: "Latency by percentile", Y: Axis{Label: "ms", Scale: Log},
		Series: []Series{{Name: "lanyun", Points: []XY{{0, 90}, {50, 300}, {90, 470}, {99, 718}, {99.9, 4800}, {100, 9000}}}},
	}
	return map[string]string{"lines": line.SVG(), "stack": share.SVG(), "bars": bars.SVG(), "percentiles": tail.SVG()}
}

func TestCharts_AreWellFormedAndHaveNoFigureThatIsNone(t *testing.T) {
	for name, svg := range charts() {
		elements(t, svg)
		if coordinate.MatchString(svg) {
			t.Errorf("%s: a coordinate is no number", name)
		}
	}
	if file := os.Getenv("BATON_CHARTS"); file != "" { // to look at them
		page := "<!doctype html><meta charset=utf-8><style>" + CSS + "</style>"
		for _, svg := range charts() {
			page += svg
		}
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCharts_AreTheSameTextForTheSameData(t *testing.T) {
	a, b := charts(), charts()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

func TestLines_AGapBeginsThePathAnew(t *testing.T) {
	svg := example().SVG()
	for _, c := range []struct {
		name, class string
		parts       int
	}{{"whole", "line l1", 1}, {"with a gap", "line l2 dashed", 2}} {
		m := regexp.MustCompile(`<path class="` + c.class + `" [^>]*d="(M[^"]{30,})"`).FindStringSubmatch(svg)
		if m == nil || strings.Count(m[1], "M") != c.parts {
			t.Errorf("%s: want %d parts in %v", c.name, c.parts, m)
		}
	}
}

func TestLines_AFigureLiesBetweenItsTicks(t *testing.T) {
	svg := Lines{Y: Axis{Zero: true}, Series: []Series{{Points: []XY{{0, 0}, {10, 50}, {20, 100}}}}}.SVG()
	m := regexp.MustCompile(`class="line l1" [^>]*d="M\S+ (\S+)L\S+ (\S+)L\S+ (\S+)"`).FindStringSubmatch(svg)
	if m == nil {
		t.Fatal(svg)
	}
	var y [3]float64
	for i := range y {
		y[i], _ = strconv.ParseFloat(m[i+1], 64)
	}
	if math.Abs(y[1]-(y[0]+y[2])/2) > 0.11 || y[0] <= y[2] {
		t.Errorf("0, 50 and 100 are at %v: 50 has to be in the middle, and 100 on top", y)
	}
}

func TestLines_NoLabelOfAMomentCoversAnotherOrItsLine(t *testing.T) {
	f := &frame{w: 860, h: 260, left: 58, right: 846, top: 40, bottom: 224}
	f.x, _ = newScale(Axis{Scale: Time}, []float64{0, 90}, f.left, f.right)
	all := f.place(example().Marks)
	if len(all) != 6 {
		t.Fatalf("%d of 6 moments are drawn", len(all))
	}
	for _, a := range all {
		if a.from < 0 || a.from+width(a.label) > f.w+0.1 {
			t.Errorf("%q is outside the chart", a.label)
		}
		for _, b := range all {
			if a == b {
				continue
			}
			end := a.from + width(a.label)
			if a.row == b.row && a.from < b.from && end > b.from {
				t.Errorf("%q covers %q", a.label, b.label)
			}
			if a.row <= b.row && a.from > a.x && a.x < b.x && end > b.x && a.from < b.x {
				t.Errorf("%q lies on the line of %q", a.label, b.label)
			}
		}
	}
}

func TestLines_ManyPointsKeepTheirPeaks(t *testing.T) {
	points := seconds(100_000, func(i int) float64 {
		if i == 54_321 {
			return 900
		}
		return 100
	})
	l := Lines{Y: Axis{Zero: true}, Series: []Series{{Points: points}}}
	svg := l.SVG()
	if len(svg) > 60_000 {
		t.Errorf("100,000 points make %d bytes", len(svg))
	}
	f := &frame{}
	f.x, f.y = scale{from: 0, to: 100_000, a: 0, b: 800}, scale{from: 0, to: 1000, a: 1000, b: 0}
	if d := f.path(points); !strings.Contains(d, " 100L") {
		t.Error("the peak of 900 is lost")
	}
}

func TestCharts_NothingToShowSaysSo(t *testing.T) {
	gone := []XY{{0, Missing()}, {1, math.Inf(1)}}
	for name, svg := range map[string]string{
		"lines":           Lines{Title: "x"}.SVG(),
		"lines of gaps":   Lines{Series: []Series{{Name: "a", Points: gone}}}.SVG(),
		"log of zero":     Lines{Y: Axis{Scale: Log}, Series: []Series{{Points: []XY{{0, 0}}}}}.SVG(),
		"stack":           Stack{}.SVG(),
		"stack of gaps":   Stack{Layers: []Series{{Points: gone}}}.SVG(),
		"bars":            Bars{}.SVG(),
		"bars of none":    Bars{Groups: []string{"1"}, Sets: []BarSet{{Bars: []Bar{{Value: Missing()}}}}}.SVG(),
		"percentiles":     Percentiles{}.SVG(),
		"percentile 100%": Percentiles{Series: []Series{{Points: []XY{{100, 3}}}}}.SVG(),
	} {
		if _, texts := elements(t, svg); !strings.Contains(texts, "no figures") {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

func TestCharts_EscapeWhatTheyAreGiven(t *testing.T) {
	bad := "</title><script>alert(1)</script>&\"'\x00\u202e\xff"
	point := []XY{{1, 1}, {2, 2}}
	for name, svg := range map[string]string{
		"lines":       Lines{Title: bad, X: Axis{Label: bad}, Y: Axis{Label: bad}, Series: []Series{{Name: bad, Points: point}}, Marks: []Mark{{1, bad}}, Limits: []Limit{{1, bad}}}.SVG(),
		"stack":       Stack{Title: bad, Layers: []Series{{Name: bad, Points: point}}, Marks: []Mark{{1, bad}}}.SVG(),
		"bars":        Bars{Title: bad, LabelX: bad, Groups: []string{bad}, Sets: []BarSet{{Name: bad, Bars: []Bar{{Value: 1, Note: bad}}}}}.SVG(),
		"percentiles": Percentiles{Title: bad, Series: []Series{{Name: bad, Points: point}}}.SVG(),
	} {
		count, texts := elements(t, svg)
		if count["script"] != 0 || !strings.Contains(texts, "<script>alert(1)") || strings.ContainsAny(texts, "\x00\u202e") {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

func TestBars_ShowIntervalsAndWhatIsMissing(t *testing.T) {
	count, texts := elements(t, charts()["bars"])
	if count["path.error"] != 2 || strings.Count(texts, "n/a") != 1 || !strings.Contains(texts, "n=1000") {
		t.Errorf("want two intervals, one n/a and a note: %v %s", count, texts)
	}
}

func TestScale_TicksAreRound(t *testing.T) {
	for _, c := range []struct {
		name     string
		axis     Axis
		from, to float64
		n        int
		want     string
	}{
		{"seconds", Axis{Scale: Time}, -15, 90, 9, "-0:15 0:00 0:15 0:30 0:45 1:00 1:15 1:30"},
		{"parts of a second", Axis{Scale: Time}, 0, 2, 4, "0:00.0 0:00.5 0:01.0 0:01.5 0:02.0"},
		{"hours", Axis{Scale: Time}, 0, 7200, 4, "0:00 30:00 1:00:00 1:30:00 2:00:00"},
		{"milliseconds", Axis{}, 0, 718, 4, "0 200 400 600"},
		{"rates", Axis{}, 0, 1, 4, "0.0 0.5 1.0"},
		{"percents", Axis{}, 0, 100, 4, "0 50 100"},
		{"below zero", Axis{}, -1, 1, 4, "-1.0 -0.5 0.0 0.5 1.0"},
		{"concurrency", Axis{Scale: Log}, 1, 100, 9, "1 2 5 10 20 50 100"},
		{"many decades", Axis{Scale: Log}, 1, 1e6, 4, "1 100 10000 1e+06"},
	} {
		s, _ := newScale(c.axis, []float64{c.from, c.to}, 0, 100)
		var got []string
		for _, tk := range s.ticks(c.n) {
			got = append(got, tk.label)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %s, want %s", c.name, g, c.want)
		}
	}
}

func FuzzLines_AlwaysWellFormed(f *testing.F) {
	f.Add("a", 0.0, 1.0, 2.0, 3.0, true)
	f.Add("<&>", -1e300, 1e300, math.Inf(1), math.NaN(), false)
	f.Add("", 5.0, 5.0, 5.0, 5.0, true)
	f.Fuzz(func(t *testing.T, s string, x0, y0, x1, y1 float64, log bool) {
		if math.Abs(x0) > 1e15 || math.Abs(x1) > 1e15 || math.Abs(y0) > 1e15 || math.Abs(y1) > 1e15 {
			return // no figure of ours
		}
		axis := Axis{}
		if log {
			axis.Scale = Log
		}
		svg := Lines{Title: s, X: axis, Y: axis, Series: []Series{{Name: s, Points: []XY{{x0, y0}, {x1, y1}}}}, Marks: []Mark{{x0, s}, {x1, s}}, Limits: []Limit{{y1, s}}}.SVG()
		elements(t, svg)
		if coordinate.MatchString(strings.ReplaceAll(svg, text(s), "")) {
			t.Error(svg)
		}
	})
}

func BenchmarkLines(b *testing.B) {
	l := example()
	b.ReportAllocs()
	for b.Loop() {
		_ = l.SVG()
	}
}

func ExampleLines() {
	svg := Lines{Title: "P99", X: Axis{Scale: Time}, Y: Axis{Label: "ms", Zero: true}, Series: []Series{{Name: "lanyun", Points: []XY{{0, 300}, {1, 320}}}}}.SVG()
	fmt.Println(strings.HasPrefix(svg, "<svg"), strings.HasSuffix(svg, "</svg>"))
	// Output: true true
}
