package gateway

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What an idle stream costs, with its client and its vendor in the same process.
func TestIdleStreams_AreCheap(t *testing.T) {
	if testing.Short() || slack > 1 {
		t.Skip("measures memory")
	}
	w := newWorld(t, map[string]string{"TIMEOUTS": `idle = "60s"`})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 1)
		<-r.Context().Done()
	})
	const streams = 300
	measure := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := measure()
	conns := make([]net.Conn, 0, streams)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
		eventually(t, "the streams end", func() bool { return w.g.InFlight() == 0 })
	}()
	for range streams {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(askStream), askStream)
	}
	buf := bufio.NewReaderSize(nil, 1024)
	for _, c := range conns {
		buf.Reset(c)
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		for line := ""; !strings.HasPrefix(line, "data: "); {
			var err error
			if line, err = buf.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	per := (measure() - before) / streams
	t.Logf("%d bytes a stream", per)
	if per > 160<<10 {
		t.Errorf("%d bytes a stream, want at most 160 KiB", per)
	}
}
