package engine

// Keys says how many of v's keys are not revoked; whoever owns the keys tells, after
// each change. Until then they are as many as the configuration has.
func (e *Engine) Keys(v *Vendor, live int) {
	if v.liveKeys.Swap(int64(live)+1) == int64(live)+1 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.limiter.SetKeys(max(1, live)) // a limit per key is that of the keys that are left
}

// keyCount is how many keys v has that are not revoked, of those that are configured.
func (v *Vendor) keyCount(configured int) int {
	if n := int(v.liveKeys.Load()) - 1; n >= 0 {
		return n
	}
	return configured
}
