package fault

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer ends the attempt with an answer that the vendor never gave; header is
// pairs of name and value.
func (a *attempt) answer(status int, body string, header ...string) (*http.Response, error) {
	a.closeBody()
	h := http.Header{
		"Content-Type":   {"application/json"},
		"Content-Length": {strconv.Itoa(len(body))},
		"Date":           {time.Now().UTC().Format(http.TimeFormat)},
	}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)), Request: a.request,
	}, nil
}
