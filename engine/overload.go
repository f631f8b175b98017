package engine

import "time"

// yields tells the limiter whether admission holds the vendor because more comes than all
// can do: then no line stands at it, and its rate is what its places make. v.mu is held.
func (v *Vendor) yields(now time.Time) {
	v.limiter.Yield(now, v.admission.Overloaded(now))
}
