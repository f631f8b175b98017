package speed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// client is one connection to a proxy. It writes and reads in the goroutine that
// calls it: the load's own CPU is taken from the machine that is measured.
type client struct {
	addr    string
	request []byte
	want    []byte
	mark    int // bytes after which the first token has come
	conn    net.Conn
	in      *bufio.Reader
	buf     []byte
	vendor  string // X-Baton-Vendor of the last answer
}

// errCut says that an answer began well and was not whole.
var errCut = errors.New("cut")

// newClient makes the client of a case. It dials when it is first used.
func newClient(addr string, c *testCase) *client {
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"Why is the backup warm?"}],"temperature":0.7,"max_tokens":256,"stream":%t}`,
		modelName(c.wait, c.gap), strings.Repeat("You answer in short sentences. ", 24), c.stream)
	k := &client{addr: addr, buf: make([]byte, 16<<10), want: wholeBody, mark: len(wholeBody)}
	k.request = fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nUser-Agent: speed\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nAuthorization: Bearer sk-client\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body)
	if c.stream {
		k.want, k.mark = []byte(streamText), firstWord
	}
	return k
}

// timeout is how long one request may take, so that a proxy that hangs ends the run.
const timeout = 30 * time.Second

// ask sends one request and reads its answer to the end. first is when the first
// token came; of a whole answer, when all of it had.
func (k *client) ask() (first time.Time, err error) {
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if k.conn == nil {
		if k.conn, err = net.Dial("tcp", k.addr); err != nil {
			return first, err
		}
		k.in = bufio.NewReaderSize(k.conn, 16<<10)
	}
	if err = k.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return first, err
	}
	if _, err = k.conn.Write(k.request); err != nil {
		return first, err
	}
	answer, err := http.ReadResponse(k.in, nil)
	if err != nil {
		return first, err
	}
	k.vendor = answer.Header.Get("X-Baton-Vendor")
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 512))
		return first, fmt.Errorf("status %d: %.200s", answer.StatusCode, text)
	}
	if first, err = k.read(answer.Body); err != nil {
		return first, err
	}
	if answer.Close {
		k.close()
	}
	return first, nil
}

// read compares an answer with what the mock sent.
func (k *client) read(body io.Reader) (first time.Time, err error) {
	at := 0
	for {
		n, err := body.Read(k.buf)
		if at+n > len(k.want) || !bytes.Equal(k.buf[:n], k.want[at:at+n]) {
			return first, fmt.Errorf("%w: other bytes than the vendor's after %d", errCut, at)
		}
		if at += n; at >= k.mark && first.IsZero() {
			first = time.Now()
		}
		switch {
		case errors.Is(err, io.EOF) && at < len(k.want):
			return first, fmt.Errorf("%w: %d of %d bytes", errCut, at, len(k.want))
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			return first, fmt.Errorf("%w: %d of %d bytes: %w", errCut, at, len(k.want), err)
		}
	}
}

func (k *client) close() {
	if k.conn != nil {
		_ = k.conn.Close()
		k.conn = nil
	}
}
