package outcome

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// quote is the shortest run, in bytes, that makes a part of a message a quotation.
	quote = 12
	// maxUnquoted is the longest message that is looked at.
	maxUnquoted = 1 << 10
	// maxSteps bounds the comparing of what may be equal.
	maxSteps = 1 << 20
)

// Unquote takes out of a vendor's message what it repeats of the request: every run
// of 12 bytes or more that stands in one of the texts, which are JSON, as it stands
// there or as it means. What except names (a model, a parameter) may stay. The work
// grows with the texts' length, not with its product with the message's.
func Unquote(message string, except []string, texts ...[]byte) string {
	if len(message) > maxUnquoted {
		message = cut(message, maxUnquoted)
	}
	u := newUnquoter(message)
	if u == nil {
		return message
	}
	for _, text := range texts {
		u.search(text)
		if bytes.IndexByte(text, '\\') >= 0 {
			u.search(unescaped(text))
		}
	}
	if u.steps > maxSteps {
		return "…"
	}
	u.spare(except)
	return u.text()
}

// unquoter finds the runs of a message: each 12 bytes of it hang in a chain by a hash
// of their first 8, until they have been found.
type unquoter struct {
	message string
	heads   [1 << 10]uint16 // 1 + where the first of a chain begins
	next    []uint16
	mark    []bool
	steps   int
}

func newUnquoter(message string) *unquoter {
	if len(message) < quote {
		return nil
	}
	u := &unquoter{message: message, next: make([]uint16, len(message)), mark: make([]bool, len(message))}
	for i := 0; i+quote <= len(message); i++ {
		h := &u.heads[hashOf([]byte(message[i:i+8]))]
		u.next[i], *h = *h, uint16(i+1)
	}
	return u
}

func hashOf(b []byte) uint64 { return binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15 >> 54 }

// search marks what stands in text.
func (u *unquoter) search(text []byte) {
	for j := 0; j+quote <= len(text); j++ {
		h := hashOf(text[j:])
		if u.heads[h] != 0 {
			u.follow(&u.heads[h], text[j:j+quote])
		}
	}
}

// follow goes through a chain and takes out of it what is found.
func (u *unquoter) follow(at *uint16, run []byte) {
	for *at != 0 && u.steps <= maxSteps {
		u.steps++
		i := int(*at) - 1
		if u.message[i:i+quote] != string(run) {
			at = &u.next[i]
			continue
		}
		for k := i; k < i+quote; k++ {
			u.mark[k] = true
		}
		*at = u.next[i]
	}
}

// spare takes the marks off words that may stay.
func (u *unquoter) spare(words []string) {
	for _, w := range words {
		for from := 0; w != ""; {
			i := strings.Index(u.message[from:], w)
			if i < 0 {
				break
			}
			for k := from + i; k < from+i+len(w); k++ {
				u.mark[k] = false
			}
			from += i + len(w)
		}
	}
}

// text is the message without what is marked.
func (u *unquoter) text() string {
	var out strings.Builder
	for i := 0; i < len(u.message); {
		end := i
		for end < len(u.message) && u.mark[end] == u.mark[i] {
			end++
		}
		if u.mark[i] {
			out.WriteString("…")
		} else {
			out.WriteString(u.message[i:end])
		}
		i = end
	}
	return strings.ToValidUTF8(out.String(), "") // a run may begin or end inside a character
}

// unescaped is JSON with the escapes of its strings resolved, as if all of it were one.
func unescaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		c := text[i+1]
		text = text[i+2:]
		switch c {
		case 'n', 'r', 't', 'b', 'f':
			out = append(out, ' ') // as Scrub has it
		case 'u':
			r, n := escapedRune(text)
			if r < ' ' {
				r = ' '
			}
			out, text = utf8.AppendRune(out, r), text[n:]
		default:
			out = append(out, c)
		}
	}
	return out
}

// escapedRune reads what follows \u, a surrogate pair together, and its length.
func escapedRune(b []byte) (rune, int) {
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if low, ok := hex4(b[6:]); ok {
			return utf16.DecodeRune(r, low), 10
		}
	}
	return r, 4
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
