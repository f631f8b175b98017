package outcome

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// transport judges an error of the connection. Which side of the handshake it was
// on matters: before it nothing was sent, and any other try is free.
func (res *Result) transport(a Attempt) {
	reason, class := transportReason(a.Err)
	if a.Phase == Connect && (reason == "connection_closed" || reason == "connection_failed") {
		reason = "connect_failed"
	}
	res.settle(a, class, reason, transportMessages[reason])
	if class == Ours {
		return
	}
	res.Connect = a.Status == 0 && (a.Phase == Connect || notSent(a.Err, reason))
	if reason == "truncated" && a.Status == 0 {
		res.Reason, res.Message = "connection_closed", transportMessages["connection_closed"]
	}
}

// transportMessages are ours and not the error's own text, which may hold a URL.
var transportMessages = map[string]string{
	"cancelled":          "the attempt was cancelled from inside",
	"dns_failed":         "the vendor's name was not found",
	"tls_failed":         "no TLS with the vendor: its certificate or the handshake is wrong",
	"connection_refused": "the vendor refused the connection",
	"unreachable":        "the vendor's network is unreachable",
	"connection_reset":   "the vendor reset the connection",
	"connection_closed":  "the vendor closed the connection without an answer",
	"connection_failed":  "the connection to the vendor failed",
	"connect_failed":     "no connection to the vendor",
	"truncated":          "the answer ended before it was finished",
	"event_too_long":     "an event of the answer is too long",
	"timeout":            "the connection to the vendor timed out",
	"bad_http":           "the vendor's answer is not HTTP",
}

func transportReason(err error) (string, Class) {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch text := err.Error(); {
	case errors.Is(err, context.Canceled):
		return "cancelled", Ours
	case errors.As(err, &dns):
		return "dns_failed", Connection
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused", Connection
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "unreachable", Connection
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection_reset", Connection
	case strings.Contains(text, "x509: "), strings.Contains(text, "tls: "):
		return "tls_failed", Connection
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "truncated", Connection
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout", Timeout
	case strings.Contains(text, "stream error: stream ID"):
		return "connection_reset", Connection // HTTP/2's way
	case strings.Contains(text, "event is too long"):
		return "event_too_long", Broken
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "malformed chunked"):
		return "bad_http", Broken
	case strings.Contains(text, "server closed idle connection"), strings.Contains(text, "GOAWAY"),
		strings.Contains(text, "use of closed network connection"):
		return "connection_closed", Connection
	}
	return "connection_failed", Connection
}

// notSent recognises the errors that only dialling has, for callers that cannot
// tell the phase.
func notSent(err error, reason string) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	return reason == "dns_failed" || reason == "connection_refused" || reason == "unreachable"
}
