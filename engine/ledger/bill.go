package ledger

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

// Charge is one line of a vendor's bill, or several of one day and model. What
// the bill does not say is nil.
type Charge struct {
	Day, Model            string
	Requests              *int64
	Input, Cached, Output *int64
	Amount                *float64
	Currency              string
	Lines                 int
}

// columns are the names that a bill's columns go by, in lower case without blanks
// and signs.
var columns = map[string][]string{
	"day":      {"day", "date", "time", "billingdate", "billdate", "usagedate", "starttime", "日期", "账期", "账单日期", "消费时间", "使用日期"},
	"model":    {"model", "modelname", "modelid", "resource", "sku", "item", "模型", "模型名称", "资源", "计费项"},
	"requests": {"requests", "calls", "count", "requestcount", "calltimes", "numrequests", "请求数", "调用次数", "请求次数"},
	"input":    {"inputtokens", "prompttokens", "input", "tokensin", "输入token", "输入tokens", "输入token数", "输入"},
	"cached":   {"cachedtokens", "cachedinputtokens", "cachehittokens", "inputcachedtokens", "缓存命中token", "缓存token", "缓存"},
	"output":   {"outputtokens", "completiontokens", "output", "tokensout", "输出token", "输出tokens", "输出token数", "输出"},
	"amount":   {"amount", "cost", "fee", "charge", "total", "payable", "amountdue", "金额", "费用", "应付金额", "应付"},
	"currency": {"currency", "币种", "货币"},
}

const (
	billLines = 1_000_000 // more are no bill that a person reads
	billCell  = 1000      // bytes of a cell
)

// ReadBill reads a vendor's bill: CSV with a header, of which day, model and at
// least one of tokens, requests and amount are needed. Lines of one day and model
// are added up. A bill that says input without its cached part in it is not told
// apart: cached is taken as part of the input. The error names the line.
func ReadBill(r io.Reader) ([]Charge, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = -1, true, true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the bill is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("read the bill's header: %w", err)
	}
	at, err := place(header)
	if err != nil {
		return nil, err
	}
	by := map[[2]string]*Charge{}
	for n := 0; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the bill: %w", err)
		}
		if n >= billLines {
			return nil, fmt.Errorf("the bill has more than %d lines", billLines)
		}
		line, _ := in.FieldPos(0)
		if err := enterCharge(by, at, record); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	out := make([]Charge, 0, len(by))
	for _, c := range by {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(x, y Charge) int { return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Model, y.Model)) })
	return out, nil
}

// place finds the columns of a header.
func place(header []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range header {
		plain := plainName(name)
		for column, names := range columns {
			if _, taken := at[column]; !taken && slices.Contains(names, plain) {
				at[column] = i
			}
		}
	}
	for _, need := range []string{"day", "model"} {
		if _, ok := at[need]; !ok {
			return nil, fmt.Errorf("the bill has no column for the %s (known names: %s)", need, strings.Join(columns[need], ", "))
		}
	}
	for _, one := range []string{"requests", "input", "output", "amount"} {
		if _, ok := at[one]; ok {
			return at, nil
		}
	}
	return nil, errors.New("the bill has no column for requests, input_tokens, output_tokens or amount")
}

func plainName(s string) string {
	s, _, _ = strings.Cut(s, "(")
	s, _, _ = strings.Cut(s, "（")
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.\ufeff\t", r) {
			return -1
		}
		return r
	}, s))
}

func enterCharge(by map[[2]string]*Charge, at map[string]int, record []string) error {
	get := func(column string) string {
		i, ok := at[column]
		if !ok || i >= len(record) {
			return ""
		}
		return strings.TrimSpace(record[i])
	}
	if strings.TrimSpace(strings.Join(record, "")) == "" {
		return nil
	}
	for _, cell := range record {
		if len(cell) > billCell {
			return fmt.Errorf("a cell is longer than %d bytes", billCell)
		}
	}
	day, err := billDay(get("day"))
	if err != nil {
		return err
	}
	k := [2]string{day, get("model")}
	if k[1] == "" {
		return errors.New("the model is missing")
	}
	c := by[k]
	if c == nil {
		c = &Charge{Day: k[0], Model: k[1], Currency: get("currency")}
		by[k] = c
	}
	if cur := get("currency"); cur != c.Currency {
		return fmt.Errorf("%s on %s is billed in %q and in %q", c.Model, c.Day, c.Currency, cur)
	}
	c.Lines++
	for _, x := range []struct {
		column string
		to     **int64
	}{{"requests", &c.Requests}, {"input", &c.Input}, {"cached", &c.Cached}, {"output", &c.Output}} {
		if err := addCount(x.to, get(x.column)); err != nil {
			return fmt.Errorf("%s: %w", x.column, err)
		}
	}
	return addAmount(&c.Amount, get("amount"))
}

