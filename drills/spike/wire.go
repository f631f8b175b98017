package spike

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
)

// question is one request to come.
type question struct {
	batch, stream bool
	n             uint64
}

// answered is what came back: the body has to be read to its end, then done is
// called with whether that went well.
type answered struct {
	status int
	later  bool // it says when to come again
	body   io.Reader
	done   func(whole bool)
}

// wire is what requests are sent through.
type wire interface {
	ask(ctx context.Context, q question) (answered, error)
	warm(ctx context.Context, n int) // opens so many connections before they are needed
	close()
}

// wire chooses: connections of its own, which cost the least, or what the plan
// brings.
func (p *Plan) wire() (wire, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, fmt.Errorf("the gateway's address: %w", err)
	}
	if p.Transport == nil && u.Scheme == "http" && u.Host != "" {
		return newPool(p, u), nil
	}
	return &client{plan: p, http: &http.Client{Transport: p.Transport}}, nil
}

func (p *Plan) body(b []byte, q question) []byte {
	return fmt.Appendf(b, `{"model":%q,"stream":%t,"max_tokens":%d,"messages":[{"role":"user","content":"%d: how do I reset my password?"}]}`, p.Model, q.stream, p.Tokens, q.n)
}

// client sends through net/http.
type client struct {
	plan *Plan
	http *http.Client
}

func (c *client) warm(context.Context, int) {}

func (c *client) close() { c.http.CloseIdleConnections() }

func (c *client) ask(ctx context.Context, q question) (answered, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.plan.URL+"/chat/completions", bytes.NewReader(c.plan.body(nil, q)))
	if err != nil {
		return answered{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.plan.Agent)
	if c.plan.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.plan.Key)
	}
	if q.batch {
		req.Header.Set("X-Baton-Lane", "batch")
	}
	resp, err := c.http.Do(req) //nolint:bodyclose // done closes it
	if err != nil {
		return answered{}, err
	}
	return answered{status: resp.StatusCode, later: resp.Header.Get("Retry-After") != "", body: resp.Body, done: func(bool) { _ = resp.Body.Close() }}, nil
}

// pool is connections to the gateway that are kept alive, the last used first. A
// request has one to itself and no goroutine beside its caller's: net/http's
// client has two more for each connection, and what they cost would be taken from
// the gateway that is measured.
type pool struct {
	plan   *Plan
	host   string
	before []byte // of the head, up to the lane

	mu     sync.Mutex
	idle   []*conn
	all    map[*conn]struct{}
	closed bool
}

type conn struct {
	net.Conn
	r      *bufio.Reader
	lines  *bufio.Reader // of a body
	buf    []byte
	reused bool
}

func newPool(p *Plan, u *url.URL) *pool {
	head := fmt.Appendf(nil, "POST %s/chat/completions HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nContent-Type: application/json\r\n", u.EscapedPath(), u.Host, p.Agent)
	if p.Key != "" {
		head = fmt.Appendf(head, "Authorization: Bearer %s\r\n", p.Key)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "80")
	}
	return &pool{plan: p, host: host, before: head, all: map[*conn]struct{}{}}
}

// close ends all connections, and with them what is under way.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.all {
		_ = c.Close()
	}
}

func (p *pool) warm(ctx context.Context, n int) {
	for range n {
		c, err := p.take(ctx, true)
		if err != nil {
			return // the requests will say so
		}
		p.give(c, true)
	}
}

// take is an idle connection, or a new one.
func (p *pool) take(ctx context.Context, fresh bool) (*conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 && !fresh {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		c.reused = true
		return c, nil
	}
	p.mu.Unlock()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", p.host)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, r: bufio.NewReader(nc), lines: bufio.NewReader(nil)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = nc.Close()
		return nil, net.ErrClosed
	}
	p.all[c] = struct{}{}
	return c, nil
}

// give takes a connection back; one that is not at the end of an answer is
// closed.
func (p *pool) give(c *conn, reusable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reusable && !p.closed {
		p.idle = append(p.idle, c)
		return
	}
	delete(p.all, c)
	_ = c.Close()
}

var post = &http.Request{Method: http.MethodPost}

func (p *pool) ask(ctx context.Context, q question) (answered, error) {
	for fresh := false; ; fresh = true {
		c, err := p.take(ctx, fresh)
		if err != nil {
			return answered{}, err
		}
		resp, err := c.exchange(p, q) //nolint:bodyclose // it is read to its end, and the connection goes on or is closed
		if err == nil {
			c.lines.Reset(resp.Body)
			return answered{
				status: resp.StatusCode, later: resp.Header.Get("Retry-After") != "", body: c.lines,
				done: func(whole bool) { p.give(c, whole && !resp.Close) },
			}, nil
		}
		p.give(c, false)
		if !c.reused || ctx.Err() != nil { // an idle one may have been closed meanwhile
			return answered{}, err
		}
	}
}

// exchange writes a request at once and reads the head of its answer.
func (c *conn) exchange(p *pool, q question) (*http.Response, error) {
	body := p.plan.body(make([]byte, 0, 256), q)
	b := append(c.buf[:0], p.before...)
	if q.batch {
		b = append(b, "X-Baton-Lane: batch\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	c.buf = append(b, body...)
	if _, err := c.Write(c.buf); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.r, post)
}
