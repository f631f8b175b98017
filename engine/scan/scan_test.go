package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

var documents = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `01`, `1.`, `1.5e+3`, `1e`, `-`, `true`, `tru`, `null`, `nulll`, ` {"a" : [ 1 , 2 ] } `,
	`{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `{"a":1}{`, `{"a":1} x`,
	`"\u00e9"`, `"\u00g9"`, `"\x"`, "\"a\nb\"", `"`, `"\`, `"\u12`, `"\ud83d\ude00"`, "\"\xff\"", "\xef\xbb\xbf{}", ``, ` `,
	`{"a":{"b":[{"c":"d"}]},"e":"f"}`, `]`, `}`, `{"a":1]`, `[1}`, `"12345678\"90123456"`, `"1234567\u0041"`, "\"12345678\x01\"", "\"\x7f\x80\x81\xa2\xdc\"",
	`{"":""}`, `{"a":1,"a":2}`, `[[[[]]]]`, `{"a":[],"b":{}}`,
}

func TestValid_AgreesWithEncodingJSON(t *testing.T) {
	deep := strings.Repeat("[", 10001) + strings.Repeat("]", 10001)
	for _, doc := range append(documents, deep, deep[1:len(deep)-1]) {
		if got, want := Valid([]byte(doc)), json.Valid([]byte(doc)); got != want {
			t.Errorf("Valid(%.40q) = %v, encoding/json says %v", doc, got, want)
		}
	}
}