// billDay reads "2026-11-03", "2026/11/3", "20261103", each with a time behind it.
func billDay(s string) (string, error) {
	word, _, _ := strings.Cut(strings.ReplaceAll(s, "T", " "), " ")
	for _, layout := range []string{"2006-1-2", "2006/1/2", "20060102", "2006.1.2"} {
		if t, err := time.Parse(layout, word); err == nil {
			return t.Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf("%.40q is no day such as 2026-11-03", s)
}

// countMax keeps sums of counts numbers.
const countMax = 1 << 50

func addCount(to **int64, s string) error {
	if s == "" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil || f < 0 || f != math.Trunc(f) || f > countMax {
		return fmt.Errorf("%.40q is no whole number of 0 or more", s)
	}
	if *to == nil {
		*to = new(int64)
	}
	if **to += int64(f); **to > countMax {
		return errors.New("the sum is too large")
	}
	return nil
}

func addAmount(to **float64, s string) error {
	if s == "" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.Trim(strings.ReplaceAll(s, ",", ""), "¥￥$ "), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e12 {
		return fmt.Errorf("amount: %.40q is no sum of money", s)
	}
	if *to == nil {
		*to = new(float64)
	}
	**to += f
	return nil
}

// Lines is what a vendor's bill should say: its rows by day of a time zone and by
// its name of the model. Stress tests are in it, probes are not.
func Lines(rows []Row, vendor string, days *time.Location) []control.BillLine {
	type sum struct {
		group
		line control.BillLine
	}
	by := map[[2]string]*sum{}
	for i := range rows {
		r := &rows[i]
		if r.Vendor != vendor || !r.spends() {
			continue
		}
		k := [2]string{time.Unix(r.Minute, 0).In(days).Format(time.DateOnly), cmp.Or(r.At, r.Model)}
		s := by[k]
		if s == nil {
			s = &sum{line: control.BillLine{Day: k[0], Model: k[1], Name: r.Model}}
			by[k] = s
		}
		s.add(r)
		if r.Flags&FlagEstimated != 0 {
			s.line.Estimated += r.Input + r.Output
		}
		if r.Flags.Source() == Stress {
			s.line.Stress += r.Attempts
		}
	}
	out := make([]control.BillLine, 0, len(by))
	for _, s := range by {
		l := s.line
		l.Attempts, l.Answered, l.Unpriced = s.sums.Attempts, s.sums.Answered, s.sums.Unpriced
		l.InputTokens, l.CachedTokens, l.OutputTokens = s.sums.Input, s.sums.Cached, s.sums.Output
		if s.priced {
			l.Cost = control.Figure(s.cost.Float())
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(x, y control.BillLine) int {
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Model, y.Model))
	})
	return out
}

// Difference is one day and model of which bill and ledger do not say the same.
type Difference struct {
	Day      string            `json:"day"`
	Model    string            `json:"model"`
	What     string            `json:"what"` // requests, input_tokens, cached_tokens, output_tokens, amount, or missing
	Bill     *float64          `json:"bill"`
	Ledger   *float64          `json:"ledger"`
	More     *float64          `json:"difference"` // bill - ledger
	Percent  *float64          `json:"percent"`    // of the ledger's
	Note     string            `json:"note"`
	Recorded *control.BillLine `json:"recorded"` // the ledger's line, null where it has none
}

// Reconciled is a bill held against the ledger.
type Reconciled struct {
	Vendor      string       `json:"vendor"`
	Currency    string       `json:"currency"`
	Timezone    string       `json:"timezone"`
	Compared    int          `json:"compared"` // days and models that both have
	Billed      *float64     `json:"billed"`   // the whole bill
	Recorded    *float64     `json:"recorded"` // the ledger, of the days of the bill
	Differences []Difference `json:"differences"`
}

// Reconcile holds a bill against the ledger's lines. What differs by no more than
// the tolerance (0.005: half a percent) of the ledger's figure is the same, and so
// are amounts that differ by no more than half of their last place, 0.005.
func Reconcile(bill []Charge, lines []control.BillLine, tolerance float64) Reconciled {
	out := Reconciled{Differences: []Difference{}}
	used := make([]bool, len(lines))
	for i := range bill {
		c := &bill[i]
		if c.Amount != nil {
			out.Billed = control.Figure(value(out.Billed) + *c.Amount)
		}
		k := slices.IndexFunc(lines, func(l control.BillLine) bool {
			return l.Day == c.Day && (strings.EqualFold(l.Model, c.Model) || strings.EqualFold(l.Name, c.Model))
		})
		if k < 0 {
			out.Differences = append(out.Differences, Difference{Day: c.Day, Model: c.Model, What: "missing", Bill: c.Amount, Note: "billed, and not in the ledger"})
			continue
		}
		used[k] = true
		out.Compared++
		out.Differences = append(out.Differences, compare(c, &lines[k], tolerance)...)
	}
	for k := range lines {
		l := &lines[k]
		if l.Cost != nil {
			out.Recorded = control.Figure(value(out.Recorded) + *l.Cost)
		}
		if !used[k] && (l.InputTokens > 0 || l.OutputTokens > 0) {
			out.Differences = append(out.Differences, Difference{Day: l.Day, Model: l.Model, What: "missing", Ledger: l.Cost, Note: "in the ledger, and not billed", Recorded: l})
		}
	}
	slices.SortStableFunc(out.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Model, y.Model))
	})
	return out
}

