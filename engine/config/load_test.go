package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const oneVendor = "[[vendors]]\nname = \"only\"\nsimulate = \"elastic\"\n"

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad_TakesTheFirstFileOfTheSearchOrder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	xdg := filepath.Join(dir, "xdg")
	env := map[string]string{"XDG_CONFIG_HOME": xdg}
	load := func(flag string) *Config {
		t.Helper()
		c, err := Load(Options{Flag: flag, BuiltIn: builtInText, Environ: func(n string) string { return env[n] }})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	// From the last place to the first: each new file must win over all before.
	if c := load(""); !c.BuiltIn || c.Path != "" {
		if c.Path != "/etc/baton/config.toml" {
			t.Fatalf("without files: path %q, built in %v", c.Path, c.BuiltIn)
		}
	}
	for _, path := range []string{filepath.Join(xdg, "baton", "config.toml"), "config.toml", filepath.Join(dir, "env.toml"), filepath.Join(dir, "flag.toml")} {
		write(t, path, oneVendor)
		flag := ""
		switch filepath.Base(path) {
		case "env.toml":
			env["BATON_CONFIG"] = path
		case "flag.toml":
			flag = path
		}
		if c := load(flag); c.Path != path || c.BuiltIn {
			t.Errorf("read %q (built in: %v), want %q", c.Path, c.BuiltIn, path)
		}
	}
}

var builtInText = []byte("# built in\n" + oneVendor)

func TestLoad_AFileEqualToTheBuiltInCountsAsBuiltIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	for text, want := range map[string]bool{string(builtInText): true, string(builtInText) + "\n": false} {
		write(t, path, text)
		c, err := Load(Options{Flag: path, BuiltIn: builtInText, Environ: noEnv})
		if err != nil || c.BuiltIn != want || c.Path != path || len(c.Digest) != 64 {
			t.Errorf("built in %v, want %v (path %q, digest %q, %v)", c.BuiltIn, want, c.Path, c.Digest, err)
		}
	}
}

func TestLoad_ANamedFileMustExist(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone.toml")
	for _, opts := range []Options{
		{Flag: gone, Environ: noEnv},
		{Environ: func(n string) string { return map[string]string{"BATON_CONFIG": gone}[n] }},
	} {
		opts.BuiltIn = builtInText
		if _, err := Load(opts); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), gone) {
			t.Errorf("got %v", err)
		}
	}
}

