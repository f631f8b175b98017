package gateway

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBody_HasToKeepARate(t *testing.T) {
	begun := time.Unix(1000, 0)
	for _, c := range []struct {
		name     string
		after    time.Duration // when the last piece came
		n        int64
		deadline time.Duration // of the request; 0: none
		want     time.Duration // until when the next has to
	}{
		{"nothing yet", 0, 0, 0, 30 * time.Second},
		{"a byte", 29 * time.Second, 1, 0, 30*time.Second + time.Second/1024},
		{"a little at first", 5 * time.Second, 10 << 10, 0, 35 * time.Second},
		{"a slow line", 60 * time.Second, 60 << 10, 0, 90 * time.Second},
		{"slower than the rate", 60 * time.Second, 31 << 10, 0, 61 * time.Second},
		{"30 MB, and then a rest", 100 * time.Second, 30 << 20, 0, 130 * time.Second},
		{"the deadline", 60 * time.Second, 30 << 20, 70 * time.Second, 70 * time.Second},
	} {
		var deadline time.Time
		if c.deadline > 0 {
			deadline = begun.Add(c.deadline)
		}
		if got := bodyDue(begun, begun.Add(c.after), c.n, deadline).Sub(begun); got != c.want {
			t.Errorf("%s: due after %s, want %s", c.name, got, c.want)
		}
	}
}

// oneConn is a listener that has one connection.
type oneConn struct {
	conn chan net.Conn
	stop chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.stop:
		return nil, net.ErrClosed
	}
}
func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func TestBody_AByteNowAndThenHoldsNoPlace(t *testing.T) {
	for name, head := range map[string]string{"announced": "Content-Length: 1000", "chunked": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, stop := attemptOf(t, parse(t, strings.NewReplacer("<A>", "http://127.0.0.1:1", "<B>", "http://127.0.0.1:2", "%GATEWAY", "", "%ROUTING", "", "%TOP", "", "%LANYUN", "", "%BAILIAN", "", "%TIMEOUTS", "").Replace(basic)))
				defer stop()
				client, server := net.Pipe()
				l := &oneConn{make(chan net.Conn, 1), make(chan struct{})}
				l.conn <- server
				s := a.q.g.Server()
				go func() { _ = s.Serve(l) }()
				begun := time.Now()
				var drip sync.WaitGroup
				drip.Go(func() {
					_, _ = fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", chatPath, head)
					piece := "{"
					if name == "chunked" {
						piece = "1\r\n \r\n"
					}
					for {
						if _, err := client.Write([]byte(piece)); err != nil {
							return
						}
						piece = strings.Replace(piece, "{", " ", 1)
						time.Sleep(20 * time.Second)
					}
				})
				line, err := bufio.NewReader(client).ReadString('\n')
				if took := time.Since(begun); err != nil || !strings.Contains(line, "408") || took > 31*time.Second {
					t.Errorf("%q, %v after %s; want a 408 within 31 s", line, err, took)
				}
				_ = client.Close()
				close(l.stop)
				_ = s.Close()
				drip.Wait()
				synctest.Wait()
				if n := a.q.g.InFlight(); n != 0 {
					t.Errorf("%d requests hold a place", n)
				}
			})
		})
	}
}
