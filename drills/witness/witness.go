package witness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"baton/drills/load"
)

const (
	// Prefix begins the ids of the witness's requests, in the header X-Request-Id.
	Prefix = "witness-"
	// UserAgent is theirs.
	UserAgent = "baton-witness"
	patience  = 60 * time.Second // for one request
	grace     = 5 * time.Second  // for those that are under way at the end
)

// Witness sends requests and writes the log.
type Witness struct {
	URL   string  // of the gateway's API, with /v1
	RPS   float64 // requests per second, at most 5
	Model string  // "": the first that the gateway lists
	Key   string  // a client's, "": none
	Log   io.Writer
	Ended func(Entry) // is told of every request that has ended, one at a time; nil: nobody is

	client *http.Client
	run    string // part of the ids

	mu      sync.Mutex // guards what follows, the log and Ended
	n       int
	entries []Entry
	broken  error // why the log could not be written
}

// MaxRPS bounds a witness: it observes, it is no load.
const MaxRPS = 5

// Run sends requests until ctx ends, waits 5 s for those under way and sums up. It
// ends with an error where it cannot begin or the log cannot be written.
func (w *Witness) Run(ctx context.Context) (*Summary, error) {
	if w.RPS <= 0 || w.RPS > MaxRPS {
		return nil, fmt.Errorf("%g requests per second are not over 0 and at most %d", w.RPS, MaxRPS)
	}
	if u, err := url.Parse(w.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the gateway's URL %q is not http://HOST:PORT/v1", w.URL)
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext, // no proxy: it sees what a client beside it would
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     time.Minute,
	}
	defer transport.CloseIdleConnections()
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	sending, stop := context.WithCancel(ctx)
	defer stop()
	asking, leave := context.WithCancel(context.WithoutCancel(ctx)) // what is under way may end
	defer leave()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, leave) })()
	load.Open{Pacer: load.Constant{RPS: w.RPS}, Outstanding: 2 * MaxRPS * int(patience/time.Second)}.Run(sending, func(time.Time) func() {
		return func() {
			if err := w.one(asking); err != nil {
				stop()
			}
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return summarize(w.entries), w.broken
}

// begin finds a model and writes the head of the log.
func (w *Witness) begin(ctx context.Context) error {
	if w.Model == "" {
		model, err := w.firstModel(ctx)
		if err != nil {
			return err
		}
		w.Model = model
	}
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails since Go 1.24
	w.run = hex.EncodeToString(b)
	return w.write(head{Witness: format, URL: w.URL, RPS: w.RPS, Model: w.Model, Time: time.Now().UTC()})
}

func (w *Witness) firstModel(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := w.request(ctx, http.MethodGet, "/models", http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask the gateway for its models: %w", err)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask the gateway for its models: it answers %s", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return "", fmt.Errorf("ask the gateway for its models: %w", err)
	}
	if len(list.Data) == 0 {
		return "", errors.New("the gateway lists no model: name one")
	}
	return list.Data[0].ID, nil
}

func (w *Witness) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(w.URL, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("User-Agent", UserAgent)
	req.Header.Set("Content-Type", "application/json")
	if w.Key != "" {
		req.Header.Set("Authorization", "Bearer "+w.Key)
	}
	return req, nil
}

// one sends a request and logs it; the error is the log's.
func (w *Witness) one(ctx context.Context) error {
	w.mu.Lock()
	w.n++
	e := Entry{ID: fmt.Sprintf("%s%s-%06d", Prefix, w.run, w.n)}
	w.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e.Sent = time.Now().UTC()
	if err := w.write(sent{e.ID, e.Sent}); err != nil {
		return err
	}
	w.ask(ctx, &e)
	if !e.OK && errors.Is(ctx.Err(), context.Canceled) {
		return nil // it was the witness who left: the request says nothing
	}
	now := time.Now().UTC()
	e.End = &now
	if err := w.write(e); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, e)
	if w.Ended != nil {
		w.Ended(e)
	}
	return nil
}

// write adds a line to the log.
func (w *Witness) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	if _, err := w.Log.Write(append(b, '\n')); err != nil {
		w.broken = fmt.Errorf("write the log: %w", err)
	}
	return w.broken
}
