package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Traffic is a stream of chat completions in both lanes.
type Traffic struct {
	URL       string  // base URL of the gateway, http://127.0.0.1:8080/v1
	Model     string  // what is asked for
	RPS       float64 // all of it
	Batch     float64 // part of the requests that are batch work
	Stream    float64 // part of the interactive requests that are streamed; of the batch work it is half
	Seed      uint64
	UserAgent string
	Key       string // a client's key, "" where the gateway asks for none
	// Outstanding bounds the requests under way: further ones are dropped and
	// counted, so that a gateway that hangs does not fill this process.
	Outstanding int

	sent, ok, failed, dropped atomic.Int64
}

// Counts is what has become of the requests so far.
type Counts struct{ Sent, OK, Failed, Dropped int64 }

// Counts returns what has become of the requests so far.
func (t *Traffic) Counts() Counts {
	return Counts{Sent: t.sent.Load(), OK: t.ok.Load(), Failed: t.failed.Load(), Dropped: t.dropped.Load()}
}

// questions are what the requests ask: short ones, as of an FAQ.
var questions = []string{
	"How do I reset my password?", "发票怎么开？", "Which regions do you serve?", "如何申请退款？",
	"What is the limit per key?", "怎么联系客服？", "Is there a free tier?", "账号怎么注销？",
}

// Run sends until ctx ends and returns after the last request has.
func (t *Traffic) Run(ctx context.Context) error {
	if t.RPS <= 0 {
		<-ctx.Done()
		return nil
	}
	rng := rand.New(rand.NewPCG(t.Seed, 1))
	pacer := Poisson{RPS: t.RPS, Rand: rng}
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, max(t.Outstanding, 1))
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		batch := rng.Float64() < t.Batch
		stream := rng.Float64() < t.Stream
		if batch {
			stream = rng.Float64() < 0.5
		}
		q := questions[rng.IntN(len(questions))]
		select {
		case slots <- struct{}{}:
			t.sent.Add(1)
			wg.Go(func() {
				defer func() { <-slots }()
				t.ask(ctx, client, q, batch, stream)
			})
		default:
			t.dropped.Add(1)
		}
		due = due.Add(pacer.Next())
		timer.Reset(time.Until(due))
	}
}

// ask sends one request and reads its whole answer.
func (t *Traffic) ask(ctx context.Context, client *http.Client, question string, batch, stream bool) {
	body := fmt.Appendf(nil, `{"model":%q,"stream":%t,"messages":[{"role":"user","content":%q}]}`, t.Model, stream, question)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.failed.Add(1)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", t.UserAgent)
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	if batch {
		req.Header.Set("X-Baton-Lane", "batch")
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.failed.Add(1)
		}
		return
	}
	defer resp.Body.Close()
	if whole(resp, stream) {
		t.ok.Add(1)
	} else if ctx.Err() == nil {
		t.failed.Add(1)
	}
}

// whole says whether the answer came whole: a stream has to end in [DONE].
func whole(resp *http.Response, stream bool) bool {
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, resp.Body)
		return false
	}
	if !stream {
		_, err := io.Copy(io.Discard, resp.Body)
		return err == nil
	}
	done := false
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		done = done || bytes.Equal(lines.Bytes(), []byte("data: [DONE]"))
	}
	return done && lines.Err() == nil
}
