package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"baton/engine/control"
)

const (
	keyOne, keyTwo = "kestrel-77-alpha-plover", "heron-31-omega-bittern"
	ownKey         = "avocet-12-delta-godwit"
	prompt         = "my sister Ann has the passcode forty-two and lives in 上海市黄浦区"
)

// tells is a vendor that says keys and the prompt wherever it says anything.
func tells(status int, gzipped bool) http.HandlerFunc {
	said := fmt.Sprintf("cannot use %s or %s or %s for: %s", keyOne, keyTwo, ownKey, prompt)
	text, _ := json.Marshal(said)
	body := fmt.Appendf(nil, `{"error":{"message":%s,"type":"t","param":null,"code":%q},"authorization":"Bearer %s"}`, text, keyOne, keyTwo)
	return func(w http.ResponseWriter, _ *http.Request) {
		out := body
		if gzipped {
			var z bytes.Buffer
			g := gzip.NewWriter(&z)
			_, _ = g.Write(body)
			_ = g.Close()
			out = z.Bytes()
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Debug", "key="+keyOne)
		w.Header().Set("Request-Id", "r-"+keyTwo)
		w.WriteHeader(status)
		_, _ = w.Write(out)
	}
}

func TestHide_NoKeyAndNoPromptLeavesWithAFailure(t *testing.T) {
	t.Parallel()
	inBand := func(after int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Debug", keyOne)
			s := say{w}
			s.begin()
			s.words("lanyun", 1, after)
			s.raw(fmt.Sprintf("data: {\"error\":{\"message\":\"%s: %s\",\"code\":\"%s\"}}\n\n", keyOne, prompt, keyTwo))
		}
	}
	escaped := func(w http.ResponseWriter, r *http.Request) {
		refuses(400, `{"error":{"message":"your key \u006b`+keyOne[1:]+` is odd","code":"c"}}`)(w, r)
	}
	for name, does := range map[string]http.HandlerFunc{
		"400": tells(400, false), "400, compressed": tells(400, true), "500": tells(500, false), "401": tells(401, false), "404": tells(404, false),
		"400, escaped": escaped, "plain text": refuses(400, "no: "+keyOne+", "+prompt), "an event before the commit point": inBand(0), "an event after it": inBand(3),
		"a 200": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Debug", keyOne); well("lanyun")(w, r) },
	} {
		for _, path := range []string{chatPath, "/v1/other"} {
			t.Run(name+" "+path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, map[string]string{"LANYUN": fmt.Sprintf("api_keys = [%q, %q]", keyOne, keyTwo)})
				w.a.does(does)
				ascii := strings.NewReplacer("上海市黄浦区", `\u4e0a\u6d77\u5e02\u9ec4\u6d66\u533a`).Replace(prompt)
				for _, content := range []string{prompt, ascii} {
					body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":"%s"}]}`, content)
					x := w.do(http.MethodPost, path, body, "Authorization", "Bearer "+ownKey)
					var seen strings.Builder
					_ = x.header.Write(&seen)
					seen.WriteString(x.body)
					if path == chatPath || x.status >= 400 { // a good body of another kind passes as it is
						w.holdsNone(seen.String(), "the answer", keyOne, keyTwo, keyOne[1:])
					}
					if strings.Contains(x.header.Get("X-Debug"), keyOne) {
						t.Error("a header holds a key")
					}
				}
				list, _ := json.Marshal(w.g.Failures("", 0))
				w.holdsNone(string(list), "the record", keyOne, keyTwo, keyOne[1:], ownKey, "passcode forty", "上海市黄浦区")
				for _, ev := range w.diary.list {
					w.holdsNone(fmt.Sprint(ev), "the journal", keyOne, keyTwo, ownKey, "passcode forty")
				}
			})
		}
	}
}

func (w *world) holdsNone(text, where string, secrets ...string) {
	w.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			w.Errorf("%s holds %q:\n%s", where, s, text)
		}
	}
}

func TestHide_AMessageThatRepeatsNothingStays(t *testing.T) {
	t.Parallel()
	const said = "The parameter max_completion_tokens of Qwen/Qwen3-32B-Instruct is out of range"
	w := newWorld(t, nil)
	w.a.does(refuses(400, `{"error":{"message":"`+said+`","type":"t","param":null,"code":"c"}}`))
	x := w.chat(`{"model":"Qwen/Qwen3-32B-Instruct","max_completion_tokens":-1,"messages":[]}`)
	if list := w.g.Failures("", 0); len(list) != 1 || list[0].Message != said || !strings.Contains(x.body, said) {
		t.Errorf("failures %+v; the client got %s", list, x.body)
	}
}

func TestHide_AnErrorThatCannotBeReadIsSaidToBeSo(t *testing.T) {
	t.Parallel()
	for name, head := range map[string][]string{"br": {"Content-Encoding", "br"}, "gzip that is none": {"Content-Encoding", "gzip"}} {
		for _, path := range []string{chatPath, "/v1/files"} {
			t.Run(name+" "+path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.a.does(refuses(400, "\x0b\x02\x80something", head...))
				r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(askWhole))
				r.Header.Set("Accept-Encoding", "br;q=1.0, gzip;q=0.8")
				res, err := w.client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = res.Body.Close() }()
				body, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != 400 || res.Header.Get("Content-Encoding") != "" || !json.Valid(body) || !strings.Contains(string(body), "Content-Encoding") {
					t.Errorf("status %d, Content-Encoding %q, %v: %q", res.StatusCode, res.Header.Get("Content-Encoding"), err, body)
				}
				if enc := w.a.lastHead().Get("Accept-Encoding"); strings.Contains(enc, "br") {
					t.Errorf("the vendor was offered %q", enc)
				}
			})
		}
	}
}

func TestKeys_ARevokedOneIsToldOnceAndCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"LANYUN": `api_keys = ["key-number-00001", "key-number-00002", "key-number-00003"]`})
	live := func() int {
		var s control.Snapshot
		w.engine.Fill(&s)
		return s.Vendors[0].Limit.Keys
	}
	if live() != 3 {
		t.Errorf("%d keys at first", live())
	}
	w.a.does(byKey(map[string]http.HandlerFunc{"Bearer key-number-00002": refuses(401, openAIError("invalid_api_key"))}, well("lanyun")))
	for range 6 {
		w.wants(w.chat(askWhole), "lanyun")
	}
	events := w.diary.of("account", "lanyun")
	if len(events) != 1 || events[0].Level != control.Warn || !strings.Contains(events[0].Text, "…0002") || strings.Contains(fmt.Sprint(events), "key-number") {
		t.Errorf("the journal has %+v, want one warning that names the key's end", events)
	}
	if live() != 2 {
		t.Errorf("%d keys, want the 2 live ones", live())
	}
	w.g.state.Load().set.Vendor("lanyun").Keys.Reset()
	w.g.countKeys(w.g.state.Load())
	if live() != 3 {
		t.Errorf("%d keys after a reset", live())
	}
}
