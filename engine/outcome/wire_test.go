package outcome_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"baton/engine/outcome"
	"baton/engine/scan"
	"baton/engine/sse"
)

// seen is what a relay would have learned from a stream.
type seen struct {
	text     string
	commit   int // index of the first meaningful event, comments not counted; -1: none
	finish   outcome.Finish
	output   int
	failed   bool
	dropped  int // events that are no JSON
	done     bool
	stripped int // events that hold usage only
}

func relay(t *testing.T, src io.Reader) seen {
	t.Helper()
	r := sse.NewReader(src, 0)
	s := seen{commit: -1}
	for i := 0; ; {
		ev, err := r.Next()
		if err != nil {
			if err != io.EOF { //nolint:errorlint // bare by contract
				t.Fatal(err)
			}
			return s
		}
		if ev.Comment {
			continue
		}
		if sse.IsDone(ev.Data) {
			s.done = true
			continue
		}
		c, ok := outcome.Chunk(ev.Data)
		if !ok {
			s.dropped++
			continue
		}
		if c.Meaningful && s.commit < 0 {
			s.commit = i
		}
		i++
		if c.Content != nil {
			text, err := scan.String(c.Content)
			if err != nil {
				t.Fatal(err)
			}
			s.text += text
		}
		s.finish = max(s.finish, c.Finish)
		s.failed = s.failed || c.Error
		if c.Usage.Has {
			s.output = c.Usage.Output
		}
		if c.UsageOnly {
			s.stripped++
		}
	}
}

// TestWire_ReadsVendorsStreamsByteByByte replays the streams in testdata, each as it
// stands and with every byte in a read of its own, with LF, CRLF and lone CR.
func TestWire_ReadsVendorsStreamsByteByByte(t *testing.T) {
	want := map[string]seen{
		"openai.sse":     {text: "Hello, world", commit: 1, finish: outcome.FinishStop, output: 3, done: true, stripped: 1},
		"bailian.sse":    {text: "你好，世界", commit: 1, finish: outcome.FinishStop, output: 17, done: true, stripped: 1},
		"moderated.sse":  {text: "部分", commit: 1, failed: true},
		"deepseek.sse":   {text: "42", commit: 1, finish: outcome.FinishNoResource, output: 9, done: true},
		"dashscope.sse":  {text: "你好", commit: 1, finish: outcome.FinishStop, output: 2},
		"vllm.sse":       {text: "Hi", commit: 1, failed: true, done: true},
		"azure.sse":      {text: "Hi", commit: 2, finish: outcome.FinishStop, done: true},
		"openrouter.sse": {text: "Hi", commit: 0, finish: outcome.FinishError, failed: true},
		"garbage.sse":    {text: "ab", commit: 0, finish: outcome.FinishStop, dropped: 1},
		"responses.sse":  {text: "Hi there", commit: 2, finish: outcome.FinishStop, output: 5},
	}
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d fixtures, %v; want %d", len(files), err, len(want))
	}
	for _, file := range files {
		wire, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			in := strings.ReplaceAll(string(wire), "\n", eol)
			for _, src := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
				if got := relay(t, src); got != want[filepath.Base(file)] {
					t.Errorf("%s with %q:\ngot  %+v\nwant %+v", file, eol, got, want[filepath.Base(file)])
				}
			}
		}
	}
}

func TestWire_NamesAreNotDoubled(t *testing.T) {
	var paths []string
	for _, e := range []outcome.Endpoint{outcome.Chat, outcome.Completions, outcome.Embeddings, outcome.Responses} {
		paths = append(paths, e.Path())
	}
	slices.Sort(paths)
	if len(slices.Compact(paths)) != 4 || outcome.Other.Path() != "" {
		t.Errorf("paths %v", paths)
	}
}

// BenchmarkRelay_PerEvent is what a relay does with each event but for the writing.
// Budget: no allocation, and about a microsecond on an idle core.
func BenchmarkRelay_PerEvent(b *testing.B) {
	one := []byte("data: {\"id\":\"chatcmpl-6ada9ed2\",\"object\":\"chat.completion.chunk\",\"created\":1735120033,\"model\":\"deepseek-v3\",\"system_fingerprint\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n")
	r := sse.NewReader(&endless{piece: one}, 0)
	b.ReportAllocs()
	for b.Loop() {
		ev, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		if c, ok := outcome.Chunk(ev.Data); !ok || !c.Meaningful {
			b.Fatal("misread")
		}
		r.Buffered()
	}
}

type endless struct {
	piece []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.piece[e.at:])
	e.at = (e.at + n) % len(e.piece)
	return n, nil
}
