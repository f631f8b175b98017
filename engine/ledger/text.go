package ledger

import "bytes"

// Text counts the letters of JSON strings, to estimate tokens where a vendor did
// not say. Letters beyond Latin, Greek and Cyrillic count as ideographs.
//
// The weights are those that DeepSeek publishes for its tokenizer, 0.3 tokens to
// an English letter and 0.6 to a Chinese one (api-docs.deepseek.com, "Token &
// Token Usage"). An estimate may well be a third off; it is marked wherever it is
// shown, and held against what vendors report.
type Text struct{ Narrow, Wide int }

// textMax is how much of one value is looked at; the rest counts like it.
const textMax = 1 << 20

var dataURL = []byte("data:")

// JSON counts the letters of all strings in a JSON value: no keys, and no pictures
// that are given as data. It does not allocate.
func (t *Text) JSON(b []byte) {
	if len(b) <= textMax {
		t.strings(b)
		return
	}
	part := Text{}
	part.strings(b[:textMax])
	scale := float64(len(b)) / textMax
	t.Narrow += int(float64(part.Narrow) * scale)
	t.Wide += int(float64(part.Wide) * scale)
}

func (t *Text) strings(b []byte) {
	for {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return
		}
		b = b[i+1:]
		end := closing(b)
		inside := b[:end]
		b = b[min(end+1, len(b)):]
		if !isKey(b) && !bytes.HasPrefix(inside, dataURL) {
			t.Inside(inside)
		}
	}
}

// closing is where the string ends whose inside begins at b.
func closing(b []byte) int {
	for i := 0; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		escapes := 0
		for escapes < i && b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// isKey says whether what follows a string makes it a member's name.
func isKey(after []byte) bool {
	for _, c := range after {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return c == ':'
	}
	return false
}

// Inside counts the letters of the inside of a JSON string. It does not allocate.
func (t *Text) Inside(b []byte) {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0xe0: // the first byte of three or four
			t.Wide++
		case c >= 0xc0:
			t.Narrow++
		case c >= 0x80: // a further byte
		case c == '\\' && i+5 < len(b) && b[i+1] == 'u':
			t.escaped(b[i+2 : i+6])
			i += 5
		case c == '\\':
			t.Narrow++
			i++
		default:
			t.Narrow++
		}
	}
}

// escaped counts the letter of a \u escape by its four hex digits. The second half of a pair is no letter.
func (t *Text) escaped(hex []byte) {
	switch {
	case hex[0]|0x20 == 'd' && hex[1]|0x20 >= 'c':
	case hex[0] == '0' && hex[1] < '8':
		t.Narrow++
	default:
		t.Wide++
	}
}

// Tokens is about how many tokens the text is.
func (t Text) Tokens() int { return (3*t.Narrow + 6*t.Wide + 9) / 10 }
