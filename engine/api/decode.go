package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"baton/engine/control"
)

// maxBody bounds a command; real ones take a few hundred bytes.
const maxBody = 1 << 20

// malformed is a body that is no command at all: the fault lies in its form,
// not in a value.
type malformed struct {
	status  int
	code    string
	message string
}

func (m *malformed) Error() string { return m.message }

func invalidBody(format string, args ...any) error {
	return &malformed{http.StatusBadRequest, "invalid_json", fmt.Sprintf(format, args...)}
}

// decode reads the fields of a command strictly; no body is a command without
// fields.
func decode(w http.ResponseWriter, r *http.Request, cmd control.Command) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &malformed{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", large.Limit)}
	case err != nil:
		return invalidBody("the body could not be read: %v", err)
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	fields, err := members(data)
	if err != nil {
		return err
	}
	if err := strict(data, cmd); err != nil {
		return wrongField(data, cmd, fields, err)
	}
	for _, name := range []string{"for", "rate"} {
		if isZero(fields[name]) {
			return &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("%s: 0 has to be more than 0; leave it out for the default", name)}
		}
	}
	if name := wanted(cmd); name != "" && fields[name] == nil {
		return &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("the field %q is missing", name)}
	}
	return nil
}

// isZero says whether a field stands there and is nought: absent means the
// default, and zero must not.
func isZero(value json.RawMessage) bool {
	var d control.Duration
	var n float64
	return value != nil && string(value) != "null" && (json.Unmarshal(value, &d) == nil && d == 0 || json.Unmarshal(value, &n) == nil && n == 0)
}

// members are the fields of a JSON object as they stand.
func members(data []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&fields); err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, invalidBody("the body has to be a JSON object, not a JSON %s", typed.Value)
		}
		return nil, invalidBody("the body is broken JSON: %v", err)
	}
	if fields == nil {
		return nil, invalidBody("the body has to be a JSON object, not null")
	}
	if rest, _ := io.ReadAll(d.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return nil, invalidBody("the body goes on after its JSON object: %.20q", rest)
	}
	return fields, nil
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// wanted is the field without which a command says nothing, "" for most.
func wanted(cmd control.Command) string {
	switch cmd.(type) {
	case *control.SetWeights:
		return "weights"
	case *control.SetFault:
		return "kind"
	case *control.SetLimit:
		return "rps"
	case *control.StartDrill:
		return "scenario"
	case *control.SetFailover:
		return "mode"
	}
	return ""
}

// wrongField says which field does not fit and why. The decoder names it only
// for some errors, so the one that fails alone is looked for.
func wrongField(data []byte, cmd control.Command, fields map[string]json.RawMessage, err error) error {
	const unknown = "json: unknown field "
	if s, ok := strings.CutPrefix(err.Error(), unknown); ok {
		name := strings.Trim(s, `"`)
		return &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("there is no field %q in this call", name)}
	}
	for name, value := range fields {
		one, marshalErr := json.Marshal(map[string]json.RawMessage{name: value})
		if marshalErr != nil {
			continue
		}
		if err := strict(one, reflect.New(reflect.TypeOf(cmd).Elem()).Interface()); err != nil {
			return &control.Error{Kind: control.Invalid, Field: name, Message: name + ": " + unfit(err)}
		}
	}
	return &control.Error{Kind: control.Invalid, Message: fmt.Sprintf("the body does not fit this call: %v in %.80q", err, data)}
}

// unfit says why a value does not fit, in the words of JSON.
func unfit(err error) string {
	var typed *json.UnmarshalTypeError
	if !errors.As(err, &typed) {
		return strings.TrimPrefix(err.Error(), "time: ")
	}
	want := ""
	switch typed.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Float64:
		want = "a number"
	case reflect.Int:
		want = "a whole number"
	case reflect.Int64:
		want = "a whole number"
		if typed.Type == reflect.TypeFor[control.Duration]() {
			want = `a duration such as "15m"`
		}
	case reflect.Map, reflect.Struct:
		want = "an object"
	default:
		want = typed.Type.String()
	}
	return fmt.Sprintf("%s does not fit, it has to be %s", typed.Value, want)
}
