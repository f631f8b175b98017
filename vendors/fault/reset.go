package fault

import (
	"net"
	"net/http"
	"os"
	"syscall"
)

// reset is a connection that the vendor resets in place of an answer.
type reset struct{}

func (reset) strike(a *attempt) (*http.Response, error) {
	return a.fail(&net.OpError{
		Op: "read", Net: "tcp", Addr: a.addr(),
		Err: os.NewSyscallError("read", syscall.ECONNRESET),
	})
}
