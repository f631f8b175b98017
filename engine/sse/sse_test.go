package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// said is an event as a test writes it down.
type said struct {
	data, name       string
	comment, unended bool
}

func all(t *testing.T, src io.Reader, limit int) (events []said, raw string, err error) {
	t.Helper()
	r := NewReader(src, limit)
	for {
		ev, err := r.Next()
		if err != nil {
			return events, raw, err
		}
		raw += string(ev.Raw)
		events = append(events, said{string(ev.Data), string(ev.Name), ev.Comment, ev.Unended})
	}
}

var streams = []struct {
	name, in string
	want     []said
}{
	{"openai", "data: {\"a\":1}\n\ndata: [DONE]\n\n", []said{{data: `{"a":1}`}, {data: "[DONE]"}}},
	{"dashscope without spaces", "id:1\nevent:result\n:HTTP_STATUS/200\ndata:{\"output\":1}\n\n", []said{{data: `{"output":1}`, name: "result"}}},
	{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []said{{data: "a"}, {data: "b"}}},
	{"lone cr", "data: a\r\rdata: b\r\r", []said{{data: "a"}, {data: "b"}}},
	{"mixed ends", "data: a\r\ndata: b\n\rdata: c\r\n\n", []said{{data: "a\nb"}, {data: "c"}}},
	{"keep-alive comments", ": keep-alive\n\n: OPENROUTER PROCESSING\n\ndata: x\n\n", []said{{comment: true}, {comment: true}, {data: "x"}}},
	{"blank lines", "\n\ndata: x\n\n", []said{{comment: true}, {comment: true}, {data: "x"}}},
	{"byte order mark", "\ufeffdata: x\n\n", []said{{data: "x"}}},
	{"byte order mark before two lines", "\ufeffdata: x\ndata: y\n\n", []said{{data: "x\ny"}}},
	{"several data lines", "data: a\ndata:b\ndata\ndata:  c\n\n", []said{{data: "a\nb\n\n c"}}},
	{"empty data", "data:\n\ndata\n\n", []said{{}, {}}},
	{"other fields", "retry: 10\nid: 7\ndataset: no\ndata: yes\n\n", []said{{data: "yes"}}},
	{"responses", "event: response.created\ndata: {}\n\n", []said{{data: "{}", name: "response.created"}}},
	{"no blank line at the end", "data: a\n\ndata: [DONE]\n", []said{{data: "a"}, {data: "[DONE]", unended: true}}},
	{"no line end at the end", "data: a\n\ndata: [DONE]", []said{{data: "a"}, {data: "[DONE]", unended: true}}},
	{"utf-8", "data: 蓝耘😀\n\n", []said{{data: "蓝耘😀"}}},
	{"not a stream", "<html>\n<body>oops", []said{{comment: true, unended: true}}},
	{"empty", "", nil},
	{"only a mark", "\ufeff", []said{{comment: true, unended: true}}},
}

func TestReader_ReadsEveryFramingHoweverItIsSplit(t *testing.T) {
	for _, c := range streams {
		for _, split := range []struct {
			name string
			of   func(string) io.Reader
		}{
			{"at once", func(s string) io.Reader { return strings.NewReader(s) }},
			{"1-byte reads", func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) }},
			{"data with the error", func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) }},
			{"halves", func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) }},
		} {
			got, raw, err := all(t, split.of(c.in), 0)
			if err != io.EOF { //nolint:errorlint // bare by contract
				t.Errorf("%s, %s: %v, want io.EOF", c.name, split.name, err)
			}
			if raw != c.in {
				t.Errorf("%s, %s: raw is %q, want the stream as it was", c.name, split.name, raw)
			}
			if got = withoutHalves(got, c.in); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s:\ngot  %+v\nwant %+v", c.name, split.name, got, c.want)
			}
		}
	}
}

// withoutHalves leaves out comments where a CRLF may be split after an event: its LF
// comes as a comment then, since nobody can wait for it.
func withoutHalves(events []said, in string) []said {
	if !strings.Contains(in, "\r\n\r\n") && !strings.Contains(in, "\r\n\n") {
		return events
	}
	return slices.DeleteFunc(events, func(s said) bool { return s.comment })
}

func TestReader_DoesNotWaitForTheSecondHalfOfACRLF(t *testing.T) {
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() { _, _ = pw.Write([]byte("data: x\r\n\r")) }()
	ev, err := NewReader(pr, 0).Next()
	if err != nil || string(ev.Data) != "x" {
		t.Errorf("%q, %v", ev.Data, err)
	}
}