func compare(c *Charge, l *control.BillLine, tolerance float64) []Difference {
	var out []Difference
	differ := func(what string, bill, recorded *float64, slack float64) {
		if bill == nil || recorded == nil && what != "amount" {
			return
		}
		d := Difference{Day: c.Day, Model: c.Model, What: what, Bill: bill, Ledger: recorded, Recorded: l}
		if recorded == nil {
			d.Note = "unpriced in the ledger"
			out = append(out, d)
			return
		}
		more := *bill - *recorded
		if math.Abs(more) <= max(slack, tolerance*math.Abs(*recorded))+1e-9 {
			return
		}
		d.More = control.Figure(more)
		if *recorded != 0 {
			d.Percent = control.Figure(100 * more / *recorded)
		}
		d.Note = likely(what, more, l)
		out = append(out, d)
	}
	count := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		return control.Figure(float64(*n))
	}
	requests := l.Answered
	if c.Requests != nil && abs(*c.Requests-l.Attempts) < abs(*c.Requests-l.Answered) {
		requests = l.Attempts // some bill attempts, some answers
	}
	differ("requests", count(c.Requests), count(&requests), 0)
	differ("input_tokens", count(c.Input), count(&l.InputTokens), 0)
	differ("cached_tokens", count(c.Cached), count(&l.CachedTokens), 0)
	differ("output_tokens", count(c.Output), count(&l.OutputTokens), 0)
	differ("amount", c.Amount, l.Cost, 0.005)
	return out
}

func abs(n int64) int64 { return max(n, -n) }

// likely says what may explain a difference.
func likely(what string, more float64, l *control.BillLine) string {
	switch {
	case what == "amount" && l.Unpriced > 0:
		return fmt.Sprintf("%d attempts are unpriced in the ledger", l.Unpriced)
	case strings.HasSuffix(what, "_tokens") && l.Estimated > 0 && math.Abs(more) <= float64(l.Estimated):
		return fmt.Sprintf("%d tokens of the ledger's are estimated: answers that broke off or were left", l.Estimated)
	case l.Stress > 0:
		return fmt.Sprintf("%d attempts were stress tests", l.Stress)
	}
	return ""
}
