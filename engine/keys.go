package engine

// Keys says how many of v's keys are not revoked; whoever owns the keys tells, after
// each change. Until then they are as many as the configuration has.
func (e *Engine) Keys(v *Vendor, live int) { v.liveKeys.Store(int64(live) + 1) }

// keyCount is how many keys v has that are not revoked, of those that are configured.
func (v *Vendor) keyCount(configured int) int {
	if n := int(v.liveKeys.Load()) - 1; n >= 0 {
		return n
	}
	return configured
}
