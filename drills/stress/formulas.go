package stress

// Formulas says how each figure is computed, by the name that it has in the report.
// There is no common definition of these words: other tools' figures may differ by
// theirs (https://docs.vllm.ai bench serve counts from the sending, for one).
func Formulas() map[string]string {
	return map[string]string{
		"first_token_ms":         "first event with content, reasoning or a tool call - due; successes only",
		"first_answer_ms":        "first event with content or a tool call, reasoning apart - due",
		"per_token_ms":           "(last event - first event) / (completion tokens - 1), of each answer; none of answers of one token or that come all at once",
		"chunk_gap_ms":           "between two events with something in them, pooled over all answers; an event may hold several tokens",
		"total_ms":               "last event with something in it - due",
		"first_token_service_ms": "first token - sent",
		"total_service_ms":       "last event - sent",
		"schedule_lag_ms":        "sent - due; in a closed loop a request is due when its worker is free",
		"connect_ms":             "name, connection and TLS of requests that found no open connection",
		"rps":                    "answers that ended well in the window / its length",
		"tokens_per_s":           "completion tokens of those / the window's length",
		"stream_tokens_per_s":    "1000 / P50 of per_token_ms",
		"goodput":                "part of the requests due in the window that keep the SLO (first token within its P99 bound, and per-token and whole time within theirs); failed and unsent ones do not",
		"in_flight":              "time that requests were under way within the window / its length",
		"pNN":                    "nearest rank: the smallest value that NN % of the samples do not exceed",
		"pNN_ci":                 "95 %, order statistics: ranks l, u with BinomCDF(l-1; n, NN %) <= 0.025 and BinomCDF(u-1) >= 0.975",
		"degradation":            "quantile at the last level / quantile at the first; 95 % by bootstrap, 1,000 resamples of 1 s blocks",
		"stream":                 "stream_tokens_per_s at the first level / at the last",
		"throughput":             "rps at the last level / at the first",
		"efficiency":             "rps(C) / (C/C1 * rps(C1)); 1 is linear",
		"knee":                   "first C at which d(log rps)/d(log C) < 0.3 or P90(total) > 2 times that of the first level",
		"client_cpu":             "CPU time of this process in the window / (the window * GOMAXPROCS); a simulated vendor in this process counts too",
	}
}
