package fault

import "net/http"

// blackhole is a path that swallows everything: nothing comes until the attempt's
// context ends, or the fault does, and then the request goes through as a
// retransmission would.
type blackhole struct{}

func (blackhole) strike(a *attempt) (*http.Response, error) {
	if err := a.lease.hold(a.request.Context(), nil, forever); err != nil {
		return a.fail(err)
	}
	return a.pass()
}
