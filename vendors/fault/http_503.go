package fault

import "net/http"

// http503 is a vendor without room.
type http503 struct{}

func (http503) strike(a *attempt) (*http.Response, error) {
	return a.answer(http.StatusServiceUnavailable,
		`{"error":{"message":"The server is currently overloaded with other requests.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`)
}
