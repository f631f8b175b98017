package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"baton/engine/config"
	"baton/engine/control"
)

// clientKey is a client that may call; its key is kept as a digest, so that
// comparing takes the same time whatever was presented.
type clientKey struct {
	name string
	sum  [sha256.Size]byte
	lane control.Lane
}

func clientKeys(cfg *config.Config) []clientKey {
	keys := make([]clientKey, 0, len(cfg.Clients))
	for i := range cfg.Clients {
		c := &cfg.Clients[i]
		lane, _ := control.ParseLane(c.Lane)
		keys = append(keys, clientKey{name: c.Name, sum: sha256.Sum256([]byte(c.Key.Reveal())), lane: lane})
	}
	return keys
}

// client returns the client that a request's key belongs to; nil, true where no
// keys are configured. Every key is compared, each in constant time.
func (s *state) client(h http.Header) (*clientKey, bool) {
	if len(s.clients) == 0 {
		return nil, true
	}
	sum := sha256.Sum256([]byte(presented(h)))
	found := -1
	for i := range s.clients {
		if subtle.ConstantTimeCompare(sum[:], s.clients[i].sum[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	return &s.clients[found], true
}

// presented is the key that came with a request: a bearer token, or Azure's header.
func presented(h http.Header) string {
	scheme, token, ok := strings.Cut(h.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return h.Get("Api-Key")
}
