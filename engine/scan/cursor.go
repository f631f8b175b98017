package scan

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// maxDepth is how deep objects and arrays may nest; encoding/json has the same limit.
const maxDepth = 10000

// SyntaxError says where a document stops being JSON, or the object that was asked for.
type SyntaxError struct {
	Offset int    // bytes from the start of the input
	What   string // what was expected there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reading JSON at byte %d: %s", e.Offset, e.What)
}

// Cursor walks one JSON document forwards. Its zero value is useless; use [NewCursor].
// After the first fault every method does nothing, and Err says what it was.
//
// At a value call Skip, Enter, or one of the readers made of them. Inside an
// object call Key until it is false, and consume one value after each key;
// inside an array call More until it is false, likewise.
type Cursor struct {
	b     []byte
	i     int
	depth int
	fresh bool // just after an opening bracket, where no comma is due
	what  string
}

// NewCursor returns a cursor at the first value of b.
func NewCursor(b []byte) Cursor { return Cursor{b: b} }

// Err returns the fault that stopped the cursor, a *SyntaxError, or nil.
func (c *Cursor) Err() error {
	if c.what == "" {
		return nil
	}
	return &SyntaxError{Offset: c.i, What: c.what}
}

// OK reports that nothing was wrong so far.
func (c *Cursor) OK() bool { return c.what == "" }

// At is the offset of the next byte to be read.
func (c *Cursor) At() int { return c.i }

func (c *Cursor) fail(at int, what string) {
	if c.what == "" {
		c.i, c.what = at, what
	}
}

func (c *Cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return
		}
	}
}

// Peek returns the first byte of the next value, which tells its kind: one of
// { [ " t f n - or a digit. It is 0 at the end of the input and after a fault.
func (c *Cursor) Peek() byte {
	if c.what != "" {
		return 0
	}
	c.space()
	if c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

// Enter steps into the object ('{') or array ('[') that is next, and reports
// whether it was one. If not, the value is still there to be read or skipped.
func (c *Cursor) Enter(open byte) bool {
	if c.Peek() != open {
		return false
	}
	if c.depth++; c.depth > maxDepth {
		c.fail(c.i, "nested too deep")
		return false
	}
	c.i++
	c.fresh = true
	return true
}

// Key reads the next member's key and the colon; the value is next. It is false
// at the closing brace, which it consumes, and after a fault.
func (c *Cursor) Key() (key []byte, ok bool) {
	if !c.next('}') {
		return nil, false
	}
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		c.fail(c.i, "a key in quotes was expected")
		return nil, false
	}
	raw := c.str()
	if c.what != "" {
		return nil, false
	}
	c.space()
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		c.fail(c.i, "a colon was expected after a key")
		return nil, false
	}
	c.i++
	return unescaped(raw), true
}

// More reports whether there is another element; it is next then. It is false at
// the closing bracket, which it consumes, and after a fault.
func (c *Cursor) More() bool { return c.next(']') }

// next consumes what stands between members: nothing, a comma, or the end.
func (c *Cursor) next(end byte) bool {
	if c.what != "" {
		return false
	}
	c.space()
	if c.i >= len(c.b) {
		c.fail(c.i, "the document ends inside an object or array")
		return false
	}
	if c.b[c.i] == end {
		c.i++
		c.depth--
		c.fresh = false
		return false
	}
	if c.fresh {
		c.fresh = false
		return true
	}
	if c.b[c.i] != ',' {
		c.fail(c.i, "a comma or the end of an object or array was expected")
		return false
	}
	c.i++
	c.space()
	return true
}

// Skip consumes the next value, whatever it is, and returns its bytes; nil after a fault.
func (c *Cursor) Skip() []byte {
	first := c.Peek()
	if c.what != "" {
		return nil
	}
	start := c.i
	switch {
	case first == '"':
		c.str()
	case first == '{':
		c.Enter('{')
		for {
			if !c.member() {
				break
			}
			c.Skip()
		}
	case first == '[':
		c.Enter('[')
		for c.More() {
			c.Skip()
		}
	case first == 't':
		c.word("true")
	case first == 'f':
		c.word("false")
	case first == 'n':
		c.word("null")
	case first == '-' || first >= '0' && first <= '9':
		c.number()
	case first == 0 && c.i >= len(c.b):
		c.fail(c.i, "the document ends where a value was expected")
	default:
		c.fail(c.i, "no JSON value begins like this")
	}
	if c.what != "" {
		return nil
	}
	return c.b[start:c.i]
}

// member is Key for one who does not want the key.
func (c *Cursor) member() bool {
	if !c.next('}') {
		return false
	}
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		c.fail(c.i, "a key in quotes was expected")
		return false
	}
	c.str()
	if c.what != "" {
		return false
	}
	c.space()
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		c.fail(c.i, "a colon was expected after a key")
		return false
	}
	c.i++
	return true
}

// End reports that nothing but white space follows and that all was well.
func (c *Cursor) End() bool {
	if c.what != "" {
		return false
	}
	c.space()
	if c.i < len(c.b) {
		c.fail(c.i, "something follows the document")
		return false
	}
	return true
}

func (c *Cursor) word(w string) {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		c.fail(c.i, "a misspelt word")
		return
	}
	c.i += len(w)
}

func (c *Cursor) number() {
	i, b := c.i, c.b
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = digits(b, i)
	default:
		c.fail(i, "a digit was expected")
		return
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if end == i+1 {
			c.fail(end, "a digit was expected after the point")
			return
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := digits(b, i)
		if end == i {
			c.fail(end, "a digit was expected in the exponent")
			return
		}
		i = end
	}
	c.i = i
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

// str consumes the string at the cursor and returns it with its quotes.
func (c *Cursor) str() []byte {
	start := c.i
	i := c.i + 1
	for {
		i = plain(c.b, i)
		if i >= len(c.b) {
			c.fail(len(c.b), "the document ends inside a string")
			return nil
		}
		switch ch := c.b[i]; {
		case ch == '"':
			c.i = i + 1
			return c.b[start:c.i]
		case ch < 0x20:
			c.fail(i, "a control character inside a string")
			return nil
		}
		n := escape(c.b[i:])
		if n == 0 {
			c.fail(i, "an unknown escape inside a string")
			return nil
		}
		i += n
	}
}

// plain returns the offset of the first byte from i on that is a quote, a
// backslash or a control character. Eight bytes at a time, because bodies carry
// megabytes of base64.
func plain(b []byte, i int) int {
	const lo, hi = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		q, s := w^(lo*'"'), w^(lo*'\\')
		hit := ((w - lo*0x20) &^ w) | ((q - lo) &^ q) | ((s - lo) &^ s)
		if hit &= hi; hit != 0 {
			// A borrow can only raise false hits above a true one, so the lowest is true.
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if ch := b[i]; ch == '"' || ch == '\\' || ch < 0x20 {
			return i
		}
	}
	return i
}

// escape returns the length of the escape that b begins with, 0 if it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, ch := range b[2:6] {
			if !(ch >= '0' && ch <= '9' || ch >= 'a' && ch <= 'f' || ch >= 'A' && ch <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// unescaped returns a key without its quotes. Only a key with escapes is copied:
// "mod\u0065l" has to be known as model, or it would slip past the gateway.
func unescaped(raw []byte) []byte {
	for _, ch := range raw {
		if ch == '\\' {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				return []byte(s)
			}
			break
		}
	}
	return raw[1 : len(raw)-1]
}
