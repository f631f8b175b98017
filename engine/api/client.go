package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

// clientPatience is how long a command or question may take where its context
// says nothing.
const clientPatience = 10 * time.Second

// Client is the Control of an engine elsewhere on this machine.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// NewClient returns the Control of the engine whose control API is at base.
func NewClient(base, token string) *Client {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	return &Client{base: strings.TrimRight(base, "/"), token: token,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// URL is where the engine's control API is.
func (c *Client) URL() string { return c.base }

// Do carries cmd out over there.
func (c *Client) Do(ctx context.Context, cmd control.Command) error {
	method, path, err := call(cmd)
	if err != nil {
		return err
	}
	return c.do(ctx, method, path, cmd, nil)
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
	}
	return "", "", control.Errorf(control.Internal, "%T has no call", cmd)
}

// Ask answers q from over there.
func (c *Client) Ask(ctx context.Context, q control.Query) (control.Answer, error) {
	switch q := q.(type) {
	case control.State:
		return get[*control.Snapshot](ctx, c, "/api/v1/snapshot", "")
	case control.EventsAfter:
		return get[[]control.Event](ctx, c, "/api/v1/events?after="+strconv.FormatInt(q.Seq, 10), "events")
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
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return c.unreachable(err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return fromBody(resp.StatusCode, data)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return control.Errorf(control.Internal, "read the answer to %s: %v", path, err)
	}
	return nil
}

// send makes a request to this machine only: the token must not leave it.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	u, err := url.Parse(c.base)
	if err != nil || u.Scheme != "http" || !localHost(u.Host) {
		return nil, control.Errorf(control.Invalid, "the control API's address %q is no http:// address of this machine", c.base)
	}
	var data io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, control.Errorf(control.Internal, "write the command: %v", err)
		}
		data = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, data)
	if err != nil {
		return nil, control.Errorf(control.Invalid, "the control API's address %q: %v", c.base, err)
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
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return control.Errorf(control.Unreachable, "no engine answers at %s: %v", c.base, err)
}

// Watch yields the state as the engine sends it, until ctx ends or the
// connection breaks, which is its last error. Ask again to go on.
func (c *Client) Watch(ctx context.Context, every time.Duration) iter.Seq2[control.Update, error] {
	if every <= 0 {
		every = streamEvery
	}
	return func(yield func(control.Update, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := c.send(ctx, http.MethodGet, "/api/v1/stream?every="+max(every, streamFinest).String(), nil)
		if err != nil {
			yield(control.Update{}, err)
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			data, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
			yield(control.Update{}, fromBody(resp.StatusCode, data))
			return
		}
		c.read(ctx, resp.Body, yield)
	}
}

// read yields an update for each snapshot, with the events before it.
func (c *Client) read(ctx context.Context, body io.Reader, yield func(control.Update, error) bool) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), 16<<20)
	var name string
	var u control.Update
	for lines.Scan() {
		line := lines.Bytes()
		if n, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			name = string(n)
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		if err := add(&u, name, data); err != nil {
			yield(control.Update{}, control.Errorf(control.Internal, "read the stream: %v", err))
			return
		}
		if name == "snapshot" {
			if !yield(u, nil) {
				return
			}
			u = control.Update{}
		}
	}
	if ctx.Err() != nil {
		return
	}
	err := lines.Err()
	if err == nil {
		err = errors.New("the stream ended")
	}
	yield(control.Update{}, c.unreachable(err))
}

// add puts one server-sent event into the update.
func add(u *control.Update, name string, data []byte) error {
	switch name {
	case "snapshot":
		u.Snapshot = new(control.Snapshot)
		return json.Unmarshal(data, u.Snapshot)
	case "event":
		var e control.Event
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		u.Events = append(u.Events, e)
	}
	return nil
}
