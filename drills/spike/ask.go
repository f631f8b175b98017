package spike

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How a request ended.
const (
	admitted = iota
	limited
	shed
	failed
	outcomes
)

// ending is one request's end.
type ending struct {
	due     time.Duration // in the plan
	outcome int
	stream  bool
	lag     time.Duration // from due until it was sent
	first   time.Duration // from due until the answer began: a gateway holds a stream's status until its first token
	why     string        // of a failure: its status, or what broke
}

// longest is the longest line of a stream that is read, in bytes.
const longest = 1 << 20

// ask sends one request and reads its whole answer.
func (p *Plan) ask(ctx context.Context, client *http.Client, begin time.Time, due time.Time, batch, stream bool, n uint64) ending {
	e := ending{due: due.Sub(begin), outcome: failed, stream: stream, lag: time.Since(due)}
	body := fmt.Appendf(nil, `{"model":%q,"stream":%t,"max_tokens":%d,"messages":[{"role":"user","content":"%d: how do I reset my password?"}]}`, p.Model, stream, p.Tokens, n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		e.why = "no request"
		return e
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", p.Agent)
	if p.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.Key)
	}
	if batch {
		req.Header.Set("X-Baton-Lane", "batch")
	}
	resp, err := client.Do(req)
	if err != nil {
		e.why = "connection broke"
		return e
	}
	defer resp.Body.Close()
	e.first = time.Since(due)
	later := resp.Header.Get("Retry-After") != "" // without it a client does not know that it may come again
	switch {
	case resp.StatusCode == http.StatusTooManyRequests && later:
		e.outcome = limited
	case resp.StatusCode == http.StatusServiceUnavailable && later:
		e.outcome = shed
	case resp.StatusCode == http.StatusOK:
		if e.why = "cut off"; whole(resp.Body, stream) {
			e.outcome = admitted
		}
		return e
	default:
		e.why = strconv.Itoa(resp.StatusCode)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return e
}

// whole says whether an answer came whole: a stream has to end in [DONE].
func whole(body io.Reader, stream bool) bool {
	if !stream {
		_, err := io.Copy(io.Discard, body)
		return err == nil
	}
	done := false
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		done = done || bytes.Equal(lines.Bytes(), []byte("data: [DONE]"))
	}
	return done && lines.Err() == nil
}
