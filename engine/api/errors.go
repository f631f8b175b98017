package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"baton/engine/control"
)

var errEOF = io.EOF

// kinds are the statuses and codes of errors.
var kinds = map[control.Kind]struct {
	status int
	code   string
}{
	control.Invalid:   {http.StatusUnprocessableEntity, "invalid"},
	control.NotFound:  {http.StatusNotFound, "not_found"},
	control.Stale:     {http.StatusConflict, "stale_revision"},
	control.Conflict:  {http.StatusConflict, "conflict"},
	control.Denied:    {http.StatusUnauthorized, "unauthorized"},
	control.Forbidden: {http.StatusForbidden, "forbidden"},
	control.Internal:  {http.StatusInternalServerError, "internal"},
}

// body is an error as OpenAI's API spells it.
type body struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func writeError(w http.ResponseWriter, err error) {
	var e *control.Error
	if !errors.As(err, &e) {
		e = &control.Error{Kind: control.Internal, Message: err.Error()}
	}
	k, ok := kinds[e.Kind]
	if !ok {
		k = kinds[control.Internal]
	}
	if k.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeStatus(w, k.status, e.Message, e.Field, k.code)
}

func writeStatus(w http.ResponseWriter, status int, message, field, code string) {
	var b body
	b.Error.Message, b.Error.Code, b.Error.Type = message, code, "invalid_request_error"
	if status >= http.StatusInternalServerError {
		b.Error.Type = "server_error"
	}
	if field != "" {
		b.Error.Param = &field
	}
	writeJSON(w, status, b)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}

// badBody says what is wrong with a body, and where.
func badBody(err error) error {
	e := &control.Error{Kind: control.Invalid, Message: "the body is no JSON object of this call: " + err.Error()}
	var typed *json.UnmarshalTypeError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &typed):
		e.Field = typed.Field
		e.Message = fmt.Sprintf("%s: a %s does not fit", typed.Field, typed.Value)
	case errors.As(err, &tooLarge):
		e.Message = fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		e.Field = strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		e.Message = fmt.Sprintf("there is no field %q in this call", e.Field)
	}
	return e
}

// fromBody makes the error of an answer.
func fromBody(status int, data []byte) error {
	var b body
	e := &control.Error{Kind: control.Internal}
	if json.Unmarshal(data, &b) != nil || b.Error.Message == "" {
		e.Message = fmt.Sprintf("the control API answered %d without saying why", status)
		return e
	}
	e.Message = b.Error.Message
	if b.Error.Param != nil {
		e.Field = *b.Error.Param
	}
	for kind, k := range kinds {
		if k.status == status && k.code == b.Error.Code {
			e.Kind = kind
		}
	}
	return e
}
