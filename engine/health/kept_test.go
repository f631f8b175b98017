package health

import (
	"testing"
	"time"

	"baton/engine/outcome"
)

func TestProbe_AKeptVendorIsForgivenWhenNobodyAsksItAnyMore(t *testing.T) {
	m, now := New(Default()), time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	m.Keep(true)
	for range 12 {
		now = now.Add(500 * time.Millisecond)
		m.Attempt(now, outcome.VendorFault, true, false)
	}
	if m.Alarm() == "" {
		t.Fatal("twelve refused connections alarm nobody")
	}
	m.Probe(now.Add(time.Second), true)
	m.Probe(now.Add(2*time.Second), true)
	if m.Alarm() == "" {
		t.Fatal("two good probes outweigh failures of a moment ago")
	}
	m.Probe(now.Add(12*time.Second), true)
	if m.Alarm() != "" {
		t.Fatalf("12 s after its last failure, with good probes: %s", m.Alarm())
	}
	m.Keep(false)
	if c := m.Attempt(now.Add(13*time.Second), outcome.VendorFault, true, false); c.Changed {
		t.Fatalf("one failure after that: %+v", c)
	}
}
