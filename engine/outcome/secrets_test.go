package outcome

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSecrets_AreHiddenWhereverTheyStand(t *testing.T) {
	const key, path, short = "kestrel-77-alpha-plover", "ab/cd+ef/gh12345", "hunter2"
	s := NewSecrets(key, path, short, "none", key[:14])
	for _, c := range []struct{ text, want string }{
		{"your key " + key + " is blocked", "your key *** is blocked"},
		{key + key, "******"},
		{`{"k":"ab\/cd+ef\/gh12345"}`, `{"k":"***"}`},
		{"(hunter2)", "(***)"},
		{"hunter2,hunter22 xhunter2 hunter2", "***,hunter22 xhunter2 ***"},
		{"none of it", "none of it"},
		{"kestrel-77-alp and more", "*** and more"},
		{"", ""},
	} {
		if got := s.Hide(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if got := string(s.HideBytes([]byte(c.text))); got != c.want {
			t.Errorf("%q as bytes: %q, want %q", c.text, got, c.want)
		}
	}
	for n := cutSecret; n < len(path); n++ {
		if got := s.HideCut("it is " + path[:n] + "…"); got != "it is ***…" {
			t.Errorf("a key cut after %d bytes: %q", n, got)
		}
	}
	if !s.Escaped([]byte(`{"k":"\u006b`+key[1:]+`"}`)) || s.Escaped([]byte(`{"k":"\u006bestrel"}`)) || s.Escaped([]byte(key)) {
		t.Error("a key with an escape in it is not told from what is none")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, s); strings.Contains(got, "kestrel") || got != hidden {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if (Secrets{}).Hide(key) != key || (Secrets{}).HideCut(key) != key {
		t.Error("no secrets hide something")
	}
	if n := testing.AllocsPerRun(10, func() { s.Hide("nothing of the kind stands in this sentence") }); n != 0 {
		t.Errorf("%v allocations where there is nothing to hide", n)
	}
}

func TestUnquote_TakesOutWhatTheRequestSays(t *testing.T) {
	const body = `{"model":"Qwen/Qwen3-32B-Instruct","max_completion_tokens":7,"messages":[{"role":"user","content":"My name is \"Ann\"\nand I live in \u4e0a\u6d77\u5e02\u9ec4\u6d66\u533a\uD83D\uDE00. 请问今天天气如何"}]}`
	except := []string{"Qwen/Qwen3-32B-Instruct", "max_completion_tokens"}
	for _, c := range []struct{ message, want string }{
		{"cannot parse and I live in the prompt", "cannot parse…the prompt"},
		{`bad: My name is "Ann" and I live in 上海市黄浦区😀.`, "bad: …"},
		{`bad: My name is \"Ann\"`, "bad: …"},
		{"内容违规：请问今天天气如何", "内容违规：…"},
		{"the model Qwen/Qwen3-32B-Instruct has no max_completion_tokens", "the model Qwen/Qwen3-32B-Instruct has no max_completion_tokens"},
		{"invalid: and I live", "invalid: and I live"}, // 10 bytes
		{"short", "short"},
		{"", ""},
	} {
		if got := Unquote(c.message, except, []byte(body)); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.message, got, c.want)
		}
	}
}

func TestUnquote_IsBounded(t *testing.T) {
	a := strings.Repeat("aaaaaaaab", 40)
	for name, text := range map[string]string{"all the same": strings.Repeat("a", 4<<20), "nearly": strings.Repeat("aaaaaaaac", 400_000), "escapes": strings.Repeat(`\u0061`, 600_000)} {
		begun := time.Now()
		Unquote(a, nil, []byte(text))
		if d := time.Since(begun); d > 3*time.Second {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func FuzzUnquote(f *testing.F) {
	f.Add("a message that says what was said", `{"x":"what was said"}`)
	f.Add("\\u00", `\u00\uD83D\u`)
	f.Fuzz(func(t *testing.T, message, text string) {
		got := Unquote(message, nil, []byte(text))
		if len(message) > maxUnquoted {
			return
		}
		for i := 0; i+quote <= len(got); i++ {
			if strings.Contains(text, got[i:i+quote]) && strings.Contains(message, got[i:i+quote]) {
				t.Fatalf("%q is left of %q, and stands in %q", got[i:i+quote], message, text)
			}
		}
	})
}
