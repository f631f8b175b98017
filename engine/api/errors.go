package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"baton/engine/control"
)

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
	if m, ok := errors.AsType[*malformed](err); ok {
		writeStatus(w, m.status, m.message, "", m.code)
		return
	}
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
		writeStatus(w, http.StatusInternalServerError, "write the answer: "+err.Error(), "", "internal")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
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
			return e
		}
	}
	if status < http.StatusInternalServerError {
		e.Kind = control.Invalid // what the call itself refuses, not the engine
	}
	return e
}
