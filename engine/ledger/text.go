package ledger

import "bytes"

// Text counts the letters of JSON strings, to estimate tokens where a vendor did
// not say. Letters beyond Latin, Greek and Cyrillic count as ideographs.
//
// The weights are those that DeepSeek publishes for its tokenizer, 0.3 tokens to
// an English letter and 0.6 to a Chinese one (api-docs.deepseek.com, "Token &
// Token Usage"). An estimate is good to about a fifth; it is marked wherever it
// is shown, and held against what vendors report.
type Text struct{ Narrow, Wide int }

// textMax is how much of one text is looked at; the rest counts like it.
const textMax = 1 << 20

var dataURL = []byte(`"data:`)

// Add counts the letters of JSON or of the inside of a JSON string. Pictures
// given as data are left out. It does not allocate.
func (t *Text) Add(b []byte) {
	if len(b) > textMax {
		part := Text{}
		part.add(b[:textMax])
		scale := float64(len(b)) / textMax
		t.Narrow += int(float64(part.Narrow) * scale)
		t.Wide += int(float64(part.Wide) * scale)
		return
	}
	t.add(b)
}

func (t *Text) add(b []byte) {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0xe0: // the first byte of three or four
			t.Wide++
		case c >= 0xc0:
			t.Narrow++
		case c >= 0x80: // a further byte
		case c == '\\' && i+1 < len(b):
			i++
			if b[i] == 'u' && i+4 < len(b) {
				t.escaped(b[i+1 : i+5])
				i += 4
				continue
			}
			t.Narrow++
		case c == '"' && bytes.HasPrefix(b[i:], dataURL):
			end := bytes.IndexByte(b[i+1:], '"')
			if end < 0 {
				return
			}
			i += 1 + end
		default:
			t.Narrow++
		}
	}
}

// escaped counts the letter of \uXXXX. The second half of a pair is no letter.
func (t *Text) escaped(hex []byte) {
	switch c := hex[0] | 0x20; {
	case c == 'd' && hex[1]|0x20 >= 'c':
	case hex[0] == '0' && hex[1] < '8':
		t.Narrow++
	default:
		t.Wide++
	}
}

// Tokens is about how many tokens the text is.
func (t Text) Tokens() int { return (3*t.Narrow + 6*t.Wide + 9) / 10 }
