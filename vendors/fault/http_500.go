package fault

import "net/http"

// http500 is a vendor that breaks inside.
type http500 struct{}

func (http500) strike(a *attempt) (*http.Response, error) {
	return a.answer(http.StatusInternalServerError,
		`{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":"internal_error"}}`)
}
