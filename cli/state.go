package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// state is the directory that outlives a run: the lock that says who serves on
// it, the control API's address and token, the log and the drills' records.
type state struct {
	dir       string
	lock      *flock.Flock
	temporary bool
	problem   string // why the state is not where it should be, "" if it is
}

// errTaken says that another engine runs on the same state.
var errTaken = errors.New("an engine already runs on this state")

// stateDir is where the state lives: --state, then the file's, then XDG.
func stateDir(flag, configured string, env func(string) string) (string, error) {
	switch {
	case flag != "":
		return filepath.Abs(flag)
	case configured != "":
		return filepath.Abs(configured)
	case env("XDG_STATE_HOME") != "":
		return filepath.Join(env("XDG_STATE_HOME"), "baton"), nil
	case env("HOME") != "":
		return filepath.Join(env("HOME"), ".local", "state", "baton"), nil
	}
	return "", errors.New("no state directory: neither --state, state.dir, $XDG_STATE_HOME nor $HOME is set")
}

// openState makes the directory and takes its lock. It returns errTaken if
// another engine holds it, and a state in a temporary directory, with the
// reason as an error beside it, if the directory cannot be written.
func openState(dir string) (*state, error) {
	s := &state{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s.fallBack(err)
	}
	s.lock = flock.New(s.path("lock"))
	ok, err := s.lock.TryLock()
	if err != nil {
		return s.fallBack(err)
	}
	if !ok {
		return s, errTaken
	}
	return s, nil
}

// unwritable says that the state is kept in a temporary directory instead.
type unwritable struct {
	dir   string
	cause error
}

func (u *unwritable) Error() string {
	return fmt.Sprintf("state directory %s cannot be written (%v): what would be kept there is lost with this process", u.dir, u.cause)
}

func (u *unwritable) Unwrap() error { return u.cause }

// fallBack opens a temporary state in place of one that cannot be written.
func (s *state) fallBack(cause error) (*state, error) {
	t, err := temporaryState()
	if err != nil {
		return nil, fmt.Errorf("state directory %s cannot be written (%w), and neither can a temporary one: %w", s.dir, cause, err)
	}
	return t, &unwritable{dir: s.dir, cause: cause}
}

// temporaryState is a state that nobody else knows and that ends with the
// process.
func temporaryState() (*state, error) {
	dir, err := os.MkdirTemp("", "baton-")
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir, temporary: true, lock: flock.New(filepath.Join(dir, "lock"))}
	_, err = s.lock.TryLock()
	return s, err
}

func (s *state) path(name string) string { return filepath.Join(s.dir, name) }

// address is where the engine that runs on dir serves its control API, "" if
// none has said.
func address(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, "control.addr"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// publish writes the control API's URL and token for local commands.
func (s *state) publish(url, token string) error {
	if err := renameio.WriteFile(s.path("control.token"), []byte(token+"\n"), 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("write the control token: %w", err)
	}
	if err := renameio.WriteFile(s.path("control.addr"), []byte(url+"\n"), 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("write the control address: %w", err)
	}
	return nil
}

// close removes the address, so that nobody is sent to an engine that has
// ended, and gives the lock back.
func (s *state) close() {
	_ = os.Remove(s.path("control.addr"))
	s.release()
}

// release gives the lock back and leaves everything else as it was.
func (s *state) release() {
	_ = s.lock.Unlock()
	if s.temporary {
		_ = os.RemoveAll(s.dir)
	}
}

// isToken says whether s can stand in an Authorization header: the letters of
// RFC 6750's b64token.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") == ""
}

// token is the control API's: the file's, the one of the last run, or a new
// one.
func (s *state) token(configured string) string {
	if configured != "" {
		return configured
	}
	if b, err := os.ReadFile(s.path("control.token")); err == nil {
		if t := strings.TrimSpace(string(b)); len(t) >= 32 && isToken(t) {
			return t
		}
	}
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}
