package vendors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrNoProbe is Probe's error for a vendor that has nothing to probe.
var ErrNoProbe = errors.New("probe.path is empty: there is nothing to probe")

// AccountError is a probe that the vendor answered, but with 401 or 403: it is
// alive, and something is wrong with the key, the bill or a permission.
type AccountError struct {
	Vendor string
	Status int
	Key    string // Key.ID
}

// Error names vendor, key and status.
func (e *AccountError) Error() string {
	return fmt.Sprintf("probing %s with key %s: status %d", e.Vendor, e.Key, e.Status)
}

// StatusError is a probe that the vendor answered with a status of 500 or more.
type StatusError struct {
	Vendor string
	Status int
}

// Error names vendor and status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("probing %s: status %d: must be below 500", e.Vendor, e.Status)
}

// drained is how much of an answer to a probe is read so that its connection can
// be used again.
const drained = 1 << 20

// Probe asks for base_url + probe.path, which costs nothing, with key, or for nil
// with Keys.Any's. Any answer with a status below 500 is good, a limit's 429 and
// an unknown path's 404 as well: the server answers. 401 and 403 are an
// *AccountError, 500 and above a *StatusError; other errors are the
// transport's, or ctx's cause. ctx should have a deadline.
func (v *Vendor) Probe(ctx context.Context, key *Key) error {
	if v.probe == "" {
		return ErrNoProbe
	}
	if key == nil {
		key = v.Keys.Any()
	}
	path, query, _ := strings.Cut(v.probe, "?")
	r, err := v.request(ctx, &v.base, http.MethodGet, path, query, nil, nil, 0, key)
	if err != nil {
		return err
	}
	answer, err := v.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("probing %s: %w", v.Name, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, drained)); err != nil {
		return fmt.Errorf("reading %s's answer to a probe: %w", v.Name, err)
	}
	switch status := answer.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &AccountError{Vendor: v.Name, Status: status, Key: key.ID}
	case status >= http.StatusInternalServerError:
		return &StatusError{Vendor: v.Name, Status: status}
	}
	return nil
}
