package fault

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// DialFunc is what dials for an http.Transport.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns a dialer that dials with base and keeps the open connections, so
// that a fault can reset them.
func (p *Point) Dial(base DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := base(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			p.remote.Store(a)
		}
		kept := &conn{Conn: c, point: p}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.conns == nil {
			p.conns = map[*conn]struct{}{}
		}
		p.conns[kept] = struct{}{}
		return kept, nil
	}
}

// cut resets the connections that are open, as far as l strikes them.
func (p *Point) cut(l *Lease) {
	p.mu.Lock()
	open := make([]*conn, 0, len(p.conns))
	for c := range p.conns {
		open = append(open, c)
	}
	p.mu.Unlock()
	now := time.Now()
	for _, c := range open {
		if l.roll(now) {
			c.reset()
		}
	}
}

// conn is a connection that can be reset from this side and then fails as if the
// vendor had reset it.
type conn struct {
	net.Conn
	point *Point
	cut   atomic.Bool
}

func (c *conn) reset() {
	c.cut.Store(true)
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // the vendor gets a reset, not a regular end
	}
	_ = c.Close()
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.cut.Load() {
		err = c.resetError("read", syscall.ECONNRESET)
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil && c.cut.Load() {
		err = c.resetError("write", syscall.EPIPE)
	}
	return n, err
}

// Close closes the connection and forgets it.
func (c *conn) Close() error {
	c.point.mu.Lock()
	delete(c.point.conns, c)
	c.point.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) resetError(op string, errno syscall.Errno) error {
	return &net.OpError{
		Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(),
		Err: os.NewSyscallError(op, errno),
	}
}
