package control

import "testing"

func TestLeverage_SaysFromHowMuchTrafficItIs(t *testing.T) {
	for days, want := range map[float64]string{0: "0 min", 14.0 / (24 * 60): "14 min", 0.25: "6 h", 1.5: "36 h", 12.2: "12 days"} {
		if got := (&Leverage{Days: days}).Recorded(); got != want {
			t.Errorf("%v days: %q, want %q", days, got, want)
		}
	}
}
