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
