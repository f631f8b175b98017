package ledger

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

const aBill = "\ufeff日期,模型名称,调用次数,输入Token数,输出Tokens,应付金额（元）,币种\n" +
	"2026-11-03 00:00:00,deepseek-v3,2,\"1,000\",50,0.0024,CNY\n" +
	"2026/11/3,deepseek-v3,1,500,25,0.0012,CNY\n\n" +
	"20261104,Qwen-Plus,10,100,10,¥0.01,CNY\n"

func TestReadBill_AddsUpDaysAndModels(t *testing.T) {
	bill, err := ReadBill(strings.NewReader(aBill))
	if err != nil {
		t.Fatal(err)
	}
	if len(bill) != 2 || bill[0].Day != "2026-11-03" || bill[0].Model != "deepseek-v3" || *bill[0].Requests != 3 || *bill[0].Input != 1500 || *bill[0].Output != 75 || bill[0].Cached != nil || bill[0].Lines != 2 {
		t.Fatalf("%+v", bill)
	}
	if got := *bill[0].Amount; got < 0.00359 || got > 0.00361 {
		t.Errorf("amount %v", got)
	}
	if bill[1].Day != "2026-11-04" || *bill[1].Amount != 0.01 || bill[1].Currency != "CNY" {
		t.Errorf("%+v", bill[1])
	}
}

func TestReadBill_SaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", "empty"},
		"no day":          {"model,input_tokens\nm,1\n", "no column for the day"},
		"no model":        {"day,input_tokens\n2026-11-03,1\n", "no column for the model"},
		"no figure":       {"day,model\n2026-11-03,m\n", "no column for requests"},
		"a bad day":       {"day,model,cost\nyesterday,m,1\n", `line 2: "yesterday" is no day`},
		"a bad number":    {"day,model,input_tokens\n2026-11-03,m,1.5\n", `line 2: input: "1.5" is no whole number`},
		"below nothing":   {"day,model,input_tokens\n2026-11-03,m,-1\n", "no whole number"},
		"no money":        {"day,model,cost\n2026-11-03,m,NaN\n", "no sum of money"},
		"a missing model": {"day,model,cost\n2026-11-03,,1\n", "line 2: the model is missing"},
		"two currencies":  {"day,model,cost,currency\n2026-11-03,m,1,CNY\n2026-11-03,m,1,USD\n", "line 3"},
		"a quote":         {"day,model,cost\n2026-11-03,\"m,1\n", "read the bill"},
	} {
		if _, err := ReadBill(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadBill(f *testing.F) {
	f.Add(aBill)
	f.Add("day,model,cost\n2026-11-03,m,1e400\n")
	f.Add("date,model,input_tokens,output_tokens,requests\n2026-11-03,m,1125899906842625,1,1\n2026-11-03,m,1125899906842624,1,1\n")
	f.Add("day,model,cost\r\n\"2026-11-03\",\"a\nb\",$1\r\n,,\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		bill, err := ReadBill(strings.NewReader(text))
		if err != nil {
			return
		}
		seen := map[[2]string]bool{}
		for _, c := range bill {
			k := [2]string{c.Day, c.Model}
			if seen[k] || c.Model == "" || c.Lines < 1 {
				t.Fatalf("%+v", c)
			}
			seen[k] = true
			if _, err := time.Parse(time.DateOnly, c.Day); err != nil {
				t.Fatalf("day %q", c.Day)
			}
			for _, n := range []*int64{c.Requests, c.Input, c.Cached, c.Output} {
				if n != nil && (*n < 0 || *n > countMax) {
					t.Fatalf("%+v", c)
				}
			}
		}
		if r := Reconcile(bill, nil, 0); len(r.Differences) != len(bill) {
			t.Fatalf("%d differences from nothing of %d lines", len(r.Differences), len(bill))
		}
	})
}

// row is one row of the vendor a.
func row(tb testing.TB, when, model string, flags Flags, s Sums) Row {
	tb.Helper()
	at := at(tb, when).Unix()
	return Row{Key: Key{Minute: at - at%Quarter, Vendor: "a", Model: model, At: "their-" + model, Lane: "interactive", Flags: flags}, Sums: s}
}

func TestReconcile_ListsWhatDiffersByDayAndModel(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	rows := []Row{
		row(t, "2026-11-02T15:59:00Z", "m", FlagPriced, Sums{Attempts: 1, Answered: 1, Input: 9, Output: 9}), // the day before, in Shanghai
		row(t, "2026-11-02T16:00:00Z", "m", FlagPriced, Sums{Attempts: 10, Answered: 10, Input: 1000, Output: 100, CostInput: 2_000_000_000, CostOutput: 800_000_000}),
		row(t, "2026-11-03T10:00:00Z", "m", FlagPriced|FlagFailed|FlagEstimated, Sums{Attempts: 1, Input: 50, Output: 5, CostInput: 100_000_000, CostOutput: 40_000_000}),
		row(t, "2026-11-03T10:00:00Z", "n", FlagPriced, Sums{Attempts: 2, Answered: 2, Input: 70, Output: 7, CostInput: 1, CostOutput: 1}),
		row(t, "2026-11-03T10:00:00Z", "o", 0, Sums{Attempts: 2, Answered: 2, Input: 70, Output: 7, Unpriced: 2}),
		row(t, "2026-11-03T10:00:00Z", "m", Flags(Probe)<<flagSource|FlagPriced, Sums{Attempts: 99}),
	}
	lines := Lines(rows, "a", shanghai)
	if len(lines) != 4 || lines[0].Day != "2026-11-02" || lines[1].Attempts != 11 || lines[1].InputTokens != 1050 || lines[1].Estimated != 55 || lines[1].Name != "m" {
		t.Fatalf("%+v", lines)
	}
	bill, err := ReadBill(strings.NewReader("day,model,requests,input_tokens,output_tokens,amount\n" +
		"2026-11-02,their-m,1,9,9,0\n" +
		"2026-11-03,m,10,1040,100,0.01\n" +
		"2026-11-03,their-o,2,70,7,0.3\n" +
		"2026-11-03,ghost,1,1,1,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := Reconcile(bill, lines, 0)
	var got []string
	for _, d := range r.Differences {
		s := d.Day + " " + d.Model + " " + d.What
		if d.More != nil {
			s += " " + signed(*d.More)
		}
		got = append(got, s+" "+d.Note)
	}
	want := []string{
		"2026-11-03 ghost missing billed, and not in the ledger",
		"2026-11-03 m input_tokens -10 55 tokens of the ledger's are estimated: answers that broke off or were left",
		"2026-11-03 m output_tokens -5 55 tokens of the ledger's are estimated: answers that broke off or were left",
		"2026-11-03 m amount 0.00706 ",
		"2026-11-03 their-n missing in the ledger, and not billed",
		"2026-11-03 their-o amount unpriced in the ledger",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Compared != 3 {
		t.Errorf("%d compared", r.Compared)
	}
	if close := Reconcile(bill[2:3], lines[1:2], 0.5); len(close.Differences) != 1 || close.Differences[0].What != "amount" {
		t.Errorf("within a half there are %+v", close.Differences)
	}
}

func signed(f float64) string { return strconv.FormatFloat(math.Round(f*1e9)/1e9, 'f', -1, 64) }
