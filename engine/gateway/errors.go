package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"baton/engine/sse"
)

// Codes of what baton itself refuses or ends, beside the vendors' own.
const (
	codeAdmission   = "baton_admission"
	codeNoVendor    = "baton_no_vendor"
	codeDeadline    = "baton_deadline"
	codeFailed      = "upstream_failed"
	codeInterrupted = "upstream_interrupted"
)

// clientError is an answer that is an error of ours, in OpenAI's shape.
type clientError struct {
	status           int
	message          string
	typ, code        string
	retryAfter       time.Duration // 0: no header
	closeAfterwards  bool
	allow            string
	authenticateWith string
}

func badRequest(format string, args ...any) clientError {
	return clientError{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...), typ: "invalid_request_error"}
}

func notFound(path string) clientError {
	return clientError{
		status: http.StatusNotFound, typ: "invalid_request_error", code: "not_found",
		message: fmt.Sprintf("there is nothing at %.200q; the API is under /v1/", path),
	}
}

func wrongMethod(method, path string) clientError {
	return clientError{
		status: http.StatusMethodNotAllowed, typ: "invalid_request_error", code: "method_not_allowed",
		message: fmt.Sprintf("%.20q is not a method of %.200q", method, path),
	}
}

func unauthorized(present bool) clientError {
	e := clientError{
		status: http.StatusUnauthorized, typ: "invalid_request_error", code: "invalid_api_key",
		message: "no API key was sent; send it as Authorization: Bearer KEY", authenticateWith: `Bearer realm="baton"`,
	}
	if present {
		e.message = "the API key is not one of this gateway's clients"
	}
	return e
}

func unknownModel(name string) clientError {
	return clientError{
		status: http.StatusNotFound, typ: "invalid_request_error", code: "model_not_found",
		message: fmt.Sprintf("the model %.200q is not configured here", name),
	}
}

func tooLarge(limit int64) clientError {
	return clientError{
		status: http.StatusRequestEntityTooLarge, typ: "invalid_request_error", code: "request_too_large",
		message: fmt.Sprintf("the request's body is larger than %d bytes", limit), closeAfterwards: true,
	}
}

func full(limit int) clientError {
	return clientError{
		status: http.StatusServiceUnavailable, typ: "server_error", code: codeAdmission, retryAfter: time.Second,
		message: fmt.Sprintf("the gateway has %d requests in flight, which is its limit", limit),
	}
}

func stopping() clientError {
	return clientError{
		status: http.StatusServiceUnavailable, typ: "server_error", code: codeAdmission, retryAfter: time.Second,
		message: "the gateway is shutting down", closeAfterwards: true,
	}
}

func noVendor() clientError {
	return clientError{
		status: http.StatusServiceUnavailable, typ: "server_error", code: codeNoVendor, retryAfter: 5 * time.Second,
		message: "no vendor may take traffic now",
	}
}

func limited(wait time.Duration) clientError {
	return clientError{
		status: http.StatusTooManyRequests, typ: "requests", code: codeAdmission, retryAfter: max(wait, time.Second),
		message: "every vendor that may take traffic is at its rate limit",
	}
}

// overloaded is for a request that found no place in its time.
func overloaded(wait time.Duration) clientError {
	return clientError{
		status: http.StatusTooManyRequests, typ: "requests", code: codeAdmission, retryAfter: max(wait, time.Second),
		message: "every vendor has as much work in flight as it can do",
	}
}

func deadlinePassed(d time.Duration) clientError {
	return clientError{
		status: http.StatusGatewayTimeout, typ: "server_error", code: codeDeadline,
		message: fmt.Sprintf("no answer within the request's deadline of %s", d),
	}
}

// body is the error in OpenAI's shape.
func (e *clientError) body() []byte { return append(sse.ErrorBody(e.message, e.typ, e.code), '\n') }

// writeError answers with an error of ours. What was set in w's header stays.
func writeError(w http.ResponseWriter, e clientError) {
	h := w.Header()
	body := e.body()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(e.retryAfter)))
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	if e.authenticateWith != "" {
		h.Set("Www-Authenticate", e.authenticateWith)
	}
	if e.closeAfterwards {
		h.Set("Connection", "close")
	}
	w.WriteHeader(e.status)
	_, _ = w.Write(body)
}

// seconds rounds up: who waits that long waits long enough.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// errorEvent is the error as an event of a stream.
func errorEvent(e *clientError) []byte {
	return sse.AppendError(nil, e.message, e.typ, e.code)
}

// allFailed is for a request whose every attempt failed.
func allFailed(attempts int, vendor, reason string, wait time.Duration) clientError {
	return clientError{
		status: http.StatusBadGateway, typ: "upstream_error", code: codeFailed, retryAfter: wait,
		message: fmt.Sprintf("no vendor answered after %d attempts; the last, at %s, ended with %s", attempts, vendor, reason),
	}
}
