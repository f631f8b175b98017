package fault

import "net/http"

// auth is a key that was revoked.
type auth struct{}

func (auth) strike(a *attempt) (*http.Response, error) {
	return a.answer(http.StatusUnauthorized,
		`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)
}
