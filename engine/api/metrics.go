package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"baton/engine/control"
)

// metricsHandler serves Prometheus' text format.
func metricsHandler(c control.Control) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newCollector(c))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}
