package config

import (
	"os"
	"reflect"
	"testing"

	"baton/engine/config/strict"
)

func builtIn(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func noEnv(string) string { return "" }

func TestBuiltIn_SpellsOutEveryDefault(t *testing.T) {
	var c Config // from zero: a section or key missing in the file would show
	if _, errs := strict.Decode("config.toml", builtIn(t), &c); errs != nil {
		t.Fatal(errs)
	}
	want := Default()
	c.Vendors, c.Models = nil, nil
	if len(c.Ledger.Holidays) == 0 {
		c.Ledger.Holidays = nil
	}
	if len(c.Drill.Blackout) == 0 && len(c.Drill.Schedule) == 0 {
		c.Drill.Blackout, c.Drill.Schedule = nil, nil
	}
	if !reflect.DeepEqual(&c, want) {
		t.Errorf("config.toml says\n%+v\nthe defaults are\n%+v", &c, want)
	}
}

func TestBuiltIn_IsTwoSimulatedVendors(t *testing.T) {
	c, err := Parse("", builtIn(t), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Simulated() || c.AnyReal() || c.Console.Environment != EnvDemo || c.Console.Apply != "release" {
		t.Errorf("environment %q, apply %q, simulated %v", c.Console.Environment, c.Console.Apply, c.Simulated())
	}
	want := []Vendor{
		{Name: "lanyun", Label: "蓝耘", Role: Primary, Dialect: "openai", Weight: 75, Band: []float64{70, 80}, Simulate: "elastic", Sim: Sim{Seed: 1}},
		{Name: "bailian", Label: "百炼", Role: Secondary, Dialect: "openai", Weight: 25, Band: []float64{20, 30}, Simulate: "elastic", Sim: Sim{Seed: 2}},
	}
	if !reflect.DeepEqual(c.Vendors, want) {
		t.Errorf("got %+v, want %+v", c.Vendors, want)
	}
}
