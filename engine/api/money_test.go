package api

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// teller is a Control that answers questions about money, and remembers them.
type teller struct{ asked control.Query }

func (t *teller) Do(context.Context, control.Command) error { return nil }

func (t *teller) Watch(context.Context, time.Duration) iter.Seq2[control.Update, error] {
	return func(func(control.Update, error) bool) {}
}

func (t *teller) Ask(_ context.Context, q control.Query) (control.Answer, error) {
	t.asked = q
	switch q := q.(type) {
	case control.CostsOf:
		return &control.Costs{Since: q.Since, Currency: "CNY", Totals: control.CostGroup{Cost: control.Figure(1.5)}}, nil
	case control.LeverageOf:
		return &control.Leverage{For: q.For, Terms: q.Terms}, nil
	case control.DossierOf:
		if q.Vendor != "lanyun" {
			return nil, control.Errorf(control.NotFound, "there is no vendor %q", q.Vendor)
		}
		return &control.Dossier{Vendor: q.Vendor, Month: q.Month}, nil
	case control.LinesOf:
		return []control.BillLine{{Day: "2026-12-01", Model: q.Timezone}}, nil
	case control.Vacuum:
		return &control.Vacuumed{Before: 2, After: 1}, nil
	case control.CopyStore:
		return &control.StoreCopy{Path: "/copy"}, nil
	}
	return nil, control.Errorf(control.Internal, "%T", q)
}

func TestMoney_QuestionsArriveAsTheyWereSent(t *testing.T) {
	there := new(teller)
	ts := httptest.NewServer(NewServer(Options{Control: there, Token: "0123456789012345678901234567890123456789"}))
	defer ts.Close()
	c := NewClient(ts.URL, "0123456789012345678901234567890123456789")
	defer c.Close()
	since, until := time.Date(2026, 11, 1, 0, 0, 0, 1, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for _, q := range []control.Query{
		control.CostsOf{},
		control.CostsOf{Since: since, Until: until},
		control.LeverageOf{For: "lanyun", Since: since},
		control.LeverageOf{Terms: control.Terms{Overhead: control.Figure(700.5), Discount: control.Figure(0.05), Won: control.Figure(0), OutageCost: control.Figure(1), OutageMins: control.Figure(2)}},
		control.DossierOf{Vendor: "lanyun", Month: "2026-11"},
		control.LinesOf{Vendor: "lanyun", Since: since, Until: until, Timezone: "Asia/Shanghai"},
		control.Vacuum{},
		control.CopyStore{},
	} {
		got, err := c.Ask(t.Context(), q)
		if err != nil {
			t.Errorf("%#v: %v", q, err)
			continue
		}
		if !reflect.DeepEqual(there.asked, q) {
			t.Errorf("asked %#v, arrived %#v", q, there.asked)
		}
		want, _ := there.Ask(t.Context(), q)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%#v: got %+v, want %+v", q, got, want)
		}
	}
	if _, err := c.Ask(t.Context(), control.DossierOf{Vendor: "nobody"}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("of nobody: %v", err)
	}
}

func TestMoney_RefusesWhatIsNoTimeOrFigure(t *testing.T) {
	h := NewServer(Options{Control: new(teller), Token: "0123456789012345678901234567890123456789"})
	for path, want := range map[string]int{
		"/api/v1/costs?since=24h":                      http.StatusOK,
		"/api/v1/costs?since=2026-12-01":               http.StatusOK,
		"/api/v1/costs?since=yesterday":                http.StatusUnprocessableEntity,
		"/api/v1/costs?since=-1h":                      http.StatusUnprocessableEntity,
		"/api/v1/costs?until=NaN":                      http.StatusUnprocessableEntity,
		"/api/v1/leverage?overhead=-1":                 http.StatusUnprocessableEntity,
		"/api/v1/leverage?overhead=NaN":                http.StatusUnprocessableEntity,
		"/api/v1/leverage?discount=1":                  http.StatusUnprocessableEntity,
		"/api/v1/leverage?overhead=1&discount=0.99":    http.StatusOK,
		"/api/v1/vendors/nobody/dossier":               http.StatusNotFound,
		"/api/v1/vendors/lanyun/dossier?month=2026-11": http.StatusOK,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Host = "127.0.0.1:8089"
		r.Header.Set("Authorization", "Bearer 0123456789012345678901234567890123456789")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}
