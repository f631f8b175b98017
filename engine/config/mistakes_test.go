package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// two are a primary and a secondary; lines of a case come after them, from line 7.
const two = "[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\n"

func TestParse_NamesLineKeyAndRuleOfEveryMistake(t *testing.T) {
	t.Setenv("BATON_UNUSED", "")
	for name, tc := range map[string]struct{ text, want string }{
		"no vendors":        {"# nothing\n", "c.toml:1: vendors: a configuration needs at least one [[vendors]]"},
		"empty":             {"", "c.toml:1: vendors: a configuration needs at least one [[vendors]]"},
		"not TOML":          {"[gateway]\nlisten = = 3\n", "c.toml:2: not TOML: expected value but found '=' instead"},
		"a key twice":       {two + "[demo]\nrps = 1\nrps = 2", "c.toml:9: not TOML: Key 'demo.rps' has already been defined."},
		"unknown key":       {two + "[gateway]\nlissen = 1", `c.toml:8: gateway.lissen: unknown key (did you mean "listen"?)`},
		"unknown table":     {two + "[gatewy]\nlisten = 1", `c.toml:7: gatewy: unknown key (did you mean "gateway"?)`},
		"the wrong table":   {two + "[gateway]\nslo_p90 = \"1s\"", `c.toml:8: gateway.slo_p90: unknown key (did you mean "routing.slo_p90"?)`},
		"the wrong case":    {two + "[gateway]\nListen = \"127.0.0.1:1\"", `c.toml:8: gateway.Listen: unknown key (did you mean "listen"?)`},
		"in the 2nd vendor": {"[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\n[[vendors]]\nname = \"b\"\nsimulat = \"elastic\"\n", "c.toml:4: vendors[b]: needs base_url or simulate\nc.toml:6: vendors[b].simulat: unknown key (did you mean \"simulate\"?)"},
		"dotted and inline": {two + "gateway.lissen = 1\ndrill = { goal = \"1s\", targt = \"1s\" }", "c.toml:7: vendors[b].gateway: unknown key (known here: api_keys, band, base_url, dialect, label, limit_rps, limits, name, price, published, resume, role, sim, simulate, weight)\nc.toml:8: vendors[b].drill: unknown key (known here: api_keys, band, base_url, dialect, label, limit_rps, limits, name, price, published, resume, role, sim, simulate, weight)"},

		"wrong types": {
			"gateway.deadline = 10\nrouting = { attempts = \"3\", failover_on_filter = 1 }\nconsole.mouse = \"yes\"\ndemo.rps = inf\n" + two,
			"c.toml:1: gateway.deadline: got 10, want a duration in quotes, such as \"10s\"\n" +
				"c.toml:2: routing.attempts: got \"3\", want a whole number\n" +
				"c.toml:2: routing.failover_on_filter: got 1, want true or false\n" +
				"c.toml:3: console.mouse: got \"yes\", want true or false\n" +
				"c.toml:4: demo.rps: got +Inf, want a finite number",
		},
		"gateway": {
			two + "[gateway]\nlisten = \"0.0.0.0:8080\"\nmax_body = \"64 apples\"\nbuffer = \"-1KB\"\nmax_in_flight = 0\ndeadline = \"0s\"\ngrace = \"-1s\"",
			"c.toml:8: gateway.listen: got \"0.0.0.0:8080\", want an address on loopback, or [[clients]] with keys: off loopback anyone could spend the vendors' money\n" +
				"c.toml:9: gateway.max_body: got \"64 apples\", want a size such as \"64MiB\"\n" +
				"c.toml:10: gateway.buffer: got \"-1000B\", want 0 or more\n" +
				"c.toml:11: gateway.max_in_flight: got 0, want at least 1\n" +
				"c.toml:12: gateway.deadline: got \"0s\", want more than 0\n" +
				"c.toml:13: gateway.grace: got \"-1s\", want 0 or more",
		},
		"ports": {
			two + "[gateway]\nlisten = \"127.0.0.1:65536\"\n[control]\nlisten = \"localhost\"",
			"c.toml:8: gateway.listen: got \"127.0.0.1:65536\", want host:port with a port from 0 to 65535\n" +
				"c.toml:10: control.listen: got \"localhost\", want host:port with a port from 0 to 65535",
		},
		"no host is every host":     {two + "[gateway]\nlisten = \":8080\"", "c.toml:8: gateway.listen: got \":8080\", want an address on loopback, or [[clients]] with keys: off loopback anyone could spend the vendors' money"},
		"control off loopback":      {two + "[control]\nlisten = \"10.0.0.1:8089\"\n[[clients]]\nname = \"c\"\nkey = \"k\"", "c.toml:8: control.listen: got \"10.0.0.1:8089\", want an address on loopback: the control API is never served to a network"},
		"one address twice":         {two + "[control]\nlisten = \"127.0.0.1:8080\"", "c.toml:8: control.listen: got \"127.0.0.1:8080\", want another address than gateway.listen"},
		"clients":                   {two + "[[clients]]\nname = \"c\"\nkey = \"k\"\nlane = \"bach\"\n[[clients]]\nname = \"c\"\nkey = \"l\"\n[[clients]]\nkey = \"k\"", "c.toml:10: clients[c].lane: got \"bach\", want interactive or batch (did you mean \"batch\"?)\nc.toml:12: clients[c].name: got \"c\", want another name: line 8 has this one\nc.toml:14: clients[2].name: must be given\nc.toml:15: clients[2].key: another client has the same key"},
		"a client without a key":    {two + "[[clients]]\nname = \"c\"\n[[clients]]\nname = \"d\"\nkey = \"\"", "c.toml:7: clients[c].key: a client needs a key: env:NAME or file:PATH\nc.toml:11: clients[d].key: must not be empty; write env:NAME or file:PATH"},
		"console":                   {two + "[console]\nenvironment = \"production\"\napply = \"Enter\"\ntheme = \"blue\"\nlang = \"de\"", "c.toml:8: console.environment: got \"PRODUCTION\", want PROD\nc.toml:9: console.apply: got \"Enter\", want release or enter (did you mean \"enter\"?)\nc.toml:10: console.theme: got \"blue\", want auto, dark, light, mono\nc.toml:11: console.lang: got \"de\", want auto, en, zh"},
		"demo":                      {two + "[demo]\nrps = -1\nbatch = 1.5", "c.toml:8: demo.rps: got -1, want 0 or more\nc.toml:9: demo.batch: got 1.5, want a part from 0 to 1"},
		"two keys alike":            {two + "api_keys = [\"k1\", \"k1\"]", "c.toml:7: vendors[b].api_keys[1]: must be another key than those before it"},
		"nearly a reference":        {two + "api_keys = [\"ENV:KEY\"]", "c.toml:7: vendors[b].api_keys[0]: looks like a reference; those are written env:NAME or file:PATH, in lower case"},
		"routing":                   {two + "[routing]\nmode = \"drive\"\nfailover = \"manuel\"\ntick = \"0s\"\nslo_p90 = \"3s\"\nslo_p99 = \"2s\"\nattempts = 0\nretry_budget = -0.1\naffinity = \"two words\"\nunknown_models = \"drop\"", "c.toml:8: routing.mode: got \"drive\", want steer or observe\nc.toml:9: routing.failover: got \"manuel\", want auto or manual (did you mean \"manual\"?)\nc.toml:10: routing.tick: got \"0s\", want from 100ms to 1m\nc.toml:12: routing.slo_p99: got \"2s\", want slo_p90 (3s) or more\nc.toml:13: routing.attempts: got 0, want from 1 to 20\nc.toml:14: routing.retry_budget: got -0.1, want a part from 0 to 1\nc.toml:15: routing.affinity: got \"two words\", want \"prompt_cache_key\", \"user\" or a header's name\nc.toml:16: routing.unknown_models: got \"drop\", want pass or reject"},
		"timeouts":                  {two + "[timeouts]\nconnect = \"0s\"\nheader = \"-1s\"\nfirst_token = \"0s\"\nidle = \"0s\"\nwhole = \"0s\"", "c.toml:8: timeouts.connect: got \"0s\", want more than 0\nc.toml:9: timeouts.header: got \"-1s\", want more than 0\nc.toml:10: timeouts.first_token: got \"0s\", want more than 0\nc.toml:11: timeouts.idle: got \"0s\", want more than 0\nc.toml:12: timeouts.whole: got \"0s\", want more than 0"},
		"probe":                     {two + "[probe]\nevery = \"0s\"\npath = \"models\"\nunhealthy_after = 0\nhealthy_after = -1", "c.toml:8: probe.every: got \"0s\", want more than 0\nc.toml:9: probe.path: got \"models\", want a path that begins with \"/\" and holds no blanks, or \"\" for no probe\nc.toml:10: probe.unhealthy_after: got 0, want at least 1\nc.toml:11: probe.healthy_after: got -1, want at least 1"},
		"drill":                     {two + "[drill]\ntarget = \"0s\"\nbaseline = \"-1s\"\nsettle = \"-1s\"\nhold = \"0s\"\nmin_requests = -1\nsuccess = 0.9\nabort_below = 0.95\nmax_failed = -1\nmax_cost = -1\ntimezone = \"Asia/Nowhere\"", "c.toml:8: drill.target: got \"0s\", want more than 0\nc.toml:9: drill.baseline: got \"-1s\", want 0 or more\nc.toml:10: drill.settle: got \"-1s\", want 0 or more\nc.toml:11: drill.hold: got \"0s\", want more than 0\nc.toml:12: drill.min_requests: got -1, want at least 0\nc.toml:14: drill.abort_below: got 0.95, want success (0.9) or less\nc.toml:15: drill.max_failed: got -1, want at least 0\nc.toml:16: drill.max_cost: got -1, want 0 or more\nc.toml:17: drill.timezone: got \"Asia/Nowhere\", want a time zone such as \"Asia/Shanghai\" or \"UTC\""},
		"dates and schedules":       {two + "[drill]\nblackout = [\n \"2026-02-30\",\n \"2026-10-07..2026-10-01\"]\nschedule = [{ cron = \"0 10 * *\", scenario = \"kill-primary\" },\n { cron = \"60 10 * * 2\", scenario = \"\" }]", "c.toml:9: drill.blackout[0]: got \"2026-02-30\", want a date \"2026-10-01\" or a range \"2026-10-01..2026-10-07\"\nc.toml:10: drill.blackout[1]: got \"2026-10-07..2026-10-01\", want a date \"2026-10-01\" or a range \"2026-10-01..2026-10-07\"\nc.toml:11: drill.schedule[0].cron: got \"0 10 * *\", want five fields: minute hour day month weekday, such as \"0 10 * * 2\"\nc.toml:12: drill.schedule[1].cron: got \"60 10 * * 2\", want five fields: minute hour day month weekday, such as \"0 10 * * 2\"\nc.toml:12: drill.schedule[1].scenario: got \"\", want a scenario's name, such as \"kill-primary\""},
		"currency":                  {two + "[ledger]\ncurrency = \"yuan\"", "c.toml:8: ledger.currency: got \"yuan\", want three capital letters, such as \"CNY\""},
		"vendor names":              {"[[vendors]]\nname = \"A_b\"\nsimulate = \"elastic\"\n[[vendors]]\nname = \"auto\"\nsimulate = \"elastic\"\n[[vendors]]\nsimulate = \"elastic\"\n", "c.toml:2: vendors[A_b].name: got \"A_b\", want lower-case letters, digits and dashes\nc.toml:5: vendors[auto].name: got \"auto\", want another name: name, context and auto have a meaning of their own\nc.toml:7: vendors[2].name: must be given"},
		"one name twice":            {two + "[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"", "c.toml:8: vendors[a].name: got \"a\", want another name: line 2 has this one"},
		"two primaries":             {two + "role = \"primary\"\n[[vendors]]\nname = \"c\"\nrole = \"primary\"\nsimulate = \"elastic\"", "c.toml:10: vendors[c].role: got \"primary\", want one primary only: \"b\" is it"},
		"no primary":                {"[[vendors]]\nname = \"a\"\nrole = \"secondary\"\nsimulate = \"elastic\"", "c.toml:3: vendors[a].role: one vendor must be the primary"},
		"words":                     {two + "role = \"backup\"\ndialect = \"baillian\"\nresume = \"yes\"\nlimit_rps = -1", "c.toml:7: vendors[b].role: got \"backup\", want primary, secondary, candidate\nc.toml:8: vendors[b].dialect: got \"baillian\", want openai, bailian, deepseek, siliconflow, zhipu, moonshot, ark, vllm, azure (did you mean \"bailian\"?)\nc.toml:9: vendors[b].resume: got \"yes\", want prefill\nc.toml:10: vendors[b].limit_rps: got -1, want 0 (learn it) or more"},
		"simulate":                  {"[[vendors]]\nname = \"a\"\nsimulate = \"elastik\"\n[vendors.sim]\nerrors = 2\nlimit = -1\nseed = -1\ncapacity = -1\nfirst_token = \"-1s\"", "c.toml:3: vendors[a].simulate: got \"elastik\", want elastic, limited, naive-gpu, vllm-pool, faults (did you mean \"elastic\"?)\nc.toml:5: vendors[a].sim.errors: got 2, want a part from 0 to 1\nc.toml:6: vendors[a].sim.limit: got -1, want from 0 to 1000000 requests per second\nc.toml:7: vendors[a].sim.seed: got -1, want a whole number, 0 or more\nc.toml:8: vendors[a].sim.capacity: got -1, want from 0 to 1000000\nc.toml:9: vendors[a].sim.first_token: got \"-1s\", want from 0 to 10m"},
		"neither and both":          {"[[vendors]]\nname = \"a\"\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\nbase_url = \"http://localhost:1/v1\"", "c.toml:1: vendors[a]: needs base_url or simulate\nc.toml:5: vendors[b].simulate: base_url and simulate exclude each other"},
		"URLs":                      {real("ftp://h/v1") + "[[vendors]]\nname = \"b\"\nbase_url = \"https:///v1\"\n[[vendors]]\nname = \"c\"\nbase_url = \"https://me:pw@h/v1#x\"\n[[vendors]]\nname = \"d\"\nbase_url = \"api.example.com/v1?key=s3cret\"\n[[vendors]]\nname = \"e\"\nbase_url = \"http://h:99999\"\nsim = {}", "c.toml:3: vendors[r].base_url: got \"ftp://h/v1\", want a URL such as \"https://api.example.com/v1\"\nc.toml:6: vendors[b].base_url: got \"https:///v1\", want a URL such as \"https://api.example.com/v1\"\nc.toml:9: vendors[c].base_url: must hold no user or password; keys go into api_keys\nc.toml:9: vendors[c].base_url: must hold no #fragment\nc.toml:12: vendors[d].base_url: got \"api.example.com/v1\", want a URL such as \"https://api.example.com/v1\"\nc.toml:15: vendors[e].base_url: got \"99999\", want a port from 1 to 65535\nc.toml:16: vendors[e].sim: only a vendor with simulate has these"},
		"weights off a hundred":     {"[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\nweight = 70\n[[vendors]]\nname = \"b\"\nweight = 25\nsimulate = \"elastic\"", "c.toml:4: vendors[a].weight: the weights of all vendors must sum to 100, not 95"},
		"one weight of three":       {two + "weight = 101\n[[vendors]]\nname = \"c\"\nsimulate = \"elastic\"", "c.toml:7: vendors[b].weight: got 101, want a percentage from 0 to 100"},
		"weights of candidates":     {two + "[[vendors]]\nname = \"c\"\nrole = \"candidate\"\nweight = 5\nband = [0, 10]\nsimulate = \"elastic\"", "c.toml:10: vendors[c].weight: got 5, want no weight: a candidate carries no traffic\nc.toml:11: vendors[c].band: got [0, 10], want no band: a candidate carries no traffic"},
		"outside its band":          {two + "weight = 40\nband = [20, 30]", "c.toml:7: vendors[b].weight: got 40, want a weight inside the band [20, 30]"},
		"default outside its band":  {two + "band = [30, 50]", "c.toml:7: vendors[b].band: got [30, 50], want a band around the weight, which by default is 25"},
		"band order and size":       {"[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\nband = [80, 70]\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\nband = [20, 25, 30]\n[[vendors]]\nname = \"c\"\nsimulate = \"elastic\"\nband = [-5, 101]\n[[vendors]]\nname = \"d\"\nsimulate = \"elastic\"\nband = []", "c.toml:4: vendors[a].band: got [80, 70], want the lower bound first\nc.toml:8: vendors[b].band: got [20, 25, 30], want two numbers, as in [70, 80]\nc.toml:12: vendors[c].band: got [-5, 101], want percentages from 0 to 100\nc.toml:16: vendors[d].band: got [], want two numbers, as in [70, 80]"},
		"bands under a hundred":     {"[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\nweight = 50\nband = [40, 60]\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\nweight = 30\nband = [20, 30]", "c.toml:4: vendors[a].weight: the weights of all vendors must sum to 100, not 80\nc.toml:5: vendors[a].band: the bands cannot sum to 100: at least 60, at most 90"},
		"prices":                    {real("https://h/v1") + "[[vendors.price]]\ninput = -1\nbatch = 2\nabove = -1\nfrom = \"soon\"\nhours = \"8-9\"\n[[vendors.price]]\noutputs = 2", "c.toml:5: vendors[r].price[0].input: got -1, want 0 or more per million tokens\nc.toml:6: vendors[r].price[0].batch: got 2, want a part from 0 to 1 of the price\nc.toml:7: vendors[r].price[0].above: got -1, want at least 0\nc.toml:8: vendors[r].price[0].from: got \"soon\", want a date such as \"2026-08-16\"\nc.toml:9: vendors[r].price[0].hours: got \"8-9\", want hours such as \"00:30-08:30\"\nc.toml:11: vendors[r].price[1].outputs: unknown key (did you mean \"output\"?)"},
		"models":                    {two + "[[models]]\nname = \"m\"\na = \"x\"\nbb = \"y\"\ncontext = { a = 0, lanyun = 1 }\n[[models]]\nname = \"m\"\nb = \"\"\n[[models]]\na = 3", "c.toml:10: models[m].bb: no vendor has this name (vendors: a, b) (did you mean \"b\"?)\nc.toml:11: models[m].context.a: got 0, want a context length in tokens, more than 0\nc.toml:11: models[m].context.lanyun: no vendor has this name (vendors: a, b)\nc.toml:13: models[m].name: got \"m\", want another name: line 8 has this one\nc.toml:14: models[m].b: got \"\", want the model's name at b\nc.toml:15: models[2].name: must be given\nc.toml:16: models[2].a: got 3, want a string in quotes"},
		"simulated beside real":     {two + real("https://h/v1"), "c.toml:3: vendors[a].simulate: a simulated vendor beside a real one needs console.environment = \"DEMO\"\nc.toml:6: vendors[b].simulate: a simulated vendor beside a real one needs console.environment = \"DEMO\""},
		"an unset variable":         {real("https://h/v1") + "api_keys = [\n  \"env:BATON_UNUSED\",\n  \"env:sk-pasted-by-accident\"]", "c.toml:5: vendors[r].api_keys[0]: env:BATON_UNUSED is not set or empty\nc.toml:6: vendors[r].api_keys[1]: env:**** is not set or empty"},
		"an unreadable file":        {real("https://h/v1") + "api_keys = [\"file:/nonexistent/key\", \"file:sk-pasted\", \"\", \"two\\nlines\"]", "c.toml:4: vendors[r].api_keys[0]: file:/nonexistent/key cannot be read: no such file or directory\nc.toml:4: vendors[r].api_keys[1]: file:**** cannot be read: no such file or directory\nc.toml:4: vendors[r].api_keys[2]: must not be empty; write env:NAME or file:PATH\nc.toml:4: vendors[r].api_keys[3]: must be one line without control characters"},
		"mistakes of several kinds": {"[gateway]\nlissen = 1\n[routing]\nattempts = 0\n" + two + "weight = \"x\"", "c.toml:2: gateway.lissen: unknown key (did you mean \"listen\"?)\nc.toml:4: routing.attempts: got 0, want from 1 to 20\nc.toml:11: vendors[b].weight: got \"x\", want a finite number"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Parse("c.toml", []byte(tc.text), os.Getenv)
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			if got := err.Error(); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if errs := Errors(nil); !errors.As(err, &errs) || len(errs) != strings.Count(tc.want, "\n")+1 {
				t.Errorf("%T with %d mistakes", err, len(errs))
			}
		})
	}
}

