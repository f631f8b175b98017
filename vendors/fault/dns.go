package fault

import (
	"net"
	"net/http"
)

// dns is a name that does not exist.
type dns struct{}

func (dns) strike(a *attempt) (*http.Response, error) {
	return a.fail(&net.OpError{
		Op: "dial", Net: "tcp",
		Err: &net.DNSError{Err: "no such host", Name: a.host(), IsNotFound: true},
	})
}
