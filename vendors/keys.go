package vendors

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"baton/engine/config"
	"baton/engine/outcome"
)

// Keys are the keys of one vendor, used in even rotation. A vendor that asks for
// none has one key without a secret, so that Take and Revoke mean the same
// everywhere.
type Keys struct {
	keys []*Key
	mu   sync.Mutex // guards turn and the keys' state
	turn uint64

	secrets outcome.Secrets
}

// Key is one key of a vendor. It prints as its ID.
type Key struct {
	ID string // "…" and its last four letters; "#2" of one too short for that; "" without a secret

	auth  *[]string // the header's value; behind a pointer so that no formatting reaches it
	of    *Keys
	last  uint64 // turn at which it was taken last
	dead  bool
	until time.Time // cooling down
}

// shortest is the length under which four letters would give too much of a key away.
const shortest = 12

// newKeys makes the keys, spelled as d has it. Keys that before had keep their state.
func newKeys(secrets []config.Secret, d *outcome.Dialect, before *Keys) *Keys {
	k := new(Keys)
	seen := map[string]bool{}
	for _, s := range secrets {
		text := s.Reveal()
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		k.add(text, d)
	}
	if len(k.keys) == 0 {
		k.keys = []*Key{{of: k}}
	}
	if before != nil {
		k.remember(before)
	}
	texts := make([]string, 0, len(seen))
	for text := range seen {
		texts = append(texts, text)
	}
	k.secrets = outcome.NewSecrets(texts...)
	return k
}

// Secrets are all the keys, to be hidden where the vendor repeats one.
func (k *Keys) Secrets() outcome.Secrets { return k.secrets }

func (k *Keys) add(text string, d *outcome.Dialect) {
	id := "#" + strconv.Itoa(len(k.keys)+1)
	if r := []rune(text); len(r) >= shortest {
		last := "…" + string(r[len(r)-4:])
		if slices.ContainsFunc(k.keys, func(o *Key) bool { return o.ID == last }) {
			last += id
		}
		id = last
	}
	k.keys = append(k.keys, &Key{ID: id, of: k, auth: &[]string{d.AuthPrefix + text}})
}

// remember takes over the state of the same keys from before.
func (k *Keys) remember(before *Keys) {
	before.mu.Lock()
	defer before.mu.Unlock()
	for _, n := range k.keys {
		for _, o := range before.keys {
			if (n.auth == nil) == (o.auth == nil) && (n.auth == nil || (*n.auth)[0] == (*o.auth)[0]) {
				n.dead, n.until = o.dead, o.until
			}
		}
	}
}

// Take returns the key whose turn it is among those neither revoked nor cooling
// down at now: the one that was taken the longest ago. False: there is none.
func (k *Keys) Take(now time.Time) (*Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var best *Key
	for _, c := range k.keys {
		if !c.dead && !now.Before(c.until) && (best == nil || c.last < best.last) {
			best = c
		}
	}
	if best == nil {
		return nil, false
	}
	k.turn++
	best.last = k.turn
	return best, true
}

// Any returns a key whatever its state, a live one if there is one: for probes, and
// for the last vendor there is. Revoked ones are given in turn; live ones lose no
// turn by it.
func (k *Keys) Any() *Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	best := k.keys[0]
	for _, c := range k.keys[1:] {
		if best.dead && !c.dead || best.dead == c.dead && c.last < best.last {
			best = c
		}
	}
	if best.dead {
		k.turn++
		best.last = k.turn
	}
	return best
}

// Live counts the keys that are not revoked.
func (k *Keys) Live() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, c := range k.keys {
		if !c.dead {
			n++
		}
	}
	return n
}

// Len counts the keys, those without a secret apart.
func (k *Keys) Len() int {
	if k.keys[0].auth == nil {
		return 0
	}
	return len(k.keys)
}

// All returns the keys in the configuration's order.
func (k *Keys) All() []*Key { return slices.Clone(k.keys) }

// Until returns when the first of the live keys has cooled down: now where one is
// ready, false where all are revoked.
func (k *Keys) Until(now time.Time) (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var first time.Time
	for _, c := range k.keys {
		switch {
		case c.dead:
		case !now.Before(c.until):
			return now, true
		case first.IsZero() || c.until.Before(first):
			first = c.until
		}
	}
	return first, !first.IsZero()
}

// Reset puts every key back into the rotation.
func (k *Keys) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.keys {
		c.dead, c.until = false, time.Time{}
	}
}

// Revoke takes the key out of the rotation until Restore or Keys.Reset, and says
// whether it was in it.
func (c *Key) Revoke() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	was := !c.dead
	c.dead = true
	return was
}

// Restore puts the key back into the rotation, cooled down.
func (c *Key) Restore() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.dead, c.until = false, time.Time{}
}

// Revoked says whether the key is out of the rotation.
func (c *Key) Revoked() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.dead
}

// Cool leaves the key alone until then. An earlier end than the present one
// changes nothing.
func (c *Key) Cool(until time.Time) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if until.After(c.until) {
		c.until = until
	}
}

// String returns the ID.
func (c *Key) String() string { return c.ID }

// Format prints the ID whatever the verb.
func (c *Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.ID)) }

// MarshalText returns the ID.
func (c *Key) MarshalText() ([]byte, error) { return []byte(c.ID), nil }
