package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"baton/engine/sse"
)

// answer is one request's end.
type answer struct {
	due   time.Time
	ok    bool
	first time.Duration // from due until the first word; 0: whole answers have none
	whole time.Duration // from due until the end
	why   string        // of a failure: its status, or what broke
}

// patience is how long a client of the story waits for its answer.
const patience = 60 * time.Second

// questions are what people ask.
var questions = []string{
	"How do I reset my password?", "发票怎么开？", "Which regions do you serve?", "如何申请退款？",
	"What is the limit per key?", "怎么联系客服？", "Is there a free tier?", "账号怎么注销？",
}

// Prompts are as long as a chat's: lognormal, median 180 tokens, sigma 0.8.
const (
	promptTokens = 180.0
	promptSigma  = 0.8
	tokenBytes   = 4 // of English text
)

// prompt is question n with what came before it in its conversation.
func prompt(n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	length := int(tokenBytes * promptTokens * math.Exp(promptSigma*rng.NormFloat64()))
	const before = "We have talked about this account before. "
	return fmt.Sprintf("%d: %s%s", n, strings.Repeat(before, length/len(before)), questions[n%len(questions)])
}

// ask sends one request and reads its whole answer.
func ask(ctx context.Context, client *http.Client, url string, due time.Time, n int, stream bool) answer {
	a := answer{due: due}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body := fmt.Appendf(nil, `{"model":%q,"stream":%t,"messages":[{"role":"user","content":%q}]}`, model, stream, prompt(n))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		a.why = "no request"
		return a
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "baton-story")
	resp, err := client.Do(req)
	if err != nil {
		a.why = broke(err)
		return a
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, resp.Body)
		a.why = fmt.Sprintf("%d", resp.StatusCode)
		return a
	}
	if stream {
		err = a.read(resp.Body)
	} else {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	a.whole = time.Since(due)
	if err != nil {
		a.why = broke(err)
		return a
	}
	a.ok = true
	return a
}

// errCut is a stream that ended without [DONE].
var errCut = errors.New("cut off")

// read reads a stream to its [DONE] and notes when its first word came.
func (a *answer) read(body io.Reader) error {
	r := sse.NewReader(body, 0)
	for {
		ev, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return errCut
		case err != nil:
			return err
		case sse.IsDone(ev.Data):
			return nil
		case bytes.Contains(ev.Data, []byte(`"error"`)):
			return errCut
		case a.first == 0 && worded(ev.Data):
			a.first = time.Since(a.due)
		}
	}
}

// worded says whether a chunk has words in it: the first ones of a stream may
// name a role only.
func worded(data []byte) bool {
	i := bytes.Index(data, []byte(`"content":"`))
	return i >= 0 && i+11 < len(data) && data[i+11] != '"'
}

// broke is what went wrong with a connection, in a word or two.
func broke(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in " + patience.String()
	case errors.Is(err, errCut):
		return "cut off"
	}
	return "connection broke"
}
