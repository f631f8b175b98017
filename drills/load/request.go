package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
)

// longest is the longest line of a stream that is read, in bytes.
const longest = 1 << 20

// questions are what the requests ask: short ones, as of an FAQ.
var questions = []string{
	"How do I reset my password?", "发票怎么开？", "Which regions do you serve?", "如何申请退款？",
	"What is the limit per key?", "怎么联系客服？", "Is there a free tier?", "账号怎么注销？",
}

// request is one question and how it is asked.
type request struct {
	question      string
	batch, stream bool
}

// draw makes the next request.
func (t *Traffic) draw(rng *rand.Rand) request {
	q := request{question: questions[rng.IntN(len(questions))], batch: rng.Float64() < t.Batch}
	streamed := t.Stream
	if q.batch {
		streamed = 0.5
	}
	q.stream = rng.Float64() < streamed
	return q
}

// ask sends one request, reads its whole answer and counts it.
func (t *Traffic) ask(ctx context.Context, client *http.Client, q request) {
	ok := t.answered(ctx, client, q)
	switch {
	case ok:
		t.ok.Add(1)
	case ctx.Err() == nil: // else it was cut off
		t.failed.Add(1)
	}
}

func (t *Traffic) answered(ctx context.Context, client *http.Client, q request) bool {
	body := fmt.Appendf(nil, `{"model":%q,"stream":%t,"messages":[{"role":"user","content":%q}]}`, t.Model, q.stream, q.question)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", t.UserAgent)
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	if q.batch {
		req.Header.Set("X-Baton-Lane", "batch")
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return whole(resp, q.stream)
}

// whole says whether the answer came whole: a stream has to end in [DONE].
func whole(resp *http.Response, stream bool) bool {
	if resp.StatusCode != http.StatusOK || !stream {
		_, err := io.Copy(io.Discard, resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK
	}
	done := false
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		done = done || bytes.Equal(lines.Bytes(), []byte("data: [DONE]"))
	}
	return done && lines.Err() == nil
}