func TestLoad_AnUnreadableFileIsNotPassedOver(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("config.toml", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(Options{BuiltIn: builtInText, Environ: noEnv}); err == nil || !strings.Contains(err.Error(), "config.toml") {
		t.Errorf("got %v", err)
	}
}

func parse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("config.toml", []byte(text), func(n string) string {
		return map[string]string{"KEY": "sk-from-env"}[n]
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParse_FillsInWeightsAndBands(t *testing.T) {
	vendor := func(lines string) string { return "[[vendors]]\nsimulate = \"elastic\"\n" + lines + "\n" }
	for name, tc := range map[string]struct {
		text    string
		roles   []string
		weights []float64
		bands   [][]float64
	}{
		"one":                       {vendor(`name = "a"`), []string{"primary"}, []float64{100}, [][]float64{{95, 100}}},
		"two":                       {vendor(`name = "a"`) + vendor(`name = "b"`), []string{"primary", "secondary"}, []float64{75, 25}, [][]float64{{70, 80}, {20, 30}}},
		"two, the second primary":   {vendor(`name = "a"`) + vendor("name = \"b\"\nrole = \"primary\""), []string{"secondary", "primary"}, []float64{25, 75}, [][]float64{{20, 30}, {70, 80}}},
		"two, one weight":           {vendor(`name = "a"`) + vendor("name = \"b\"\nweight = 40"), []string{"primary", "secondary"}, []float64{60, 40}, [][]float64{{55, 65}, {35, 45}}},
		"four":                      {vendor(`name = "a"`) + vendor(`name = "b"`) + vendor(`name = "c"`) + vendor(`name = "d"`), []string{"primary", "secondary", "secondary", "secondary"}, []float64{25, 25, 25, 25}, [][]float64{{20, 30}, {20, 30}, {20, 30}, {20, 30}}},
		"three, one weight":         {vendor("name = \"a\"\nweight = 70") + vendor(`name = "b"`) + vendor(`name = "c"`), []string{"primary", "secondary", "secondary"}, []float64{70, 15, 15}, [][]float64{{65, 75}, {10, 20}, {10, 20}}},
		"zero is a weight":          {vendor("name = \"a\"\nweight = 100") + vendor("name = \"b\"\nweight = 0\nband = [0, 0]"), []string{"primary", "secondary"}, []float64{100, 0}, [][]float64{{95, 100}, {0, 0}}},
		"a candidate carries none":  {vendor(`name = "a"`) + vendor(`name = "b"`) + vendor("name = \"c\"\nrole = \"candidate\""), []string{"primary", "secondary", "candidate"}, []float64{75, 25, 0}, [][]float64{{70, 80}, {20, 30}, nil}},
		"a wide band of one's own":  {vendor("name = \"a\"\nband = [0, 100]") + vendor("name = \"b\"\nband = [0, 100]"), []string{"primary", "secondary"}, []float64{75, 25}, [][]float64{{0, 100}, {0, 100}}},
		"weights rounded by a hand": {vendor("name = \"a\"\nweight = 50.005") + vendor("name = \"b\"\nweight = 50.005"), []string{"primary", "secondary"}, []float64{50, 50}, [][]float64{{45, 55}, {45, 55}}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, v := range parse(t, tc.text).Vendors {
				if v.Role != tc.roles[i] || v.Weight != tc.weights[i] || !reflect.DeepEqual(v.Band, tc.bands[i]) {
					t.Errorf("%s: %s %v %v, want %s %v %v", v.Name, v.Role, v.Weight, v.Band, tc.roles[i], tc.weights[i], tc.bands[i])
				}
				if v.Label != v.Name || v.Dialect != "openai" {
					t.Errorf("label %q, dialect %q", v.Label, v.Dialect)
				}
			}
		})
	}
}

func TestParse_DefaultsFollowWhetherAVendorIsReal(t *testing.T) {
	for name, tc := range map[string]struct {
		text       string
		env, apply string
		hold       time.Duration
	}{
		"simulated":     {"simulate = \"elastic\"", "DEMO", "release", 10 * time.Second},
		"on loopback":   {`base_url = "http://127.0.0.1:9000/v1"`, "DEMO", "release", 10 * time.Second},
		"on localhost":  {`base_url = "http://LOCALHOST:9000/v1/"`, "DEMO", "release", 10 * time.Second},
		"real":          {`base_url = "https://api.example.com/v1"`, "PROD", "enter", 60 * time.Second},
		"real, staging": {"base_url = \"https://api.example.com/v1\"\n[console]\nenvironment = \"staging\"", "STAGING", "release", 60 * time.Second},
		"real, told":    {"base_url = \"https://api.example.com/v1\"\n[console]\napply = \"release\"\n[drill]\nhold = \"5s\"", "PROD", "release", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			c := parse(t, "[[vendors]]\nname = \"a\"\n"+tc.text)
			if c.Console.Environment != tc.env || c.Console.Apply != tc.apply || c.Drill.Hold != tc.hold {
				t.Errorf("%s, %s, %s; want %+v", c.Console.Environment, c.Console.Apply, c.Drill.Hold, tc)
			}
		})
	}
}

func TestParse_ADefaultNeverContradictsAValueThatWasSet(t *testing.T) {
	c := parse(t, oneVendor+"[routing]\nslo_p90 = \"3s\"\n[drill]\nsuccess = 0.9")
	if c.Routing.SLOP99 != 6*time.Second || c.Drill.AbortBelow != 0.9 {
		t.Errorf("slo_p99 %s, abort_below %v", c.Routing.SLOP99, c.Drill.AbortBelow)
	}
	c = parse(t, oneVendor+"[routing]\nslo_p99 = \"800ms\"")
	if c.Routing.SLOP90 != 400*time.Millisecond {
		t.Errorf("slo_p90 %s", c.Routing.SLOP90)
	}
}

func TestParse_ReadsWhatDesignShows(t *testing.T) {
	c := parse(t, `
[[clients]]
name = "search"
key = "env:KEY"
[drill]
blackout = [2026-10-01, "2026-12-24..2026-12-26"]
schedule = [{ cron = "0 10 * * 2", scenario = "kill-primary", armed = true }]
[[models]]
name = "deepseek-v3"
context = { lanyun = 65536, bailian = 131072 }
lanyun = "/maas/deepseek-ai/DeepSeek-V3"
bailian = "deepseek-v3"
[[models]]
name = "everywhere"
[[vendors]]
name = "lanyun"
base_url = "https://maas-api.lanyun.net/v1/"
api_keys = ["env:KEY", "literal"]
[[vendors.price]]
input = 2.0
output = 0
from = 2026-08-16
hours = "22:00-06:00"
[vendors.published]
source = "AI Ping 2026-07"
p90_first_token = "820ms"
[[vendors]]
name = "bailian"
dialect = "bailian"
base_url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
`)
	if cl := c.Clients[0]; cl.Lane != "interactive" || cl.Key.Reveal() != "sk-from-env" || cl.Key.Literal() {
		t.Errorf("client %+v", cl)
	}
	if !reflect.DeepEqual(c.Drill.Blackout, []string{"2026-10-01", "2026-12-24..2026-12-26"}) || !c.Drill.Schedule[0].Armed {
		t.Errorf("drill %+v", c.Drill)
	}
	l := c.Vendors[0]
	if l.BaseURL != "https://maas-api.lanyun.net/v1" || !l.APIKeys[1].Literal() || len(l.APIKeys) != 2 {
		t.Errorf("vendor %+v", l)
	}
	p := l.Price[0]
	if *p.Input != 2 || *p.Output != 0 || p.CachedInput != nil || p.From != "2026-08-16" || l.Published.P90FirstToken != 820*time.Millisecond {
		t.Errorf("price %+v, published %+v", p, l.Published)
	}
	if n, ok := c.Models[0].NameAt("lanyun"); !ok || n != "/maas/deepseek-ai/DeepSeek-V3" || c.Models[0].Context["bailian"] != 131072 {
		t.Errorf("model %+v", c.Models[0])
	}
	if n, ok := c.Models[1].NameAt("lanyun"); !ok || n != "everywhere" {
		t.Errorf("model %+v", c.Models[1])
	}
}

func TestComplete_MakesAConfigurationFromCode(t *testing.T) {
	c := Default()
	c.Vendors = []Vendor{{Name: "a", Simulate: "elastic"}, {Name: "b", Simulate: "elastic"}}
	if err := c.Complete(); err != nil {
		t.Fatal(err)
	}
	if c.Vendors[0].Weight != 75 || c.Vendors[1].Role != Secondary || c.Console.Environment != EnvDemo {
		t.Errorf("%+v", c.Vendors)
	}
	if err := Default().Complete(); err == nil || !strings.Contains(err.Error(), "vendors: a configuration needs at least one [[vendors]]") {
		t.Errorf("without vendors: %v", err)
	}
}
