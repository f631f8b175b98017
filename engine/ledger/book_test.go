package ledger

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// parsed is a configuration with these prices of the vendor "a".
func parsed(tb testing.TB, ledger, prices string) *config.Config {
	tb.Helper()
	c, err := config.Parse("c.toml", []byte("[ledger]\n"+ledger+"\n[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\n"+prices+"\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\n"), func(string) string { return "" })
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func at(tb testing.TB, s string) time.Time {
	tb.Helper()
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

const noon = "2026-12-01T12:00:00+08:00" // a Tuesday

const peak = `
[[vendors.price]]
input = 1.0
cached_input = 0.02
output = 4.0
[[vendors.price]]
hours = "09:00-12:00,14:00-18:00"
days = "mon-fri"
input = 2.0
cached_input = 0.04
output = 8.0
`

const tiers = `
[[vendors.price]]
input = 2.5
output = 10.0
[[vendors.price]]
above = 32768
input = 4.0
output = 16.0
[[vendors.price]]
above = 131072
input = 7.0
output = 28.0
`

// The costs are computed by hand: tokens x price / 10^6.
func TestPrice_OfATableComputedByHand(t *testing.T) {
	plain := "[[vendors.price]]\ninput = 2.0\ncached_input = 0.5\noutput = 8.0\n"
	for name, c := range map[string]struct {
		ledger, prices string
		at             string
		model          string
		lane           control.Lane
		in, cached     int
		out            int
		want           string // in units of currency, "" unpriced
	}{
		"input, cached and output":                     {"", plain, noon, "m", 0, 1000, 400, 100, "0.0022"}, // 600x2 + 400x.5 + 100x8 = 2,200 millionths
		"one token":                                    {"", plain, noon, "m", 0, 1, 1, 0, "0.0000005"},
		"more cached than input is input":              {"", plain, noon, "m", 0, 10, 99, 0, "0.000005"},
		"cached without a price is input":              {"", "[[vendors.price]]\ninput = 2.0\noutput = 8.0\n", noon, "m", 0, 1000, 400, 0, "0.002"},
		"nothing used":                                 {"", plain, noon, "m", 0, 0, 0, 0, "0"},
		"no price at all":                              {"", "", noon, "m", 0, 10, 0, 0, ""},
		"no price of output":                           {"", "[[vendors.price]]\ninput = 2.0\n", noon, "m", 0, 10, 0, 1, ""},
		"no price of output, and none":                 {"", "[[vendors.price]]\ninput = 0.5\n", noon, "m", 0, 1000, 0, 0, "0.0005"},
		"a price of zero is one":                       {"", "[[vendors.price]]\ninput = 0.0\noutput = 0.0\n", noon, "m", 0, 10, 0, 10, "0"},
		"batch lane at half":                           {"", plain + "[[vendors.price]]\nbatch = 0.5\n", noon, "m", control.Batch, 1000, 400, 100, "0.0011"},
		"batch discount, interactive":                  {"", plain + "[[vendors.price]]\nbatch = 0.5\n", noon, "m", 0, 1000, 400, 100, "0.0022"},
		"batch lane without a discount":                {"", plain, noon, "m", control.Batch, 1000, 400, 100, "0.0022"},
		"the model's own":                              {"", plain + "[[vendors.price]]\nmodel = \"m\"\ninput = 3.0\noutput = 9.0\n", noon, "m", 0, 1000, 0, 1000, "0.012"},
		"another model's":                              {"", plain + "[[vendors.price]]\nmodel = \"n\"\ninput = 3.0\noutput = 9.0\n", noon, "m", 0, 1000, 0, 1000, "0.01"},
		"of the model only, and not its":               {"", "[[vendors.price]]\nmodel = \"n\"\ninput = 3.0\noutput = 9.0\n", noon, "m", 0, 1000, 0, 0, ""},
		"the general batch discount holds for a model": {"", plain + "[[vendors.price]]\nbatch = 0.5\n[[vendors.price]]\nmodel = \"m\"\ninput = 3.0\noutput = 9.0\n", noon, "m", control.Batch, 1000, 0, 1000, "0.006"},
		"tier: at its bound":                           {"", tiers, noon, "m", 0, 32768, 0, 0, "0.08192"},
		"tier: above":                                  {"", tiers, noon, "m", 0, 32769, 0, 100, "0.132676"}, // 32,769x4 + 100x16
		"tier: highest":                                {"", tiers, noon, "m", 0, 200000, 0, 1, "1.400028"},
		"peak on Tuesday at eleven":                    {"", peak, "2026-12-01T11:59:59+08:00", "m", 0, 1000, 0, 0, "0.002"},
		"not at noon":                                  {"", peak, noon, "m", 0, 1000, 0, 0, "0.001"},
		"peak in the afternoon":                        {"", peak, "2026-12-01T14:00:00+08:00", "m", 0, 1000, 1000, 0, "0.00004"},
		"no peak on Saturday":                          {"", peak, "2026-12-05T10:00:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"no peak on a holiday":                         {`holidays = ["2026-10-01..2026-10-07"]`, peak, "2026-10-05T10:00:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"peak after the holidays":                      {`holidays = ["2026-10-01..2026-10-07"]`, peak, "2026-10-08T10:00:00+08:00", "m", 0, 1000, 0, 0, "0.002"},
		"peak by Shanghai, given in UTC":               {"", peak, "2026-12-01T01:00:00Z", "m", 0, 1000, 0, 0, "0.002"},
		"over midnight, before it":                     {"", plain + "[[vendors.price]]\nhours = \"22:00-06:00\"\ndays = \"mon\"\ninput = 1.0\n", "2026-11-30T23:00:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"over midnight, still Monday's":                {"", plain + "[[vendors.price]]\nhours = \"22:00-06:00\"\ndays = \"mon\"\ninput = 1.0\n", "2026-12-01T05:59:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"over midnight, not Tuesday's":                 {"", plain + "[[vendors.price]]\nhours = \"22:00-06:00\"\ndays = \"mon\"\ninput = 1.0\n", "2026-12-01T22:30:00+08:00", "m", 0, 1000, 0, 0, "0.002"},
		"days around the week's end":                   {"", plain + "[[vendors.price]]\ndays = \"sat-mon\"\ninput = 1.0\n", "2026-12-06T10:00:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"holiday is a day":                             {`holidays = ["2026-12-01"]`, plain + "[[vendors.price]]\ndays = \"holiday\"\ninput = 1.0\n", noon, "m", 0, 1000, 0, 0, "0.001"},
		"another zone's hours":                         {"", plain + "[[vendors.price]]\nhours = \"00:00-01:00\"\ntimezone = \"UTC\"\ninput = 1.0\n", "2026-12-01T08:30:00+08:00", "m", 0, 1000, 0, 0, "0.001"},
		"another currency":                             {"rates = { USD = 7.0 }", "[[vendors.price]]\ncurrency = \"USD\"\ninput = 0.3\noutput = 0.6\n", noon, "m", 0, 1000, 0, 1000, "0.0063"},
		"a fine price":                                 {"", "[[vendors.price]]\ninput = 0.003\noutput = 0.000001\n", noon, "m", 0, 1, 0, 1, "0.000000003001"},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBook(parsed(t, c.ledger, c.prices))
			cost := b.Price(&Attempt{Ended: at(t, c.at), Vendor: "a", Model: c.model, At: c.model, Lane: c.lane, Outcome: "ok", Input: c.in, Cached: c.cached, Output: c.out})
			if cost.Known != (c.want != "") {
				t.Fatalf("known is %v", cost.Known)
			}
			want, _ := new(big.Rat).SetString("0" + c.want)
			if got := new(big.Rat).SetFrac64(cost.Sum(), 1e12); got.Cmp(want) != 0 {
				t.Fatalf("cost is %s, want %s", got.FloatString(12), c.want)
			}
		})
	}
}

func TestPrice_ChangesAtMidnightInShanghai(t *testing.T) {
	b := NewBook(parsed(t, "", `
[[vendors.price]]
input = 2.0
cached_input = 0.5
output = 8.0
[[vendors.price]]
from = "2026-12-02"
input = 3.0
output = 9.0
[[vendors.price]]
from = "2027-01-01"
input = 1.0
output = 1.0
`))
	for when, want := range map[string]int64{
		"2026-12-01T23:59:59+08:00": 2_000_000*1000/2 + 500_000*1000/2 + 8_000_000*10,
		"2026-12-01T15:59:59Z":      2_000_000*1000/2 + 500_000*1000/2 + 8_000_000*10,
		"2026-12-02T00:00:00+08:00": 3_000_000*1000 + 9_000_000*10, // the new list says nothing of cached input: it is input
		"2026-12-01T16:00:00Z":      3_000_000*1000 + 9_000_000*10,
		"2026-12-31T23:59:59+08:00": 3_000_000*1000 + 9_000_000*10,
		"2027-01-01T00:00:00+08:00": 1_000_000*1000 + 1_000_000*10,
	} {
		c := b.Price(&Attempt{Ended: at(t, when), Vendor: "a", Outcome: "ok", Input: 1000, Cached: 500, Output: 10})
		if c.Sum() != want {
			t.Errorf("at %s it is %d pico-units, want %d", when, c.Sum(), want)
		}
	}
}

func TestPrice_NeverOverflows(t *testing.T) {
	b := NewBook(parsed(t, "", "[[vendors.price]]\ninput = 1000000\noutput = 1000000\n"))
	c := b.Price(&Attempt{Ended: at(t, noon), Vendor: "a", Input: 1 << 40, Output: 1 << 40})
	if !c.Known || c.Sum() != MaxPico {
		t.Fatalf("%+v", c)
	}
}

func TestPrice_OfProbesAndOfNobodyIsNothing(t *testing.T) {
	b := NewBook(parsed(t, "", ""))
	for _, a := range []Attempt{{Vendor: "a", Source: Probe}, {Vendor: ""}} {
		if c := b.Price(&a); !c.Known || c.Sum() != 0 {
			t.Errorf("%+v costs %+v", a, c)
		}
	}
}

func TestMoney_SumsExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sum, want := Money{}, new(big.Int)
	for range 10_000 {
		p := r.Int64N(math.MaxInt64/2) - math.MaxInt64/8
		sum = sum.Plus(Pico(p))
		want.Add(want, big.NewInt(p))
		if sum.Pico < 0 || sum.Pico >= 1e6 {
			t.Fatalf("%+v", sum)
		}
	}
	got := new(big.Int).Mul(big.NewInt(sum.Micro), big.NewInt(1e6))
	if got.Add(got, big.NewInt(sum.Pico)); got.Cmp(want) != 0 {
		t.Fatalf("got %s pico-units, want %s", got, want)
	}
	if back := sum.Minus(sum); !back.Zero() {
		t.Fatalf("less itself it is %+v", back)
	}
}

