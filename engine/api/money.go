package api

import (
	"fmt"
	"net/http"
	"net/url"
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