func TestReader_DeliversWholeLinesBeforeABrokenConnectionsError(t *testing.T) {
	broken := errors.New("reset")
	for in, want := range map[string][]said{
		"data: a\n\ndata: {\"half": {{data: "a"}},
		"data: a\n\ndata: b\n":     {{data: "a"}, {data: "b", unended: true}},
		"data: a\n\n":              {{data: "a"}},
		"data: a\ndata: ha":        {{data: "a", unended: true}},
	} {
		got, _, err := all(t, io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), 0)
		if !errors.Is(err, broken) || !slices.Equal(got, want) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func TestReader_RefusesEventsOverItsLimit(t *testing.T) {
	for _, limit := range []int{3, 100, 5000, 70000} {
		fits := "data: " + strings.Repeat("x", limit) + "\n\n"
		if _, _, err := all(t, iotest.HalfReader(strings.NewReader(fits)), len(fits)); err != io.EOF { //nolint:errorlint // bare by contract
			t.Errorf("an event of just the limit %d: %v", len(fits), err)
		}
		events, _, err := all(t, strings.NewReader("data: a\n\n"+fits), max(9, len(fits)-1))
		if !errors.Is(err, ErrTooLong) || len(events) != 1 {
			t.Errorf("an event of one more than %d: %d events, %v; want ErrTooLong", len(fits)-1, len(events), err)
		}
	}
}

func TestReader_GivesUpOnASourceThatReadsNothing(t *testing.T) {
	_, _, err := all(t, nothing{}, 0)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v, want io.ErrNoProgress", err)
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestReader_BufferedTellsWhetherNextWouldBlock(t *testing.T) {
	parts := []string{"data: a\n\ndata: b\n\ndata: c\n", "\n", "data: d\n\n"}
	src := &stepped{parts: parts}
	r := NewReader(src, 0)
	for i, want := range []bool{true, false, false, false} {
		ev, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		data := string(ev.Data)
		if got := r.Buffered(); got != want {
			t.Errorf("after event %d Buffered is %v, want %v", i, got, want)
		}
		if string(ev.Data) != data || data != string(rune('a'+i)) {
			t.Errorf("event %d is %q after Buffered", i, ev.Data)
		}
	}
	if _, err := r.Next(); err != io.EOF { //nolint:errorlint // bare by contract
		t.Errorf("%v, want io.EOF", err)
	}
	if !r.Buffered() {
		t.Error("after the end Next does not block, and Buffered says that it does")
	}
}

type stepped struct{ parts []string }

func (s *stepped) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func TestReader_ResetForgetsTheStreamBefore(t *testing.T) {
	r := NewReader(strings.NewReader("event: x\ndata: half"), 0)
	_, _ = r.Next()
	r.Reset(strings.NewReader("\ufeffdata: b\n\n"))
	ev, err := r.Next()
	if err != nil || string(ev.Data) != "b" || len(ev.Name) != 0 || ev.Unended {
		t.Errorf("%+v, %v", ev, err)
	}
}

func TestWriter_IsReadBack(t *testing.T) {
	out := AppendData(nil, []byte("a\nb"))
	out = AppendNamed(out, "response.failed", []byte("{}"))
	out = AppendComment(out, "keep-alive")
	out = AppendError(out, `it "broke"`, "upstream_error", "upstream_interrupted")
	out = AppendDone(out)
	got, _, _ := all(t, bytes.NewReader(out), 0)
	want := []said{
		{data: "a\nb"},
		{data: "{}", name: "response.failed"},
		{comment: true},
		{data: `{"error":{"message":"it \"broke\"","type":"upstream_error","param":null,"code":"upstream_interrupted"}}`},
		{data: "[DONE]"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestIsDone_IgnoresSpace(t *testing.T) {
	for in, want := range map[string]bool{"[DONE]": true, " [DONE] ": true, "": false, "[done]": false, "[DONE]x": false} {
		if IsDone([]byte(in)) != want {
			t.Errorf("IsDone(%q) is not %v", in, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, c := range streams {
		f.Add([]byte(c.in), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		atOnce, raw, err := all(t, bytes.NewReader(in), 1<<20)
		if err != io.EOF { //nolint:errorlint // bare by contract
			t.Fatal(err)
		}
		if raw != string(in) {
			t.Fatalf("raw is %q", raw)
		}
		split, raw, err := all(t, &steps{in, int(step%7) + 1}, 1<<20)
		if err != io.EOF || raw != string(in) { //nolint:errorlint // bare by contract
			t.Fatalf("in steps: %v, raw %q", err, raw)
		}
		var data []string
		for _, e := range atOnce {
			if !e.comment {
				data = append(data, e.data)
			}
		}
		if want := reference(string(in)); !slices.Equal(data, want) {
			t.Fatalf("data %q, the specification says %q", data, want)
		}
		isComment := func(s said) bool { return s.comment }
		atOnce, split = slices.DeleteFunc(atOnce, isComment), slices.DeleteFunc(split, isComment)
		if !slices.Equal(unmarked(atOnce), unmarked(split)) {
			t.Fatalf("in steps it reads\n%+v, at once\n%+v", split, atOnce)
		}
	})
}

// reference reads a stream as the specification tells it, slowly, except that it
// keeps a last event that was not ended and events with empty data.
func reference(in string) (data []string) {
	in = strings.TrimPrefix(in, "\ufeff")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	var lines []string
	for _, line := range append(strings.Split(in, "\n"), "") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "" && len(lines) > 0:
			data = append(data, strings.Join(lines, "\n"))
			lines = nil
		case field == "data":
			lines = append(lines, strings.TrimPrefix(value, " "))
		}
	}
	return data
}

// unmarked: an LF that is late may belong to the next event, so that names and
// data are the same but the end's mark need not be.
func unmarked(events []said) []said {
	for i := range events {
		events[i].unended = false
	}
	return events
}

type steps struct {
	rest []byte
	n    int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest[:min(s.n, len(s.rest))])
	s.rest = s.rest[n:]
	return n, nil
}

func BenchmarkReader_PerEvent(b *testing.B) {
	one := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1735120033,\"model\":\"deepseek-v3\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token\"},\"finish_reason\":null}]}\n\n"
	for _, eol := range []string{"\n", "\r\n"} {
		b.Run(fmt.Sprintf("%q", eol), func(b *testing.B) {
			src := &endless{piece: []byte(strings.ReplaceAll(one, "\n", eol))}
			r := NewReader(src, 0)
			b.SetBytes(int64(len(src.piece)))
			b.ReportAllocs()
			for b.Loop() {
				ev, err := r.Next()
				if err != nil || ev.Comment {
					b.Fatal(err)
				}
				r.Buffered()
			}
		})
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
