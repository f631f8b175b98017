package fault

import (
	"net"
	"net/http"
	"os"
	"syscall"
)

// refuse is a vendor whose port nobody listens on.
type refuse struct{}

func (refuse) strike(a *attempt) (*http.Response, error) {
	return a.fail(&net.OpError{
		Op: "dial", Net: "tcp", Addr: a.addr(),
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	})
}