func TestObject_GivesMembersInOrderWithOffsets(t *testing.T) {
	body := []byte(" {\"model\" : \"/maas/a\\u002fb\",\n\"stream\":true, \"n\":-3,\"mod\\u0065l\":\"second\", \"x\":{\"model\":0}} ")
	var keys []string
	var model string
	err := Object(body, func(key, value []byte, at int) bool {
		keys = append(keys, string(key))
		if !bytes.Equal(body[at:at+len(value)], value) {
			t.Errorf("%s: body[%d:] is not the value", key, at)
		}
		if string(key) == "model" {
			model, _ = String(value)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"model", "stream", "n", "model", "x"}; !reflect.DeepEqual(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
	if model != "second" {
		t.Errorf("the last model is %q, want second, as with encoding/json", model)
	}
}

func TestObject_SaysWhereItIsWrong(t *testing.T) {
	for _, c := range []struct {
		body   string
		offset int
	}{
		{`[]`, 0}, {``, 0}, {`"a"`, 0}, {`{"a":1,}`, 7}, {`{"a":tru}`, 5}, {`{"a":1} x`, 8}, {`{"a":1`, 6}, {`{"a" 1}`, 5}, {"{\"a\":\"b\nc\"}", 7},
	} {
		err := Object([]byte(c.body), func(_, _ []byte, _ int) bool { return true })
		var at *SyntaxError
		if !errors.As(err, &at) || at.Offset != c.offset {
			t.Errorf("Object(%q): %v, want an error at byte %d", c.body, err, c.offset)
		}
	}
}

func TestObject_StopsWhenTheVisitorDoes(t *testing.T) {
	n := 0
	err := Object([]byte(`{"a":1,"b":2,broken`), func(_, _ []byte, _ int) bool { n++; return n < 2 })
	if err != nil || n != 2 {
		t.Errorf("visited %d, error %v; want 2 and none", n, err)
	}
}

func TestGet_FollowsKeysAndIndexes(t *testing.T) {
	doc := []byte(`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b","content":"c"}}],"e":[]}`)
	for _, c := range []struct {
		path string
		want string
	}{
		{"choices.0.delta.content", `"a"`},
		{"choices.1.delta.content", `"c"`},
		{"choices.2.delta", ""},
		{"choices.x", ""},
		{"choices.0.delta.content.x", ""},
		{"e", `[]`},
		{"e.0", ""},
		{"missing", ""},
	} {
		if got := string(Get(doc, strings.Split(c.path, ".")...)); got != c.want {
			t.Errorf("Get(%s) = %s, want %s", c.path, got, c.want)
		}
	}
}

func TestValues_AreDecodedStrictly(t *testing.T) {
	if s, err := String([]byte(`"\ud83d\ude00\n` + "\xff" + `"`)); err != nil || s != "😀\n\uFFFD" {
		t.Errorf("String = %q, %v", s, err)
	}
	for _, bad := range []string{`null`, `1`, `{}`, ``, `"`} {
		if _, err := String([]byte(bad)); err == nil {
			t.Errorf("String(%s) is no error", bad)
		}
	}
	if b, err := Bool([]byte(`true`)); err != nil || !b {
		t.Error("true is not true")
	}
	if _, err := Bool([]byte(`"true"`)); err == nil {
		t.Error(`Bool("true" in quotes) is no error`)
	}
	for in, want := range map[string]int64{"0": 0, "-12": -12, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63} {
		if n, err := Int([]byte(in)); err != nil || n != want {
			t.Errorf("Int(%s) = %d, %v", in, n, err)
		}
	}
	for _, bad := range []string{"1.0", "1e3", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "", "-", `"1"`} {
		if n, err := Int([]byte(bad)); err == nil {
			t.Errorf("Int(%s) = %d, want an error", bad, n)
		}
	}
}

func TestSplice_ChangesWhatItIsToldAndNothingElse(t *testing.T) {
	body := []byte("{ \"model\" : \"a\" ,\n \"big\":1e400, \"stream\":true }")
	var edits []Edit
	_ = Object(body, func(key, value []byte, at int) bool {
		if string(key) == "model" {
			edits = append(edits, Replace(at, len(value), AppendString(nil, `/maas/"x"`)))
		}
		return true
	})
	ins, ok := Insert(body, 0, "stream_options", []byte(`{"include_usage":true}`))
	if !ok {
		t.Fatal("Insert refused an object")
	}
	edits = append([]Edit{ins}, edits...)
	want := "{\"stream_options\":{\"include_usage\":true}, \"model\" : \"/maas/\\\"x\\\"\" ,\n \"big\":1e400, \"stream\":true }"
	if got := string(Splice(nil, body, edits...)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	pieces, size := Segments(nil, body, edits...)
	if got := string(bytes.Join(pieces, nil)); got != want || size != len(want) {
		t.Errorf("segments: %d bytes, %s", size, got)
	}
}

func TestInsert_IntoAnEmptyObjectLeavesNoComma(t *testing.T) {
	for in, want := range map[string]string{`{}`: `{"a":1}`, ` { } `: ` {"a":1 } `, `{"b":2}`: `{"a":1,"b":2}`} {
		e, ok := Insert([]byte(in), 0, "a", []byte("1"))
		if got := string(Splice(nil, []byte(in), e)); !ok || got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{`[]`, ``, `null`} {
		if _, ok := Insert([]byte(in), 0, "a", []byte("1")); ok {
			t.Errorf("Insert into %q went through", in)
		}
	}
}

func TestPush_AddsAtTheEndOfAnArray(t *testing.T) {
	for in, want := range map[string]string{`[]`: `[9]`, `[ ]`: `[ 9]`, `[1, 2 ]`: `[1, 2 ,9]`, `{}`: ``, `[`: ``, ``: ``} {
		body := []byte("x" + in + "y")
		e, ok := Push(body, 1, len(in), []byte("9"))
		if ok != (want != "") {
			t.Errorf("%s: ok %v", in, ok)
		}
		if got := string(Splice(nil, body, e)); ok && got != "x"+want+"y" {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestSplice_LeavesOutEditsThatDoNotFit(t *testing.T) {
	body := []byte("0123456789")
	got := string(Splice(nil, body, Edit{From: 2, To: 4, With: []byte("x")}, Edit{From: 3, To: 5, With: []byte("no")}, Edit{From: 8, To: 20, With: []byte("no")}, Edit{From: 6, To: 6, With: []byte("y")}))
	if got != "01x45y6789" {
		t.Errorf("got %s", got)
	}
}

func FuzzScan(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		valid := json.Valid(doc)
		if Valid(doc) != valid {
			t.Fatalf("Valid(%q) is not %v", doc, valid)
		}
		var want map[string]json.RawMessage
		isObject := json.Unmarshal(doc, &want) == nil && want != nil
		got := map[string]json.RawMessage{}
		err := Object(doc, func(key, value []byte, at int) bool {
			if !bytes.Equal(doc[at:at+len(value)], value) {
				t.Fatalf("the offset of %q is wrong", key)
			}
			got[strings.ToValidUTF8(string(key), "\uFFFD")] = value
			if len(value) > 0 && value[0] == '"' {
				var s string
				_ = json.Unmarshal(value, &s)
				if mine, serr := String(value); serr != nil || mine != s {
					t.Fatalf("String(%q) = %q, %v; want %q", value, mine, serr, s)
				}
			}
			return true
		})
		if (err == nil) != isObject {
			t.Fatalf("Object(%q): %v; an object: %v", doc, err, isObject)
		}
		if isObject {
			compare(t, got, want)
			if e, ok := Insert(doc, 0, "x\"y", []byte("[1]")); !ok || !json.Valid(Splice(nil, doc, e)) {
				t.Fatalf("inserting into %q broke it", doc)
			}
		}
		if !bytes.Equal(doc, before) {
			t.Fatal("the input was written to")
		}
	})
}

func compare(t *testing.T, got, want map[string]json.RawMessage) {
	t.Helper()
	for k, v := range want {
		if strings.ContainsRune(k, '\uFFFD') {
			return // bad UTF-8 in keys: several may fall together
		}
		if !bytes.Equal(bytes.TrimSpace(v), got[k]) {
			t.Fatalf("%q is %q, want %q", k, got[k], v)
		}
	}
}

func BenchmarkObject_ChatBody(b *testing.B) {
	body := []byte(`{"model":"deepseek-v3","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 170) + `"}],"temperature":0.2}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := Object(body, func(_, _ []byte, _ int) bool { n++; return true }); err != nil || n != 4 {
			b.Fatal(err, n)
		}
	}
}
