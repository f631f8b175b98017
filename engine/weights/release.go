package weights

import (
	"fmt"
	"strings"
	"time"
)

// Release says what would bring a vendor's weight back to what is configured: the figures that hold it
// away and where they would have to be; "" where the law does not hold it. What keeps a vendor out of
// service, pins and learned limits are their owners' to explain.
func (l *Law) Release(name string) string {
	for i := range l.vendors {
		if v := &l.vendors[i]; v.name == name && l.known && !l.pinned && !l.panicking && v.state == Well {
			return strings.Join(l.releases(v, i), " and ")
		}
	}
	return ""
}

func (l *Law) releases(v *vendor, i int) (parts []string) {
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if r := &v.room; r.edge > 0 && r.share(l.rate) < v.band[0] {
		if left := r.until - l.clock; left > 0 {
			add("a test of its overload at %.0f requests/s in %s", r.edge, left.Round(time.Second))
		} else {
			add("more than %.0f requests/s without being slow, which is tested now", r.edge)
		}
	}
	if v.ceiling < v.band[0] {
		add("a first-token P90 within %.2fs for %s", l.p.SLOP90.Seconds(), l.p.SLOHold)
	}
	if v.w > v.band[0]-1e-9 {
		return parts
	}
	// These hold it as soon as they cost it more than the deadband.
	if v.excess > 0.5/l.p.Kappa*l.p.Enter {
		add("errors as low as the best's %.1f%% (now at least %.1f%%)", 100*(v.errorRate()-v.excess), 100*v.errorRate())
	}
	if v.r > 1 && v.worst >= 0 {
		add("a P90 within %.2fs (%.2f times the best's; now %.2fs)", l.p.Near*v.against, l.p.Near, v.latency[v.worst].value)
	}
	if dir := direction(l.target[i] - v.w); dir != 0 && v.turn.dir != 0 && dir != v.turn.dir {
		if left := v.turn.wait(&l.p, l.clock) - (l.clock - v.turn.at); left > 0 {
			add("the end of its hold in %s", left.Round(time.Second))
		}
	}
	return parts
}
