package scan

// Edit replaces the bytes From to To (excluded) of a body by With. From = To inserts.
type Edit struct {
	From, To int
	With     []byte
}

// Replace is the edit that puts with in the place of the n bytes at offset at,
// which are a value's as [Object] gave them.
func Replace(at, n int, with []byte) Edit { return Edit{From: at, To: at + n, With: with} }

// Insert is the edit that gives the object in body, whose opening brace is the
// first byte from offset at on that is not white space, one more member, in front
// of the others. The caller has seen that the object has no such key: of two, the
// later one would count. value is JSON. ok is false if there is no object at at.
func Insert(body []byte, at int, key string, value []byte) (e Edit, ok bool) {
	if at < 0 || at > len(body) {
		return Edit{}, false
	}
	c := Cursor{b: body, i: at}
	if !c.Enter('{') {
		return Edit{}, false
	}
	open := c.i
	with := AppendString(make([]byte, 0, len(key)+len(value)+4), key)
	with = append(append(with, ':'), value...)
	if c.Peek() != '}' {
		with = append(with, ',')
	}
	return Edit{From: open, To: open, With: with}, true
}

// Push is the edit that gives the array body[at:at+n], which is a value as [Object]
// gave it, one more element at its end. ok is false if that is no array.
func Push(body []byte, at, n int, element []byte) (e Edit, ok bool) {
	if at < 0 || n < 2 || at+n > len(body) || body[at] != '[' || body[at+n-1] != ']' {
		return Edit{}, false
	}
	end := at + n - 1
	c := Cursor{b: body[:at+n], i: at + 1}
	with := make([]byte, 0, len(element)+1)
	if c.Peek() != ']' {
		with = append(with, ',')
	}
	return Edit{From: end, To: end, With: append(with, element...)}, true
}

// Splice appends body, with the edits made, to dst. Edits are in order and do not
// overlap; one that is out of order or out of range is left out. Bytes that no
// edit names are copied as they are.
func Splice(dst, body []byte, edits ...Edit) []byte {
	from := 0
	for _, e := range edits {
		if e.From < from || e.To < e.From || e.To > len(body) {
			continue
		}
		dst = append(append(dst, body[from:e.From]...), e.With...)
		from = e.To
	}
	return append(dst, body[from:]...)
}

// Segments is Splice without the copy: it appends to dst the pieces which, one
// after the other, are the edited body. They alias body and the edits. size is
// the sum of their lengths, for a Content-Length.
func Segments(dst [][]byte, body []byte, edits ...Edit) (pieces [][]byte, size int) {
	add := func(p []byte) {
		if len(p) > 0 {
			dst = append(dst, p)
			size += len(p)
		}
	}
	from := 0
	for _, e := range edits {
		if e.From < from || e.To < e.From || e.To > len(body) {
			continue
		}
		add(body[from:e.From])
		add(e.With)
		from = e.To
	}
	add(body[from:])
	return dst, size
}
