package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// portsTried is how many ports after a taken one are tried.
const portsTried = 100

// freePorts says of which ports a taken one gives way to a free one: those that
// only the built-in configuration names, and nobody else.
type freePorts struct{ gateway, control bool }

// listen opens addr. With free, a taken port gives way to the next free one.
func listen(key, addr string, free bool) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "tcp", addr)
	if err == nil {
		return ln, nil
	}
	if !free || !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s = %q: %w", key, addr, err)
	}
	host, port, splitErr := net.SplitHostPort(addr)
	if splitErr != nil {
		return nil, fmt.Errorf("%s = %q: %w", key, addr, splitErr)
	}
	first, convErr := strconv.Atoi(port)
	if convErr != nil {
		return nil, fmt.Errorf("%s = %q: %w", key, addr, err)
	}
	for p := first + 1; p <= min(first+portsTried, 65535); p++ {
		if ln, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(p))); err == nil {
			return ln, nil
		}
	}
	return nil, fmt.Errorf("%s = %q: it and the %d ports after it are taken: %w", key, addr, portsTried, err)
}
