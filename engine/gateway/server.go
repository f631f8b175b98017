package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits that keep slow or hostile clients from holding connections. A body
// has clocks of its own (see readBody), an answer too (see clocks.go).
const (
	headerTimeout  = 10 * time.Second
	clientIdle     = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Server returns a server for the gateway with the limits that a public port
// needs. Requests that it serves are cancelled when [Gateway.Drain] gives up waiting.
func (g *Gateway) Server() *http.Server {
	return &http.Server{
		Handler:           g,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       clientIdle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(g.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return g.base },
	}
}