func TestInForce_ListsWhatIsKnown(t *testing.T) {
	b := NewBook(parsed(t, "", peak+"[[vendors.price]]\nmodel = \"m\"\noutput = 1.0\n"))
	list := b.InForce([]string{"a", "b"}, at(t, "2026-12-01T10:00:00+08:00"))
	if len(list) != 3 || *list[0].Input != 2 || list[1].Model != "m" || list[1].Input != nil || *list[1].Output != 1 || list[2].Vendor != "b" || list[2].Input != nil {
		t.Fatalf("%+v", list)
	}
	if list[0].Note != "mon-fri, 09:00-12:00,14:00-18:00" {
		t.Errorf("note %q", list[0].Note)
	}
}

func BenchmarkPrice(b *testing.B) {
	book := NewBook(parsed(b, "", peak+tiers))
	a := Attempt{Ended: at(b, noon), Vendor: "a", Model: "m", At: "m", Outcome: "ok", Input: 1000, Output: 100}
	b.ReportAllocs()
	for b.Loop() {
		book.Price(&a)
	}
}

func BenchmarkRollup(b *testing.B) {
	book := NewBook(parsed(b, "", peak))
	a := Attempt{Ended: at(b, noon), Vendor: "a", Model: "m", At: "m", Outcome: "ok", Stream: true, FirstToken: time.Second, Input: 1000, Output: 100}
	c := book.Price(&a)
	var r Rollup
	b.ReportAllocs()
	for b.Loop() {
		r.Add(&a, c, NoDrill)
	}
}
