package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"baton/engine/control"
)

// costsQuery reads since and until: RFC 3339, a date, or how long ago, "24h".
func costsQuery(r *http.Request) (control.Query, error) {
	since, until, err := spanOf(r, time.Now())
	return control.CostsOf{Since: since, Until: until}, err
}

func spanOf(r *http.Request, now time.Time) (since, until time.Time, err error) {
	if since, err = moment(r, "since", now); err == nil {
		until, err = moment(r, "until", now)
	}
	return since, until, err
}

// moment reads a time; absent is the zero time.
func moment(r *http.Request, name string, now time.Time) (time.Time, error) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Time{}, &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("%s = %q is no time: 24h, 2026-12-01 or 2026-12-01T10:00:00Z", name, s)}
}

func spanValues(since, until time.Time) url.Values {
	v := url.Values{}
	for name, t := range map[string]time.Time{"since": since, "until": until} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	return v
}

// leverageQuery reads for, since, until and the terms.
func leverageQuery(r *http.Request) (control.Query, error) {
	since, until, err := spanOf(r, time.Now())
	q := control.LeverageOf{For: r.URL.Query().Get("for"), Since: since, Until: until}
	for name, to := range termsOf(&q.Terms) {
		if s := r.URL.Query().Get(name); s != "" && err == nil {
			*to, err = positive(name, s)
		}
	}
	return q, err
}

func termsOf(t *control.Terms) map[string]**float64 {
	return map[string]**float64{"overhead": &t.Overhead, "discount": &t.Discount, "won": &t.Won, "outage_cost": &t.OutageCost, "outage_mins": &t.OutageMins}
}

func positive(name, s string) (*float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0) || f > 1e12 || (name == "discount" || name == "won") && f >= 1 {
		return nil, &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("%s = %q is no figure of 0 or more (discount and won: under 1)", name, s)}
	}
	return &f, nil
}

func leverageValues(q control.LeverageOf) url.Values {
	v := spanValues(q.Since, q.Until)
	if q.For != "" {
		v.Set("for", q.For)
	}
	for name, f := range termsOf(&q.Terms) {
		if *f != nil {
			v.Set(name, strconv.FormatFloat(**f, 'g', -1, 64))
		}
	}
	return v
}

func dossierQuery(r *http.Request) (control.Query, error) {
	return control.DossierOf{Vendor: r.PathValue("name"), Month: r.URL.Query().Get("month")}, nil
}

func linesQuery(r *http.Request) (control.Query, error) {
	since, until, err := spanOf(r, time.Now())
	return control.LinesOf{Vendor: r.PathValue("name"), Since: since, Until: until, Timezone: r.URL.Query().Get("timezone")}, err
}

// moneyRoutes are the calls about money and the store's file.
func (s *server) moneyRoutes(h func(pattern string, f func(w http.ResponseWriter, r *http.Request) error)) {
	h("GET /api/v1/costs", ask[*control.Costs](s, costsQuery, nil))
	h("GET /api/v1/leverage", ask[*control.Leverage](s, leverageQuery, nil))
	h("GET /api/v1/vendors/{name}/dossier", ask[*control.Dossier](s, dossierQuery, nil))
	h("GET /api/v1/vendors/{name}/bill", ask(s, linesQuery, list[control.BillLine]("lines")))
	h("POST /api/v1/db/vacuum", ask[*control.Vacuumed](s, plain(control.Vacuum{}), nil))
	h("POST /api/v1/db/copy", ask[*control.StoreCopy](s, plain(control.CopyStore{}), nil))
}

// askMoney answers the questions about money from over there; false: q is none.
func (c *Client) askMoney(ctx context.Context, q control.Query) (a control.Answer, ok bool, err error) {
	vendor := func(name, what string, v url.Values) string {
		return "/api/v1/vendors/" + url.PathEscape(name) + "/" + what + "?" + v.Encode()
	}
	switch q := q.(type) {
	case control.CostsOf:
		a, err = get[*control.Costs](ctx, c, "/api/v1/costs?"+spanValues(q.Since, q.Until).Encode(), "")
	case control.LeverageOf:
		a, err = get[*control.Leverage](ctx, c, "/api/v1/leverage?"+leverageValues(q).Encode(), "")
	case control.DossierOf:
		v := url.Values{}
		if q.Month != "" {
			v.Set("month", q.Month)
		}
		a, err = get[*control.Dossier](ctx, c, vendor(q.Vendor, "dossier", v), "")
	case control.LinesOf:
		v := spanValues(q.Since, q.Until)
		if q.Timezone != "" {
			v.Set("timezone", q.Timezone)
		}
		a, err = get[[]control.BillLine](ctx, c, vendor(q.Vendor, "bill", v), "lines")
	case control.Vacuum:
		var done control.Vacuumed
		err = c.do(ctx, http.MethodPost, "/api/v1/db/vacuum", nil, &done)
		a = &done
	case control.CopyStore:
		var done control.StoreCopy
		err = c.do(ctx, http.MethodPost, "/api/v1/db/copy", nil, &done)
		a = &done
	default:
		return nil, false, nil
	}
	return a, true, err
}