func real(url string) string { return "[[vendors]]\nname = \"r\"\nbase_url = \"" + url + "\"\n" }

func TestParse_AcceptsWhatOnlyLooksWrong(t *testing.T) {
	for name, text := range map[string]string{
		"off loopback with clients":        two + "[gateway]\nlisten = \":8080\"\n[[clients]]\nname = \"c\"\nkey = \"k\"",
		"any free port, twice":             two + "[gateway]\nlisten = \"127.0.0.1:0\"\n[control]\nlisten = \"127.0.0.1:0\"",
		"simulated beside real, in a demo": two + real("https://h/v1") + "[console]\nenvironment = \"DEMO\"",
		"simulated beside loopback":        two + real("http://127.0.0.1:1/v1"),
		"zero where zero is possible":      two + "[gateway]\nbuffer = 0\ngrace = \"0s\"\n[demo]\nrps = 0\nbatch = 0\n[routing]\nretry_budget = 0\n[drill]\nbaseline = \"0s\"\nsettle = \"0s\"\nmin_requests = 0\nmax_failed = 0",
		"no probe":                         two + "[probe]\npath = \"\"",
		"a vendor that asks no key":        real("http://10.0.0.7:8000/v1"),
		"a byte order mark and CRLF":       "\ufeff" + strings.ReplaceAll(two, "\n", "\r\n"),
		"schedules":                        two + "[drill]\nschedule = [{ cron = \"*/15 9-18/2 1,15 jan-jun mon-fri\", scenario = \"kill\" }]",
	} {
		if _, err := Parse("c.toml", []byte(text), noEnv); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParse_SecretFilesAreRelativeToTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "keys", "k"), "sk-file\r\n")
	c, err := Parse(filepath.Join(dir, "c.toml"), []byte(real("https://h/v1")+"api_keys = [\"file:keys/k\"]"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Vendors[0].APIKeys[0]; k.Reveal() != "sk-file" || k.Literal() || k.String() != "file:****" {
		t.Errorf("got %q from %s", k.Reveal(), k)
	}
}

func TestIsCron(t *testing.T) {
	for text, want := range map[string]bool{
		"0 10 * * 2": true, "  0   10 * *  2 ": true, "*/5 * * * *": true, "0-30/10 * * * *": true, "1,2,3 * 1 12 7": true, "* * * DEC sun": true,
		"": false, "* * * *": false, "* * * * * *": false, "60 * * * *": false, "* 24 * * *": false, "* * 0 * *": false, "* * * 13 *": false, "* * * * 8": false,
		"*/0 * * * *": false, "5/2 * * * *": false, "3-1 * * * *": false, "a * * * *": false, ", * * * *": false, "-1 * * * *": false, "@daily": false, "* * * * mon-": false,
	} {
		if got := isCron(text); got != want {
			t.Errorf("isCron(%q) = %v", text, got)
		}
	}
}
