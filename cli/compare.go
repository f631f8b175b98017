package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"baton/engine/config"
	"baton/engine/ledger"
	"baton/vendors"
)

// The question of `baton check --compare`: every vendor gets the same one, once.
const (
	compareQuestion  = "Reply with the word: ready"
	compareTokens    = 16 // of an answer, at most
	compareInput     = 64 // of the question, at most, with what a vendor puts around it
	comparePatience  = 30 * time.Second
	compareUserAgent = "baton-check"
)

// Comparison is what every vendor said to the same question. Money is in Currency;
// what is not known is null.
type Comparison struct {
	Model       string       `json:"model"` // as clients call it; "": the first that each vendor has
	Question    string       `json:"question"`
	MaxTokens   int          `json:"max_tokens"`
	Currency    string       `json:"currency"`
	AtMost      *float64     `json:"at_most"` // what was said before it would cost
	Answers     []Answer     `json:"answers"`
	Differences []Difference `json:"differences"`
}

// Answer is one vendor's. Times are milliseconds from the sending.
type Answer struct {
	Vendor       string            `json:"vendor"`
	Role         string            `json:"role"`
	Simulated    bool              `json:"simulated"`
	Asked        string            `json:"asked"`  // the model's name there; "": the vendor was not asked
	Status       int               `json:"status"` // HTTP; 0: none came
	Error        string            `json:"error"`  // why there is no good answer
	Model        string            `json:"model"`  // that answered, by its own account
	FirstTokenMs *float64          `json:"first_token_ms"`
	TotalMs      *float64          `json:"total_ms"`
	Usage        bool              `json:"usage"` // it counted tokens
	InputTokens  *int              `json:"input_tokens"`
	OutputTokens *int              `json:"output_tokens"`
	CachedField  string            `json:"cached_field"` // where its usage tells of cached tokens; "": nowhere
	CachedTokens *int              `json:"cached_tokens"`
	Finish       string            `json:"finish"`
	Done         bool              `json:"done"` // the stream ended with [DONE]
	Stream       bool              `json:"stream"`
	IDHeader     string            `json:"id_header"` // which header carries the request's id
	RequestID    string            `json:"request_id"`
	RateLimits   map[string]string `json:"rate_limits"` // headers that announce limits
	Cost         *float64          `json:"cost"`
}

// good says whether the vendor answered.
func (x *Answer) good() bool { return x.Asked != "" && x.Error == "" }

// contestant is one vendor that is about to be asked.
type contestant struct {
	vc     *config.Vendor
	v      *vendors.Vendor
	model  string // as clients call it
	answer Answer
	price  func(in, cached, out int) (float64, bool) // nil: it has no price
}

// compare asks every vendor the same small question and says what differs. The
// error is that of a comparison that could not be begun.
func (a *app) compare(cfg *config.Config, model string, yes bool) (*Comparison, error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sims, err := newSimulators(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	var serving sync.WaitGroup
	simulating, end := context.WithCancel(context.Background())
	serving.Go(func() { _ = sims.run(simulating) })
	defer serving.Wait()
	defer end()
	set, err := vendors.Open(cfg, vendors.Options{SimURL: sims.url})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	all, err := contestants(cfg, set, model)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Model: model, Question: compareQuestion, MaxTokens: compareTokens, Currency: cfg.Ledger.Currency}
	if out.AtMost, err = a.mayCompare(all, cfg.Ledger.Currency, yes); err != nil {
		return nil, err
	}
	var under sync.WaitGroup
	for i := range all {
		if all[i].answer.Asked != "" {
			under.Go(func() { all[i].ask(ctx) })
		}
	}
	under.Wait()
	for i := range all {
		out.Answers = append(out.Answers, all[i].answer)
	}
	out.Differences = differences(out.Answers, oneHome(cfg))
	a.keepCompared(cfg, all)
	return out, nil
}

