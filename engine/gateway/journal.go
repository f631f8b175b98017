package gateway

import (
	"fmt"
	"time"

	"baton/engine/control"
)

// pathMissing tells people that a vendor has no such endpoint: most of the time its
// base_url is mistyped.
func (g *Gateway) pathMissing(a *attempt, endpoint string) {
	if !g.memo.say(a.vendor.Name) {
		return
	}
	g.engine.Log(control.Event{
		Time: time.Now(), Level: control.Warn, Kind: "config", Vendor: a.vendor.Name,
		Text: fmt.Sprintf("%s answers %d to %s and names nothing that is missing: is its base_url %q right, and does it offer that endpoint?",
			a.vendor.Name, a.result.Status, endpoint, a.vendor.BaseURL()),
		Data: map[string]any{"status": a.result.Status, "endpoint": endpoint},
	})
}

// keyRevoked tells people that a vendor takes one of its keys no longer. A vendor that
// has but one is disabled with it, which the engine tells.
func (g *Gateway) keyRevoked(a *attempt, live int) {
	g.engine.Keys(a.lease.Vendor, live)
	all := a.vendor.Keys.Len()
	if all < 2 {
		return
	}
	g.engine.Log(control.Event{
		Time: time.Now(), Level: control.Warn, Kind: "account", Vendor: a.vendor.Name,
		Text: fmt.Sprintf("%s refuses key %s (%s): it leaves the rotation, and %d of %d are left", a.vendor.Name, a.key, a.result.Reason, live, all),
		Data: map[string]any{"key": a.key.ID, "reason": a.result.Reason, "live": live, "keys": all},
	})
}

// countKeys tells the engine of the keys in force.
func (g *Gateway) countKeys(s *state) {
	for _, live := range g.engine.Vendors() {
		if v := s.set.Vendor(live.Name); v != nil {
			g.engine.Keys(live, v.Keys.Live())
		}
	}
}
