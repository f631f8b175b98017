package sse

import (
	"bytes"
	"encoding/json"
)

var doneMark = []byte("[DONE]")

// IsDone reports whether an event's data is the [DONE] that ends an OpenAI stream.
func IsDone(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), doneMark) }

// AppendData appends an event with the given data to dst; data with line feeds becomes several data: lines.
func AppendData(dst, data []byte) []byte {
	for {
		line, rest, more := bytes.Cut(data, []byte{'\n'})
		dst = append(append(append(dst, "data: "...), line...), '\n')
		if !more {
			return append(dst, '\n')
		}
		data = rest
	}
}

// AppendNamed is AppendData with an event: line in front, as the Responses API has them.
func AppendNamed(dst []byte, name string, data []byte) []byte {
	dst = append(append(append(dst, "event: "...), name...), '\n')
	return AppendData(dst, data)
}

// AppendDone appends the event that ends an OpenAI stream.
func AppendDone(dst []byte) []byte { return AppendData(dst, doneMark) }

// AppendComment appends a comment, which clients ignore: it keeps a connection alive.
func AppendComment(dst []byte, text string) []byte {
	return append(append(append(dst, ": "...), text...), "\n\n"...)
}

// AppendError appends an event that carries an error in OpenAI's shape. An empty
// type or code is written as null.
func AppendError(dst []byte, message, typ, code string) []byte {
	return AppendData(dst, ErrorBody(message, typ, code))
}

// ErrorBody is an error in OpenAI's shape: {"error":{"message","type","param","code"}}.
func ErrorBody(message, typ, code string) []byte {
	type body struct {
		Message string  `json:"message"`
		Type    *string `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// Strings always encode.
	_ = enc.Encode(map[string]body{"error": {Message: message, Type: orNull(typ), Code: orNull(code)}})
	return bytes.TrimRight(buf.Bytes(), "\n")
}