// contestants are the vendors with the name that each has for the model.
func contestants(cfg *config.Config, set *vendors.Set, model string) ([]contestant, error) {
	book := ledger.NewBook(cfg)
	out := make([]contestant, len(cfg.Vendors))
	asked, why := 0, error(nil)
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		x := &out[i]
		*x = contestant{vc: vc, v: set.Vendor(vc.Name), model: model, answer: Answer{Vendor: vc.Name, Role: vc.Role, Simulated: vc.Simulate != "", RateLimits: map[string]string{}}}
		at, err := modelAt(cfg, vc, model)
		if err != nil {
			x.answer.Error, why = err.Error(), err
			continue
		}
		asked++
		x.answer.Asked = at
		if p := stressPrice(book, vc.Name, model, at); p != nil {
			x.price = p
		}
	}
	if asked == 0 {
		return nil, fmt.Errorf("check --compare: %w", why)
	}
	return out, nil
}

// mayCompare says what the questions cost at most, and asks where a vendor is real.
func (a *app) mayCompare(all []contestant, currency string, yes bool) (*float64, error) {
	sum, asked, paid := 0.0, 0, false
	var unpriced []string
	for i := range all {
		x := &all[i]
		if x.answer.Asked == "" {
			continue
		}
		asked++
		paid = paid || x.vc.Real()
		if x.price != nil {
			if c, known := x.price(compareInput, 0, compareTokens); known {
				sum += c
				continue
			}
		}
		if x.vc.Real() {
			unpriced = append(unpriced, x.vc.Name)
		}
	}
	cost := fmt.Sprintf("%.6f %s at most", sum, currency)
	if len(unpriced) > 0 {
		cost += ", and what is not known of " + strings.Join(unpriced, ", ") + " ([[vendors.price]] gives the price)"
	}
	if !paid {
		cost = "no vendor is real: it costs nothing"
	}
	fmt.Fprintf(a.err, "one question to each of %d vendors, up to %d tokens in and %d out: %s\n", asked, compareInput, compareTokens, cost)
	if !paid {
		return new(float64), nil
	}
	if !yes && (!a.onTerminal() || !a.confirm("Ask them? [y/N] ")) {
		return nil, errors.New("check --compare: real vendors would be asked and paid: say --yes to this cost")
	}
	if len(unpriced) > 0 {
		return nil, nil
	}
	return &sum, nil
}

// keepCompared leaves what was asked of real vendors for the ledger.
func (a *app) keepCompared(cfg *config.Config, all []contestant) {
	spent := new(spending)
	for i := range all {
		x := &all[i]
		if !x.vc.Real() || x.answer.Status == 0 {
			continue
		}
		at := ledger.Attempt{
			Ended: time.Now(), N: 1, Vendor: x.vc.Name, Model: x.model, At: x.answer.Asked, Endpoint: comparePath, Source: ledger.Probe, Request: "check-" + x.vc.Name,
			Stream: true, Outcome: "ok", Status: x.answer.Status, VendorID: x.answer.RequestID, Estimated: !x.answer.Usage,
		}
		if !x.answer.good() {
			at.Outcome = "vendor_fault"
		}
		if x.answer.TotalMs != nil {
			at.Took = time.Duration(*x.answer.TotalMs * float64(time.Millisecond))
		}
		if x.answer.Usage {
			at.Input, at.Output = *x.answer.InputTokens, *x.answer.OutputTokens
			if x.answer.CachedTokens != nil {
				at.Cached = *x.answer.CachedTokens
			}
		} else if x.answer.good() {
			at.Input, at.Output = compareInput, compareTokens
		}
		spent.all = append(spent.all, at)
	}
	if len(spent.all) == 0 {
		return
	}
	dir, err := stateDir(a.statePath, cfg.State.Dir, a.env)
	if err == nil {
		err = spent.keep(dir, "check-"+time.Now().UTC().Format("20060102-150405"))
	}
	if err != nil {
		fmt.Fprintln(a.err, "baton: warning:", err)
	}
}
