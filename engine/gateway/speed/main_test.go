package speed

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

var (
	seconds = flag.Int("seconds", 0, "measured seconds per case and proxy; 0: a smoke test that checks answers only")
	rate    = flag.Float64("rate", 0, "requests/s of the open loop; 0: 0.35 of what the reference takes here")
	program = flag.String("baton", "", "a baton to measure; empty: built from this module")
)

// roleVariable names the role of a process that this binary is started as.
const roleVariable = "BATON_SPEED_ROLE"

// The roles. Each is given the mock's address as its only argument, if it needs one.
var roles = map[string]func(upstream string) http.Handler{
	"mock":      func(string) http.Handler { return http.HandlerFunc(serveMock) },
	"reference": newReference,
}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleVariable)]; ok {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// play serves a role until its parent closes its standard input, or is gone.
func play(role func(string) http.Handler) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	upstream := ""
	if len(os.Args) > 1 {
		upstream = os.Args[1]
	}
	server := &http.Server{Handler: role(upstream), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Println(ln.Addr())
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
