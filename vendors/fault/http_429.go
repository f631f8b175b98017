package fault

import "net/http"

// http429 is a vendor that says that the rate is over its limit.
type http429 struct{}

func (http429) strike(a *attempt) (*http.Response, error) {
	return a.answer(http.StatusTooManyRequests,
		`{"error":{"message":"Rate limit reached for requests.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
		"Retry-After", "1")
}
