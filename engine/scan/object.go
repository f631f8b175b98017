package scan

// Valid reports whether b is one JSON document, as encoding/json's Valid does.
func Valid(b []byte) bool {
	c := NewCursor(b)
	c.Skip()
	return c.End()
}

// Object visits the top-level members of the object body, in order: the key,
// decoded and without quotes, and the value's bytes as they stand, body[at:at+len(value)].
// A visitor that returns false ends the visit, and what follows is then not
// checked. The error, a *SyntaxError, says that body is no object or no JSON.
//
// A member that occurs twice is visited twice; the last one counts.
func Object(body []byte, visit func(key, value []byte, at int) bool) error {
	c := NewCursor(body)
	if !c.Enter('{') {
		c.fail(c.i, "an object was expected")
		return c.Err()
	}
	for {
		key, ok := c.Key()
		if !ok {
			break
		}
		c.space()
		at := c.i
		value := c.Skip()
		if value == nil {
			break
		}
		if !visit(key, value, at) {
			return nil
		}
	}
	c.End()
	return c.Err()
}

// Get returns the bytes of the value at path, a key or, in an array, a decimal
// index for each step: Get(b, "choices", "0", "delta", "content"). It is nil if
// there is none or if b is broken on the way. It does not allocate.
func Get(b []byte, path ...string) []byte {
	for _, step := range path {
		if b = child(b, step); b == nil {
			return nil
		}
	}
	return b
}

func child(b []byte, step string) []byte {
	c := NewCursor(b)
	var found []byte
	if c.Enter('{') {
		for key, ok := c.Key(); ok; key, ok = c.Key() {
			hit := string(key) == step
			if v := c.Skip(); hit {
				found = v
			}
		}
	} else if c.Enter('[') {
		want, n := index(step), 0
		for c.More() {
			v := c.Skip()
			if n == want {
				return v
			}
			n++
		}
	}
	if !c.OK() {
		return nil
	}
	return found
}

func index(step string) int {
	n := 0
	for i := range len(step) {
		if step[i] < '0' || step[i] > '9' || n > 1<<30 {
			return -1
		}
		n = n*10 + int(step[i]-'0')
	}
	if step == "" {
		return -1
	}
	return n
}
