package control

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestDuration_IsWrittenShortAndReadBack(t *testing.T) {
	cases := []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{15 * time.Minute, "15m"},
		{20 * time.Minute, "20m"},
		{time.Hour, "1h"},
		{10 * time.Hour, "10h"},
		{70 * time.Minute, "1h10m"},
		{time.Hour + time.Second, "1h0m1s"},
		{90 * time.Second, "1m30s"},
		{1500 * time.Millisecond, "1.5s"},
		{-15 * time.Minute, "-15m"},
		{250 * time.Millisecond, "250ms"},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			b, err := json.Marshal(Duration(c.d))
			if err != nil || string(b) != `"`+c.want+`"` {
				t.Fatalf("wrote %s (%v)", b, err)
			}
			var back Duration
			if err := json.Unmarshal(b, &back); err != nil || back != Duration(c.d) {
				t.Errorf("read back %s (%v)", back, err)
			}
		})
	}
}

func TestDuration_RefusesWhatIsNone(t *testing.T) {
	for _, s := range []string{`""`, `"15"`, `"soon"`, `15`, `true`, `{}`} {
		var d Duration
		if err := json.Unmarshal([]byte(s), &d); err == nil {
			t.Errorf("%s was read as %s", s, d)
		}
	}
}

func TestFormatWeights_LargerFirstThenByName(t *testing.T) {
	cases := map[string]map[string]float64{
		"":                        {},
		"lanyun=70 bailian=30":    {"bailian": 30, "lanyun": 70},
		"bailian=50 lanyun=50":    {"lanyun": 50, "bailian": 50},
		"c=99.5 a=0.25 b=0.25":    {"a": 0.25, "b": 0.25, "c": 99.5},
		"lanyun=100 bailian=0":    {"bailian": 0, "lanyun": 100},
		"b=33.4 a=33.3 c=33.3":    {"a": 33.3, "b": 33.4, "c": 33.3},
		"a=1000000 b=0.000000125": {"a": 1e6, "b": 1.25e-7},
	}
	for want, w := range cases {
		if got := FormatWeights(w); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSeries_WritesWhatIsNotKnownAsNull(t *testing.T) {
	cases := []struct {
		name string
		s    Series
		want string
	}{
		{"nil", nil, "[]"},
		{"empty", Series{}, "[]"},
		{"one decimal", Series{1, 2.34, 2.35, 470}, "[1,2.3,2.4,470]"},
		{"gaps", Series{math.NaN(), 3, math.Inf(1), math.Inf(-1)}, "[null,3,null,null]"},
		{"large", Series{123456789.04}, "[123456789]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := json.Marshal(c.s)
			if err != nil || string(b) != c.want {
				t.Fatalf("wrote %s (%v), want %s", b, err, c.want)
			}
			var back Series
			if err := json.Unmarshal(b, &back); err != nil || len(back) != len(c.s) {
				t.Fatalf("read back %v (%v)", back, err)
			}
			again, _ := json.Marshal(back)
			if string(again) != c.want {
				t.Errorf("written again %s, want %s", again, c.want)
			}
		})
	}
	var s Series
	if err := json.Unmarshal([]byte("null"), &s); err != nil || s != nil {
		t.Errorf("null: %v, %v", s, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &s); err == nil {
		t.Error("a word was read as a figure")
	}
}

func TestMeta_SaysWhoInTheJournal(t *testing.T) {
	for by, want := range map[string]string{"": "operator:unknown", "ana": "operator:ana", "drill:20261201-1": "drill:20261201-1", Controller: Controller} {
		if got := WhoOf(&Drain{Meta: Meta{By: by}}); got != want {
			t.Errorf("by %q is %q, want %q", by, got, want)
		}
	}
}

func TestSender_NamesOnlyWhoIsNotNamed(t *testing.T) {
	c := &Drain{}
	Sender(c, "api")
	Sender(c, "tui")
	if c.By != "api" {
		t.Errorf("by %q, want api", c.By)
	}
}

func TestLine_IsTheCommandForTheShell(t *testing.T) {
	cases := []struct {
		cmd  Command
		want string
	}{
		{&SetWeights{Weights: map[string]float64{"a": 70, "b": 30}, For: Duration(15 * time.Minute), Reason: `say "x"`}, `baton weights a=70 b=30 --for 15m --reason "say \"x\""`},
		{&SetWeights{Weights: map[string]float64{"a": 70, "b": 30}, Override: true}, "baton weights a=70 b=30 --override"},
		{&ReleaseWeights{}, "baton weights auto"},
		{&SetFailover{Mode: "manual"}, "baton failover manual"},
		{&SetFailover{Mode: "manual", For: Duration(30 * time.Minute)}, "baton failover manual --for 30m"},
		{&SetFailover{Mode: "auto"}, "baton failover auto"},
		{&SetSim{Vendor: "a", Knobs: json.RawMessage(`{"limit_mode":"queue","first_token":"2s","quantized":true,"errors":0.2}`)}, "baton sim set a errors=0.2 first_token=2s limit_mode=queue quantized=true"},
		{&Drain{Vendor: "a"}, "baton drain a"},
		{&Drain{Vendor: "a", Now: true}, "baton drain a --now"},
		{&Undrain{Vendor: "a"}, "baton undrain a"},
		{&Enable{Vendor: "a"}, "baton enable a"},
		{&SetLimit{Vendor: "a", RPS: 2.5}, "baton limits set a 2.5"},
		{&ForgetLimit{Vendor: "a"}, "baton limits forget a"},
		{&ClearFault{Vendor: "a"}, "baton restore a"},
		{&StartDrill{Scenario: "kill", Vendor: "a", Fault: "refuse", For: Duration(15 * time.Minute)}, "baton kill a"},
		{&StartDrill{Scenario: "kill", Vendor: "a", Fault: "dns", For: Duration(time.Hour)}, "baton kill a --fault dns --for 1h"},
		{&StartDrill{Scenario: "kill-primary"}, "baton drill run kill-primary"},
		{&AbortDrill{}, "baton drill abort"},
	}
	for _, c := range cases {
		if got := c.cmd.Line(); got != c.want {
			t.Errorf("%T: %q, want %q", c.cmd, got, c.want)
		}
	}
}

func TestLane_IsItsWord(t *testing.T) {
	for _, l := range []Lane{Interactive, Batch} {
		if back, ok := ParseLane(l.String()); !ok || back != l {
			t.Errorf("%s was read as %s", l, back)
		}
	}
	if _, ok := ParseLane("Batch"); ok {
		t.Error("an unknown word is a lane")
	}
}

func TestNewDrillID_SortsByTime(t *testing.T) {
	at := time.Date(2026, 12, 1, 9, 59, 59, 0, time.UTC)
	ids := []string{NewDrillID(at), NewDrillID(at.Add(time.Second)), NewDrillID(at.Add(24 * time.Hour))}
	if !slices.IsSorted(ids) {
		t.Errorf("not in order: %v", ids)
	}
	if !regexp.MustCompile(`^20261201-095959-[0-9a-f]{4}$`).MatchString(ids[0]) {
		t.Errorf("got %q", ids[0])
	}
}
