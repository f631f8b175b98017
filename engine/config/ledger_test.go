package config

import (
	"strings"
	"testing"
)

func TestLedger_SaysWhatIsWrong(t *testing.T) {
	vendor := real("https://h/v1")
	for name, c := range map[string]struct{ text, want string }{
		"a zone":               {vendor + "[ledger]\ntimezone = \"Mars/Olympus\"", `ledger.timezone: got "Mars/Olympus", want a time zone`},
		"a holiday":            {vendor + "[ledger]\nholidays = [\"2026-10-07..2026-10-01\"]", `ledger.holidays[0]: got "2026-10-07..2026-10-01"`},
		"a rate":               {vendor + "[ledger.rates]\nUSD = 0", "ledger.rates.USD: got 0, want how many CNY one USD is"},
		"no currency":          {vendor + "[ledger.rates]\ndollars = 7", `ledger.rates.dollars: got "dollars", want three capital letters`},
		"a shorter keep":       {vendor + "[ledger]\nkeep_days = 10", "ledger.keep_days: got 10, want at least 62"},
		"a discount of all":    {vendor + "[ledger]\nsingle_discount = 1.0", "ledger.single_discount: got 1, want a part of the price"},
		"an overhead below 0":  {vendor + "[ledger]\noverhead = -1", "ledger.overhead: got -1, want 0 or more"},
		"a price without rate": {vendor + "[[vendors.price]]\ncurrency = \"USD\"\ninput = 1", `vendors[r].price[0].currency: got "USD", want CNY, or a rate for it`},
		"days":                 {vendor + "[[vendors.price]]\ndays = \"mon-funday\"", `vendors[r].price[0].days: got "mon-funday"`},
		"hours":                {vendor + "[[vendors.price]]\nhours = \"09:00-12:00,25:00-26:00\"", `vendors[r].price[0].hours`},
		"a price beyond all":   {vendor + "[[vendors.price]]\ninput = 1e9", `vendors[r].price[0].input: got 1e+09`},
		"a limit's word":       {vendor + "[[vendors.limits]]\nwhat = \"asekd\"\nlimit = \"20/s\"\ndate = \"2026-12-01\"", `did you mean "asked"?`},
		"a limit's day":        {vendor + "[[vendors.limits]]\nwhat = \"asked\"\nlimit = \"20/s\"", `vendors[r].limits[0].date`},
	} {
		_, err := Parse("c.toml", []byte(c.text), func(string) string { return "key" })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestDiff_OfTheLedgersFiguresShowsNoAddress(t *testing.T) {
	a, b := Default(), Default()
	f := 700.0
	b.Ledger.Overhead = &f
	if d := a.Diff(b); len(d) != 1 || d[0] != "ledger.overhead changed" {
		t.Errorf("%q", d)
	}
}
