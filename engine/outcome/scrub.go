package outcome

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage is the longest message that is kept, in bytes.
const maxMessage = 300

// maxQuoted is the longest quotation that is taken for a name. What is longer may
// be a piece of a prompt: vendors echo what they did not like.
const maxQuoted = 64

// Scrub makes a vendor's message fit to be logged and shown: keys, bearer tokens
// and URLs' query strings go, long quotations go, control characters become spaces,
// and at most 300 bytes stay.
func Scrub(message string) string {
	if len(message) > 16*maxMessage {
		message = message[:16*maxMessage]
	}
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, message)
	s = quotations(s)
	s = secrets(s)
	return cut(s, maxMessage)
}

// quotations replaces what stands between quotes or brackets of JSON and is long.
func quotations(s string) string {
	const quotes = "\"'`“「{["
	var out strings.Builder
	for {
		i := strings.IndexAny(s, quotes)
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		out.WriteString(s[:i])
		n := quoted(s[i+size:], r)
		// An apostrophe inside a word opens nothing: "model's".
		if r == '\'' && i > 0 && isWord(s[i-1]) || n < 0 {
			out.WriteString(s[i : i+size])
			s = s[i+size:]
			continue
		}
		inner := s[i+size : i+size+n]
		if len(inner) > maxQuoted {
			inner = "…"
		}
		out.WriteString(s[i : i+size])
		out.WriteString(inner)
		s = s[i+size+n:]
		_, size = utf8.DecodeRuneInString(s)
		out.WriteString(s[:size])
		s = s[size:]
	}
}

// quoted returns the length of what opens with r, up to what closes it; all of s if
// it is long and nothing does, -1 if it is short then.
func quoted(s string, r rune) int {
	closing := r
	switch r {
	case '“':
		closing = '”'
	case '「':
		closing = '」'
	case '{':
		closing = '}'
	case '[':
		closing = ']'
	}
	var n int
	if r == '{' || r == '[' {
		n = strings.LastIndexByte(s, byte(closing)) // they nest
	} else {
		n = strings.IndexRune(s, closing)
	}
	if n < 0 && len(s) > maxQuoted && r != '\'' {
		return len(s)
	}
	return n
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// secrets goes through the words and replaces those that look like a key.
func secrets(s string) string {
	var out strings.Builder
	bearer, query := false, false
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return !keyRune(r) })
		if n < 0 {
			n = len(s)
		}
		w := s[:n]
		switch {
		case looksSecret(w), bearer && len(w) >= 6, query && n > 0:
			out.WriteString("***")
		default:
			out.WriteString(w)
		}
		if n > 0 {
			bearer = strings.EqualFold(w, "bearer")
		}
		if n < len(s) {
			_, size := utf8.DecodeRuneInString(s[n:])
			query = s[n] == '?' && strings.HasPrefix(w, "//") || query && s[n] != ' '
			out.WriteString(s[n : n+size])
			n += size
		}
		s = s[n:]
	}
	return out.String()
}

func keyRune(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == '*' || r == '/' || r == '+' || r == '=' ||
		r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

var keyPrefixes = []string{"sk-", "sk_", "gsk_", "ak-", "ark-", "pk-", "key-", "eyJ", "LTAI", "hf_", "xai-", "nvapi-", "AIza", "rk-", "tok-"}

// looksSecret recognises keys by their prefix, and by being long and a mix of
// letters and digits; request ids, which are hexadecimal with dashes, are left.
func looksSecret(w string) bool {
	w = strings.Trim(w, "./=")
	for _, p := range keyPrefixes {
		if strings.HasPrefix(w, p) && len(w) >= len(p)+4 {
			return true
		}
	}
	if len(w) < 32 || strings.ContainsAny(w, "/") {
		return false
	}
	upper, lower, digit, dashes, hex := 0, 0, 0, 0, true
	for _, r := range w {
		switch {
		case r >= '0' && r <= '9':
			digit++
		case r >= 'a' && r <= 'z':
			lower++
			hex = hex && r <= 'f'
		case r >= 'A' && r <= 'Z':
			upper++
			hex = hex && r <= 'F'
		case r == '-':
			dashes++
		}
	}
	if hex && dashes == 4 {
		return false // a UUID
	}
	return digit >= 3 && (upper >= 3 || hex || digit >= 8) && lower+upper > 0
}

// cut shortens s to at most n bytes, at a character, and says so.
func cut(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	s = s[:n-len("…")]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if r, size := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && size == 1 {
		s = s[:len(s)-1]
	}
	return s + "…"
}
