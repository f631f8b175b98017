package speed

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The mock's answers never change, so that the load can compare every byte.
const (
	chunks    = 20 // of a stream, the one with the role and the one with the finish reason included
	usageText = `{"prompt_tokens":180,"completion_tokens":18,"total_tokens":198}`
	chunkHead = `{"id":"chatcmpl-speed","object":"chat.completion.chunk","created":1764550000,"model":"speed","choices":[`
	wholeText = `{"id":"chatcmpl-speed","object":"chat.completion","created":1764550000,"model":"speed","choices":[{"index":0,"message":` +
		`{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":` + usageText + `}`
)

var (
	words      = [...]string{"the", " backup", " is", " warm", " because", " it", " carries", " traffic", " all", " day"}
	events     = makeEvents()
	streamText = strings.Join(events, "") + doneText
	// firstWord is where the first event with a word in it ends: the first token.
	firstWord = len(events[0]) + len(events[1])
	wholeBody = []byte(fmt.Sprintf(wholeText, strings.Repeat(strings.Join(words[:], ""), 8)))
	usageData = []byte("data: " + chunkHead + `],"usage":` + usageText + "}\n\n")
)

const doneText = "data: [DONE]\n\n"

func makeEvents() []string {
	list := []string{`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`}
	for i := range chunks - 2 {
		list = append(list, `{"index":0,"delta":{"content":"`+words[i%len(words)]+`"},"finish_reason":null}`)
	}
	list = append(list, `{"index":0,"delta":{},"finish_reason":"stop"}`)
	for i := range list {
		list[i] = "data: " + chunkHead + list[i] + "]}\n\n"
	}
	return list
}

// modelName is a model of the mock's: how long it takes to answer, and between events.
func modelName(wait, gap time.Duration) string {
	return fmt.Sprintf("speed-%d-%d", wait.Milliseconds(), gap.Milliseconds())
}

// serveMock is the vendor: it answers as the model's name says.
func serveMock(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Method != http.MethodPost { // baton's probe
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"speed-0-0","object":"model"}]}`)
		return
	}
	wait, gap := pace(body)
	time.Sleep(wait)
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(wholeBody)))
		_, _ = w.Write(wholeBody)
		return
	}
	stream(w, gap, bytes.Contains(body, []byte(`"include_usage":true`)))
}

// stream sends the events one by one, as a vendor does: each in a write of its own.
func stream(w http.ResponseWriter, gap time.Duration, usage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher, _ := w.(http.Flusher)
	for i, event := range events {
		if i > 1 { // the role and the first word come together
			time.Sleep(gap)
		}
		_, _ = io.WriteString(w, event)
		flusher.Flush()
	}
	if usage {
		_, _ = w.Write(usageData)
	}
	_, _ = io.WriteString(w, doneText)
}

// pace reads the two figures of a model's name, in milliseconds.
func pace(body []byte) (wait, gap time.Duration) {
	_, rest, _ := bytes.Cut(body, []byte(`"speed-`))
	a, rest, _ := bytes.Cut(rest, []byte("-"))
	b, _, _ := bytes.Cut(rest, []byte(`"`))
	ms := func(digits []byte) time.Duration {
		n, _ := strconv.Atoi(string(digits))
		return time.Duration(n) * time.Millisecond
	}
	return ms(a), ms(b)
}
