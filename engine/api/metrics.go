package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"baton/engine/control"
)

// scrapesAtOnce bounds what /metrics may cost: it asks no token.
const scrapesAtOnce = 4

// metricsHandler serves Prometheus' text format, from a registry of its own.
func metricsHandler(c control.Control) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newCollector(c))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapesAtOnce})
}
