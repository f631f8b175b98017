package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// String decodes a value that is a JSON string, escapes and bad UTF-8 as
// encoding/json does. Anything else, null too, is an error.
func String(value []byte) (string, error) {
	if len(value) < 2 || value[0] != '"' {
		return "", fmt.Errorf("a string was expected, not %s", kind(value))
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), nil
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return "", fmt.Errorf("decoding a string: %w", err)
	}
	return s, nil
}

// Bool decodes a value that is true or false.
func Bool(value []byte) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("true or false was expected, not %s", kind(value))
}

// Int decodes a value that is a whole number without point or exponent and fits in 64 bits.
func Int(value []byte) (int64, error) {
	digits, neg := value, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, neg = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, fmt.Errorf("a whole number was expected, not %s", kind(value))
	}
	var n uint64
	for _, ch := range digits {
		if ch < '0' || ch > '9' {
			return 0, fmt.Errorf("a whole number was expected, not %s", kind(value))
		}
		n = n*10 + uint64(ch-'0')
	}
	if neg && n <= 1<<63 {
		return -int64(n), nil
	}
	if n > 1<<63-1 {
		return 0, fmt.Errorf("a whole number of at most 64 bits was expected, not %.24s", value)
	}
	return int64(n), nil
}

// IsNull reports whether a value is null.
func IsNull(value []byte) bool { return string(value) == "null" }

// kind names a value for an error. The value itself may be somebody's prompt.
func kind(value []byte) string {
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

const hexDigits = "0123456789abcdef"

// AppendString appends s to dst as a JSON string, with no more escapes than JSON
// demands; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
