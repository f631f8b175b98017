package api

import (
	"encoding/json"
	"testing"
)

func TestIsZero_OnlyWhereAZeroIsWritten(t *testing.T) {
	for text, want := range map[string]bool{`"0s"`: true, `"0"`: true, `0`: true, `0.0`: true, `"15m"`: false, `1`: false, `"x"`: false, `null`: false, `{}`: false} {
		if got := isZero(json.RawMessage(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if isZero(nil) {
		t.Error("an absent field is not zero")
	}
}
