package strict

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// locator finds the lines of keys, tables and array elements. It reads a text
// that the TOML library has accepted, so it checks nothing; on any other text
// it ends without sense but without panic.
//
// The library knows lines only of the first key of a name: those inside arrays
// of tables share one entry, and keys that were not decoded have none.
type locator struct {
	src    string
	pos    int
	breaks []int          // offsets of the newlines
	lines  map[string]int // by path
	tables map[string]int // elements so far of each array of tables
}

// locate returns the line, from 1, of every path of a TOML text.
func locate(src string) map[string]int {
	l := &locator{src: src, lines: map[string]int{}, tables: map[string]int{}}
	for i := range len(src) {
		if src[i] == '\n' {
			l.breaks = append(l.breaks, i)
		}
	}
	for _, bom := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if strings.HasPrefix(src, bom) {
			l.pos = len(bom)
		}
	}
	table := ""
	for {
		l.blank()
		switch {
		case l.pos >= len(src):
			return l.lines
		case l.peek() == '[':
			table = l.header()
		default:
			l.pair(table)
		}
	}
}

func (l *locator) peek() byte {
	if l.pos < len(l.src) {
		return l.src[l.pos]
	}
	return 0
}

func (l *locator) mark(path string, off int) {
	if _, ok := l.lines[path]; !ok {
		n, _ := slices.BinarySearch(l.breaks, off)
		l.lines[path] = n + 1
	}
}

// blank skips spaces, newlines and comments.
func (l *locator) blank() {
	for l.pos < len(l.src) {
		switch l.src[l.pos] {
		case ' ', '\t', '\r', '\n':
			l.pos++
		case '#':
			l.toNewline()
		default:
			return
		}
	}
}

func (l *locator) spaces() {
	for l.peek() == ' ' || l.peek() == '\t' {
		l.pos++
	}
}

func (l *locator) toNewline() {
	if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
		l.pos += i
	} else {
		l.pos = len(l.src)
	}
}

// header reads [table] or [[table]] and returns its path with the indices of
// the arrays of tables on the way.
func (l *locator) header() string {
	off, double := l.pos, strings.HasPrefix(l.src[l.pos:], "[[")
	l.pos++
	if double {
		l.pos++
	}
	path := ""
	keys := l.key()
	for i, k := range keys {
		path = Key(path, k)
		l.mark(path, off)
		n := l.tables[path]
		if double && i == len(keys)-1 {
			l.tables[path] = n + 1
			path = Element(path, n)
			l.mark(path, off)
		} else if n > 0 {
			path = Element(path, n-1)
		}
	}
	l.toNewline()
	return path
}

// pair reads key = value.
func (l *locator) pair(table string) {
	start := l.pos
	path := table
	for _, k := range l.key() {
		path = Key(path, k)
		l.mark(path, start)
	}
	if l.peek() == '=' {
		l.pos++
		l.blank()
		l.value(path)
	}
	if l.pos == start {
		l.pos++
	}
}

// key reads a dotted key and the spaces after it.
func (l *locator) key() []string {
	var parts []string
	for {
		l.spaces()
		parts = append(parts, l.part())
		l.spaces()
		if l.peek() != '.' {
			return parts
		}
		l.pos++
	}
}

func (l *locator) part() string {
	start := l.pos
	switch l.peek() {
	case '\'':
		l.text()
		return strings.Trim(l.src[start:l.pos], "'")
	case '"':
		l.text()
		return unescape(strings.TrimSuffix(l.src[start+1:l.pos], `"`))
	}
	for l.pos < len(l.src) && !strings.ContainsRune(" \t\r\n.=[]{},#\"'", rune(l.src[l.pos])) {
		l.pos++
	}
	return l.src[start:l.pos]
}

// value skips a value and marks what is inside it.
func (l *locator) value(path string) {
	switch l.peek() {
	case '"', '\'':
		l.text()
	case '[':
		l.pos++
		for i := 0; l.more(']'); i++ {
			element := Element(path, i)
			l.mark(element, l.pos)
			l.value(element)
		}
	case '{':
		l.pos++
		for l.more('}') {
			l.pair(path)
		}
	default:
		for l.pos < len(l.src) && !strings.ContainsRune(",]}#\r\n", rune(l.src[l.pos])) {
			l.pos++
		}
	}
}

// more skips to the next item of an array or inline table; at its end it steps
// over the closing bracket and says false.
func (l *locator) more(end byte) bool {
	for {
		l.blank()
		switch c := l.peek(); {
		case l.pos >= len(l.src):
			return false
		case c == end:
			l.pos++
			return false
		case c == ',' || c == ']' || c == '}' || c == '=':
			l.pos++
		default:
			return true
		}
	}
}

// text skips a string of any of the four kinds.
func (l *locator) text() {
	quote := l.src[l.pos : l.pos+1]
	if strings.HasPrefix(l.src[l.pos:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.pos += len(quote)
	for l.pos < len(l.src) {
		switch {
		case l.src[l.pos] == '\\' && quote[0] == '"':
			l.pos = min(l.pos+2, len(l.src))
		case strings.HasPrefix(l.src[l.pos:], quote):
			l.pos += len(quote)
			for len(quote) == 3 && l.peek() == quote[0] { // """a"""" ends in a quote of its own
				l.pos++
			}
			return
		default:
			l.pos++
		}
	}
}

// unescape resolves the escapes of a basic string in a key.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]; n > 0 && i+n < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32); err == nil {
				b.WriteRune(rune(min(r, utf8.MaxRune+1)))
			}
			i += n
			continue
		}
		if c := strings.IndexByte("btnfre", s[i]); c >= 0 {
			b.WriteByte("\b\t\n\f\r\x1b"[c])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
