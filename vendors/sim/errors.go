package sim

import (
	"net/http"
	"strconv"
	"time"
)

// refusal is an error answer, ready to send.
type refusal struct {
	status      int
	header      [][2]string
	body        []byte
	contentType string // default application/json
}

// refuse sends an error answer; in a stream that has begun with comments it is an event.
func (x *exchange) refuse(e refusal) {
	if x.status != 0 {
		x.outcome = Broken
		body := append(append([]byte("data: "), e.body...), "\n\n"...)
		if !x.req.Stream {
			body = e.body
		}
		if _, err := x.w.Write(body); err != nil {
			x.outcome = Left
		}
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", or(e.contentType, "application/json"))
	for _, kv := range e.header {
		h.Set(kv[0], kv[1])
	}
	h.Set("Content-Length", strconv.Itoa(len(e.body)))
	x.status, x.outcome = e.status, Refused
	x.w.WriteHeader(e.status)
	if _, err := x.w.Write(e.body); err != nil || x.r.Context().Err() != nil {
		x.outcome = Left
	}
}

// openAIError is an error body in OpenAI's shape; an empty param or code is null.
func openAIError(message, kind, param, code string) []byte {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return marshal(struct {
		Error inner `json:"error"`
	}{inner{message, kind, nilIfEmpty(param), nilIfEmpty(code)}})
}

func modelNotFound(model string) refusal {
	return refusal{
		status: http.StatusNotFound,
		body:   openAIError("The model `"+model+"` does not exist or you do not have access to it.", "invalid_request_error", "", "model_not_found"),
	}
}

var (
	invalidKey = refusal{
		status: http.StatusUnauthorized,
		body:   openAIError("Incorrect API key provided: sk-****.", "invalid_request_error", "", "invalid_api_key"),
	}
	// limitRequests is how Bailian spells it, without a Retry-After.
	limitRequests = refusal{
		status: http.StatusTooManyRequests,
		body:   []byte(`{"error":{"message":"You have exceeded your current request limit.","type":"limit_requests","param":null,"code":"limit_requests"}}`),
	}
	limitSlope = refusal{
		status: http.StatusTooManyRequests,
		body:   openAIError("Request rate increased too quickly. To ensure system stability, please adjust your client logic to scale requests more smoothly over time.", "limit_burst_rate", "", "limit_burst_rate"),
	}
	// limitTokens passes within a minute, whatever it says about billing.
	limitTokens = refusal{
		status: http.StatusTooManyRequests,
		body:   openAIError("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "", "insufficient_quota"),
	}
	rateLimited = refusal{
		status: http.StatusTooManyRequests,
		body:   openAIError("Rate limit reached for requests", "requests", "", "rate_limit_exceeded"),
	}
	overloaded = refusal{
		status: http.StatusServiceUnavailable,
		body:   openAIError("The server is currently overloaded with other requests.", "service_unavailable_error", "", "server_is_overloaded"),
	}
	serverError = refusal{
		status: http.StatusInternalServerError,
		body:   openAIError("The server had an error while processing your request.", "server_error", "", "internal_error"),
	}
	contextLength = refusal{
		status: http.StatusBadRequest,
		body: openAIError("This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens.",
			"invalid_request_error", "messages", "context_length_exceeded"),
	}
	contentPolicy = refusal{
		status: http.StatusBadRequest,
		body: openAIError("Your request was rejected as a result of our safety system.",
			"invalid_request_error", "", "content_policy_violation"),
	}
	prefillRefused = refusal{
		status: http.StatusBadRequest,
		body:   openAIError("The last message must be from the user or a tool, not from the assistant.", "invalid_request_error", "messages", "invalid_value"),
	}
)

// with returns the refusal with one more header.
func (e refusal) with(name, value string) refusal {
	e.header = append(e.header[:len(e.header):len(e.header)], [2]string{name, value})
	return e
}

// httpDate is a time as Retry-After spells it.
func httpDate(t time.Time) string {
	return t.UTC().Format(http.TimeFormat)
}
