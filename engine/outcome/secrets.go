package outcome

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// shortSecret is the length under which a secret is not looked for: "none" and "EMPTY"
	// are no secrets, and stand in many a sentence.
	shortSecret = 6
	// wordSecret is the length under which one counts only as a word of its own.
	wordSecret = 12
	// cutSecret is how much of a secret makes a text's end its beginning.
	cutSecret = 8
)

const hidden = "***"

// Secrets are texts that must not be shown, such as a vendor's keys. They print as
// "***", and are never changed once made. The zero value has none.
type Secrets struct{ list *[]string } // behind a pointer so that no formatting reaches them

// NewSecrets makes a set; what is too short to be told from a word is left out.
func NewSecrets(texts ...string) Secrets {
	var list []string
	for _, s := range texts {
		if len(s) < shortSecret {
			continue
		}
		list = append(list, s)
		if strings.Contains(s, "/") { // as some write it in JSON
			list = append(list, strings.ReplaceAll(s, "/", `\/`))
		}
	}
	// The longest first: one may stand within another.
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return Secrets{&list}
}

// Format prints no secret, whatever the verb.
func (s Secrets) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText returns no secret.
func (s Secrets) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Hide replaces every secret in text. It does not allocate where there is none.
func (s Secrets) Hide(text string) string {
	if s.list == nil {
		return text
	}
	for _, x := range *s.list {
		text = hide(text, x)
	}
	return text
}

// HideCut is Hide for a text that may have been shortened: the beginning of a secret
// at its end is hidden, too.
func (s Secrets) HideCut(text string) string {
	text = s.Hide(text)
	if s.list == nil {
		return text
	}
	body, dots := strings.CutSuffix(text, "…")
	for _, x := range *s.list {
		for n := min(len(x)-1, len(body)); n >= cutSecret; n-- {
			if strings.HasSuffix(body, x[:n]) {
				body = body[:len(body)-n] + hidden
				break
			}
		}
	}
	if dots {
		body += "…"
	}
	return body
}

// HideBytes is Hide for a body; the body itself is not changed.
func (s Secrets) HideBytes(body []byte) []byte {
	if s.list == nil {
		return body
	}
	for _, x := range *s.list {
		if bytes.Contains(body, []byte(x)) {
			body = []byte(hide(string(body), x))
		}
	}
	return body
}

// Escaped says whether a body of JSON holds a secret in which some characters are
// escaped, which HideBytes does not find.
func (s Secrets) Escaped(body []byte) bool {
	if s.list == nil || bytes.IndexByte(body, '\\') < 0 {
		return false
	}
	plain := string(unescaped(body))
	return s.Hide(plain) != plain
}

// hide replaces one secret.
func hide(text, secret string) string {
	if len(text) < len(secret) || !strings.Contains(text, secret) {
		return text
	}
	if len(secret) >= wordSecret {
		return strings.ReplaceAll(text, secret, hidden)
	}
	var out strings.Builder
	for last := byte(' '); ; {
		i := strings.Index(text, secret)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		if i > 0 {
			last = text[i-1]
		}
		end := i + len(secret)
		out.WriteString(text[:i])
		if isWord(last) || end < len(text) && isWord(text[end]) {
			out.WriteString(secret)
		} else {
			out.WriteString(hidden)
		}
		last, text = secret[len(secret)-1], text[end:]
	}
}
