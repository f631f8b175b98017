package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// server is a vendor on a real socket and a client of its own.
type server struct {
	*Vendor
	url    string
	client *http.Client
}

func start(t testing.TB, o Options) *server {
	t.Helper()
	v, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(v)
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		ts.Close()
	})
	return &server{Vendor: v, url: ts.URL, client: &http.Client{Transport: tr, Timeout: 20 * time.Second}}
}

// faulty is a vendor of the profile "faults", a thousand times faster.
func faulty(t testing.TB) *server {
	return start(t, Options{Profile: "faults", Scale: 0.001})
}

// reply is what a client saw.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // before the headers, or in the body
}

func (s *server) do(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b), err}
}

// chat asks the model in question with a stream or without.
func (s *server) chat(t testing.TB, model string, stream bool) reply {
	t.Helper()
	return s.do(t, http.MethodPost, "/v1/chat/completions", chatBody(model, stream))
}

func chatBody(model string, stream bool) string {
	if stream {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"hello"}],"stream":true}`
	}
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hello"}]}`
}

// said is what a lenient reader makes of a stream: its text, last finish reason, and marks.
type said struct {
	text, reason string
	usage        bool
	done, failed bool
	events       int
	garbage      int
}

// hear reads a stream's chunks. It is written apart from the writer: lines by any ending, data joined by newlines.
func hear(body string) said {
	var out said
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	for block := range strings.SplitSeq(body, "\n\n") {
		var data []string
		for line := range strings.SplitSeq(block, "\n") {
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(rest, " "))
			}
		}
		if data == nil {
			continue
		}
		out.events++
		out.chunk(strings.Join(data, "\n"))
	}
	return out
}

func (s *said) chunk(data string) {
	if data == "[DONE]" {
		s.done = true
		return
	}
	var c struct {
		Error   json.RawMessage
		Usage   json.RawMessage
		Type    string
		Delta   json.RawMessage
		Choices []struct {
			Text    string
			Message struct{ Content string }
			Delta   struct{ Content string }
			Finish  string `json:"finish_reason"`
		}
	}
	if json.Unmarshal([]byte(data), &c) != nil {
		s.garbage++
		return
	}
	s.failed = s.failed || len(c.Error) > 0 || c.Type == "error"
	s.usage = s.usage || len(c.Usage) > 0 && !bytes.Equal(c.Usage, []byte("null"))
	if c.Type == "response.output_text.delta" {
		var text string
		_ = json.Unmarshal(c.Delta, &text)
		s.text += text
	}
	if c.Type == "response.completed" {
		s.reason = "stop"
	}
	for _, ch := range c.Choices {
		s.text += ch.Delta.Content + ch.Text + ch.Message.Content
		if ch.Finish != "" && ch.Finish != "null" {
			s.reason = ch.Finish
		}
	}
}

func words(n int) string {
	return strings.Join(countedWords()[:n], "")
}
