package cli

import (
	"strings"
	"testing"

	"baton/vendors/sim"
)

func TestParseKnobs_WritesWhatASimulatedVendorReads(t *testing.T) {
	for _, c := range []struct{ args, want, err string }{
		{"first_token=2s errors=0.2 capacity=5 limit=20", `{"capacity":5,"errors":0.2,"first_token":"2s","limit":20}`, ""},
		{"limit_mode=queue quantized=true", `{"limit_mode":"queue","quantized":true}`, ""},
		{"errors=lots", `{"errors":"lots"}`, ""}, // the engine says what is wrong with it
		{"errors", "", "KNOB=VALUE"},
		{"=1", "", "KNOB=VALUE"},
		{"errors=", "", "KNOB=VALUE"},
		{"errors=1 errors=2", "", "named twice"},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := parseKnobs(strings.Fields(c.args))
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want …%s…", err, c.err)
				}
			case err != nil || string(got) != c.want:
				t.Fatalf("%s %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestKnobNames_AreReadEachByItself(t *testing.T) {
	for _, name := range sim.KnobNames() {
		if err := wrongKnob(name, []byte("null")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := wrongKnob("nosuch", []byte("1")); err == nil {
		t.Error("a knob that there is not was taken")
	}
}
