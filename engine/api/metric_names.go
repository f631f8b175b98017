package api

import "github.com/prometheus/client_golang/prometheus"

// described are all metrics of baton's own, in the order of their making.
var described []*prometheus.Desc

func describe(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("baton_"+name, help, labels, nil)
	described = append(described, d)
	return d
}

// Of baton as a whole.
var (
	buildInfo      = describe("build_info", "Always 1; the label says which version runs.", "version")
	revision       = describe("revision", "Changes made by people since the start: weights, pins, drains, faults, limits, reloads.")
	pinned         = describe("pinned", "1 while the weights are set by hand, 0 while the controller sets them.")
	pinUntil       = describe("pin_until_timestamp_seconds", "When the pin of the weights runs out; absent without one.")
	failoverManual = describe("failover_manual", "1 while breakers only alarm and people move the weights, else 0.")
	drillRunning   = describe("drill_running", "1 while a drill runs, else 0.")
	drillCutover   = describe("drill_cutover_seconds", "From the fault to proven good service without the vendor, in the drill that runs or is still shown; absent until it is proven.", "scenario", "vendor")
	faultActive    = describe("fault_active", "1 while a fault is injected into the path to the vendor; absent without one.", "vendor", "kind")
	faultUntil     = describe("fault_until_timestamp_seconds", "When the injected fault ends by itself; absent without one.", "vendor")
)

// Of what clients asked and got.
var (
	requests          = describe("requests_total", "Requests of clients that have ended, by how: ok, failed, client_fault (content filters too) or client_cancel.", "result")
	failedOver        = describe("requests_failed_over_total", "Requests that another vendor answered than the one they were sent to first.")
	cutStreams        = describe("cut_streams_total", "Streams that broke after their first token and could not be rescued.")
	droppedEvents     = describe("dropped_events_total", "Events left out of streams because they were not JSON.")
	inFlight          = describe("in_flight", "Requests of clients under way in the gateway.")
	waiting           = describe("waiting", "Requests that wait for a place at a vendor.", "lane")
	shed              = describe("shed_total", "Requests that admission has refused because no vendor had a place.", "lane")
	serviceSuccess    = describe("service_success_ratio", "Answered requests to answered and failed ones over the last 10 s; absent without any.")
	serviceFirstToken = describe("service_first_token_seconds", "What clients waited for the first token of streams, since the start. Exact to 1.6 %, the sum too.")
)

// Of each vendor.
var (
	attempts          = describe("attempts_total", "Attempts that the vendor was asked for, trials too.", "vendor")
	vendorRequests    = describe("vendor_requests_total", "Requests that the vendor answered whole.", "vendor")
	vendorFailed      = describe("vendor_failed_total", "Attempts that the vendor did not answer.", "vendor")
	tokens            = describe("tokens_total", "Tokens that the vendor has counted, by direction: input or output.", "vendor", "direction")
	weight            = describe("vendor_weight_ratio", "Part of all traffic that the vendor is to carry now, 0 to 1 (the control API and the console say percent).", "vendor")
	weightTarget      = describe("vendor_weight_target_ratio", "Part of all traffic towards which the vendor's weight moves, 0 to 1.", "vendor")
	share             = describe("vendor_share_ratio", "Part of all attempts that the vendor was asked for over the last 60 s, 0 to 1; absent without any.", "vendor")
	vendorInFlight    = describe("vendor_in_flight", "Attempts under way at the vendor.", "vendor")
	inFlightLimit     = describe("vendor_in_flight_limit", "Attempts that admission lets be under way at the vendor; absent while it holds nobody back.", "vendor")
	vendorState       = describe("vendor_state", "1 for the state that the vendor is in, 0 for the others.", "vendor", "state")
	errorRatio        = describe("vendor_error_ratio", "The vendor's faults to its faults and answers over the window, 0 to 1; absent without any.", "vendor", "window")
	vendorFirstToken  = describe("vendor_first_token_seconds", "Time to the first token of streams at that percentile of the window, successes and timed-out attempts; absent without samples.", "vendor", "window", "percentile")
	firstTokenSamples = describe("vendor_first_token_samples", "Samples behind the percentiles of vendor_first_token_seconds; fewer than 50 say little.", "vendor", "window")
	vendorLatency     = describe("vendor_latency_seconds", "Time to the end of whole (not streamed) answers at that percentile of the window; absent without samples.", "vendor", "window", "percentile")
	latencySamples    = describe("vendor_latency_samples", "Samples behind the percentiles of vendor_latency_seconds; fewer than 50 say little.", "vendor", "window")
	vendorLimit       = describe("vendor_limit_requests_per_second", "The vendor's rate limit as known (set by hand or in the file), as learned, and what admission lets through (allowed); absent where not known.", "vendor", "source")
)
