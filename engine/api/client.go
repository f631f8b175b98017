package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

const (
	// clientPatience is how long a command or question may take where its
	// context says nothing.
	clientPatience = 10 * time.Second
	dialPatience   = 3 * time.Second
	headerPatience = 30 * time.Second
	// maxAnswer bounds what is read of an answer that is not a stream.
	maxAnswer = 64 << 20
)

// Client is the Control of an engine elsewhere on this machine.
type Client struct {
	base  string
	token string
	http  *http.Client

	silence time.Duration // of a stream, before the engine counts as gone
}

// NewClient returns the Control of the engine whose control API is at base, for
// example "http://127.0.0.1:8089" or just "127.0.0.1:8089". A base that is not
// on this machine is an error of every call: the token must not leave it.
func NewClient(base, token string) *Client {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	transport := &http.Transport{ // no proxy: the engine is on this machine
		DialContext:           (&net.Dialer{Timeout: dialPatience}).DialContext,
		ResponseHeaderTimeout: headerPatience,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       time.Minute,
	}
	// A redirect would lead away from the engine.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		base: strings.TrimRight(base, "/"), token: token, silence: silence,
		http: &http.Client{Transport: transport, CheckRedirect: stay},
	}
}

// URL is where the engine's control API is.
func (c *Client) URL() string { return c.base }

// Close lets go of connections that are idle. The client may be used on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do carries cmd out over there.
func (c *Client) Do(ctx context.Context, cmd control.Command) error {
	method, path, err := call(cmd)
	if err != nil {
		return err
	}
	var done struct {
		changed
		started
	}
	if err := c.do(ctx, method, path, cmd, &done); err != nil {
		return err
	}
	if drill, ok := cmd.(*control.StartDrill); ok {
		drill.ID = done.ID
		return nil
	}
	control.Made(cmd, done.Revision)
	return nil
}

// call is where a command goes.
func call(cmd control.Command) (method, path string, err error) {
	vendor := func(name, what string) string { return "/api/v1/vendors/" + url.PathEscape(name) + "/" + what }
	switch x := cmd.(type) {
	case *control.SetWeights:
		return http.MethodPut, "/api/v1/weights", nil
	case *control.ReleaseWeights:
		return http.MethodDelete, "/api/v1/weights", nil
	case *control.SetFault:
		return http.MethodPut, vendor(x.Vendor, "fault"), nil
	case *control.ClearFault:
		return http.MethodDelete, vendor(x.Vendor, "fault"), nil
	case *control.Drain:
		return http.MethodPut, vendor(x.Vendor, "drain"), nil
	case *control.Undrain:
		return http.MethodDelete, vendor(x.Vendor, "drain"), nil
	case *control.Enable:
		return http.MethodPut, vendor(x.Vendor, "enable"), nil
	case *control.SetLimit:
		return http.MethodPut, vendor(x.Vendor, "limit"), nil
	case *control.ForgetLimit:
		return http.MethodDelete, vendor(x.Vendor, "limit"), nil
	case *control.StartDrill:
		return http.MethodPost, "/api/v1/drills", nil
	case *control.AbortDrill:
		return http.MethodDelete, "/api/v1/drills/current", nil
	case *control.DismissDrill:
		return http.MethodDelete, "/api/v1/drills/shown", nil
	case *control.Reload:
		return http.MethodPost, "/api/v1/reload", nil
	case *control.MarkDrill:
		return http.MethodPost, "/api/v1/drills/current/mark", nil
	case *control.CancelScheduled:
		return http.MethodDelete, "/api/v1/schedule/" + url.PathEscape(x.ID), nil
	case *control.DismissIncident:
		return http.MethodDelete, "/api/v1/incidents/shown", nil
	case *control.SetFailover:
		return http.MethodPut, "/api/v1/failover", nil
	case *control.SetSim:
		return http.MethodPut, vendor(x.Vendor, "sim"), nil
	}
	return "", "", control.Errorf(control.Internal, "%T has no call", cmd)
}

// Ask answers q from over there.
func (c *Client) Ask(ctx context.Context, q control.Query) (control.Answer, error) {
	if a, ok, err := c.askMoney(ctx, q); ok {
		return a, err
	}
	switch q := q.(type) {
	case control.State:
		return get[*control.Snapshot](ctx, c, "/api/v1/snapshot", "")
	case control.EventsAfter:
		return get[[]control.Event](ctx, c, "/api/v1/events?after="+strconv.FormatInt(max(0, q.Seq), 10), "events")
	case control.Counts:
		return get[*control.Tally](ctx, c, "/api/v1/counts", "")
	case control.FailuresOf:
		v := url.Values{}
		if q.Vendor != "" {
			v.Set("vendor", q.Vendor)
		}
		if q.Limit > 0 {
			v.Set("limit", strconv.Itoa(q.Limit))
		}
		return get[[]control.Failure](ctx, c, "/api/v1/failures?"+v.Encode(), "failures")
	case control.Drills:
		return get[[]control.Report](ctx, c, "/api/v1/drills", "drills")
	case control.DrillByID:
		return get[*control.Report](ctx, c, "/api/v1/drills/"+url.PathEscape(q.ID), "")
	case control.Scenarios:
		return get[[]control.Scenario](ctx, c, "/api/v1/scenarios", "scenarios")
	case control.PreflightOf:
		v := url.Values{"scenario": {q.Scenario}}
		for name, value := range map[string]string{"vendor": q.Vendor, "fault": q.Fault} {
			if value != "" {
				v.Set(name, value)
			}
		}
		return get[*control.Preflight](ctx, c, "/api/v1/preflight?"+v.Encode(), "")
	}
	return nil, control.Errorf(control.Internal, "%T has no call", q)
}

// get reads a document, or the member of it that is named.
func get[T any](ctx context.Context, c *Client, path, member string) (control.Answer, error) {
	var v T
	if member == "" {
		err := c.do(ctx, http.MethodGet, path, nil, &v)
		return v, err
	}
	var doc map[string]json.RawMessage
	if err := c.do(ctx, http.MethodGet, path, nil, &doc); err != nil {
		return v, err
	}
	if err := json.Unmarshal(doc[member], &v); err != nil {
		return v, control.Errorf(control.Internal, "read the answer to %s: %v", path, err)
	}
	return v, nil
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, clientPatience)
		defer cancel()
	}
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return c.unreachable(err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return fromBody(resp.StatusCode, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return control.Errorf(control.Internal, "read the answer to %s: %v", path, err)
	}
	return nil
}

// send makes a request to this machine only: the token must not leave it.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	u, err := url.Parse(c.base)
	if err != nil || u.Scheme != "http" || !localHost(u.Host) || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, control.Errorf(control.Invalid, "the control API's address has to be http://HOST:PORT of this machine, such as http://127.0.0.1:8089")
	}
	var data io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, control.Errorf(control.Invalid, "write the command: %v", err)
		}
		data = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, data)
	if err != nil {
		return nil, control.Errorf(control.Invalid, "ask the control API at %s: %v", c.base, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return resp, nil
}

func (c *Client) unreachable(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return control.Errorf(control.Unreachable, "no engine answers at %s: %v", c.base, err)
}
