package drills

import (
	"math"
	"strings"
	"testing"
	"time"

	"baton/engine/window"
)

func TestWilson_IsTheTextbooks(t *testing.T) {
	for _, c := range []struct {
		ok, n     int64
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, // Newcombe 1998, table I
		{15, 148, 0.0624, 0.1605}, // the same
		{0, 20, 0, 0.1611},        // the same
		{1, 29, 0.0061, 0.1718},   // the same
		{0, 0, 0, 1},
	} {
		low, high := wilson(c.ok, c.n)
		if math.Abs(low-c.low) > 0.0001 || math.Abs(high-c.high) > 0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.ok, c.n, low, high, c.low, c.high)
		}
	}
}

func TestRanks_OfTheP99(t *testing.T) {
	// Under 368 samples not even the largest lies above the P99 with 97.5 %, because
	// 0.99 to the 367th is over 0.025: the interval has no upper end.
	for _, c := range []struct {
		n       int
		bounded bool
	}{{1, false}, {100, false}, {367, false}, {368, true}, {1000, true}} {
		l, u := ranks(c.n, 0.99)
		if bounded := u <= c.n; bounded != c.bounded || l >= u || l < 0 {
			t.Errorf("n=%d: ranks %d to %d, bounded %t", c.n, l, u, bounded)
		}
	}
	if l, u := ranks(1000, 0.99); l != 983 || u != 997 {
		t.Errorf("n=1000: %d to %d", l, u)
	}
}

func TestP99Text_SaysTheCountAndTheInterval(t *testing.T) {
	h := new(window.Histogram)
	if got := p99Text(h); got != "no first token" {
		t.Errorf("%q", got)
	}
	for i := range 200 {
		h.Add(time.Duration(i+1) * time.Millisecond)
	}
	if got := p99Text(h); !strings.Contains(got, "n=200") || !strings.Contains(got, "over 19") {
		t.Errorf("%q", got)
	}
}
