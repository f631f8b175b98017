package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

func simulated(profile, keys string) string {
	return "[[vendors]]\nname = \"a\"\nsimulate = \"" + profile + "\"\n[vendors.sim]\n" + keys
}

func TestSim_KeysOfEveryProfileAreRead(t *testing.T) {
	c := parse(t, simulated("limited", "sigma = 0.5\ntokens = 40\ntoken_sigma = 0.2\nlimit = 15\nlimit_mode = \"queue\"\nlimit_queue = 9\nlimit_tokens = 5000\nlimit_slope = 0\nkeep_alive = \"1s\"\nscale = 0.5"))
	s := c.Vendors[0].Sim
	if s.Sigma != 0.5 || s.Tokens != 40 || s.TokenSigma != 0.2 || s.Limit != 15 || s.LimitMode != "queue" || s.LimitQueue != 9 || s.LimitTokens != 5000 ||
		s.LimitSlope == nil || *s.LimitSlope != 0 || s.KeepAlive != time.Second || s.Scale != 0.5 {
		t.Errorf("limited: %+v", s)
	}
	if s = parse(t, simulated("vllm-pool", "replicas = 2\nmax_replicas = 4\nkv_tokens = 40_000")).Vendors[0].Sim; s.Replicas != 2 || s.MaxReplicas != 4 || s.KVTokens != 40_000 {
		t.Errorf("vllm-pool: %+v", s)
	}
	if s = parse(t, simulated("naive-gpu", "quantized = true\ncrash = 0.0")).Vendors[0].Sim; !s.Quantized || s.Crash == nil || *s.Crash != 0 {
		t.Errorf("naive-gpu: %+v", s)
	}
}

func TestSim_MistakesNameLineKeyAndRule(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"bounds": {
			simulated("limited", "sigma = 3\ntokens = -1\ntoken_sigma = -1\nlimit_mode = \"quee\"\nlimit_queue = -1\nlimit_tokens = -1\nlimit_slope = -1\nkeep_alive = \"2m\"\nscale = 0\nmodels = [\"\"]"),
			"c.toml:5: vendors[a].sim.sigma: got 3, want from 0 to 2\nc.toml:6: vendors[a].sim.tokens: got -1, want from 0 to 100000\nc.toml:7: vendors[a].sim.token_sigma: got -1, want from 0 to 2\n" +
				"c.toml:8: vendors[a].sim.limit_mode: got \"quee\", want reject or queue (did you mean \"queue\"?)\nc.toml:9: vendors[a].sim.limit_queue: got -1, want from 0 to 100000\n" +
				"c.toml:10: vendors[a].sim.limit_tokens: got -1, want from 0 (none) to 1000000000 per minute\nc.toml:11: vendors[a].sim.limit_slope: got -1, want from 0 (none) to 1000000\n" +
				"c.toml:12: vendors[a].sim.keep_alive: got \"2m0s\", want from 0 (none) to 1m\nc.toml:13: vendors[a].sim.scale: got 0, want above 0 and at most 100\nc.toml:14: vendors[a].sim.models: got \"\", want names that are not empty",
		},
		"no limit": {simulated("limited", "limit = 0"), "c.toml:5: vendors[a].sim.limit: got 0, want more than 0: elastic is the profile without a limit"},
		"another profile's": {
			simulated("elastic", "replicas = 2\nquantized = true\ncrash = 0.5"),
			"c.toml:5: vendors[a].sim.replicas: got 2, want none: only vllm-pool has this\nc.toml:6: vendors[a].sim.quantized: got true, want none: only naive-gpu has this\nc.toml:7: vendors[a].sim.crash: got 0.5, want none: only naive-gpu has this",
		},
		"pool":       {simulated("vllm-pool", "replicas = 4\nmax_replicas = 3\nkv_tokens = 10"), "c.toml:6: vendors[a].sim.max_replicas: got 3, want from replicas to 64\nc.toml:7: vendors[a].sim.kv_tokens: got 10, want from 1000 to 100000000"},
		"crash":      {simulated("naive-gpu", "crash = 2"), "c.toml:5: vendors[a].sim.crash: got 2, want a part from 0 to 1"},
		"misspelled": {simulated("limited", "limit_mod = \"queue\""), "c.toml:5: vendors[a].sim.limit_mod: unknown key (did you mean \"limit_mode\"?)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(c.file), os.Getenv)
			if err == nil || strings.TrimSpace(err.Error()) != c.want {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}
