package config

import (
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // drill.timezone must work in a container without a zone database

	"baton/engine/config/strict"
)

// validation checks a configuration and blames the lines of its file.
type validation struct {
	doc  *strict.Document
	made bool // made in code: there is no file that could be silent
	errs Errors
}

// Complete fills in the defaults of a configuration made in code, where absent
// is the zero value, and validates it.
func (c *Config) Complete() error {
	v := &validation{doc: &strict.Document{}, made: true}
	v.complete(c)
	v.config(c)
	return v.errs.Err()
}

// Validate reports everything that is wrong with a complete configuration. Its
// error is of type [Errors].
func (c *Config) Validate() error {
	v := &validation{doc: &strict.Document{File: c.Path}, made: true}
	v.config(c)
	return v.errs.Err()
}

// given says whether a key was set: by the file, or in code to more than zero.
func (v *validation) given(path string, set bool) bool {
	if v.made {
		return set
	}
	return v.doc.Has(path)
}

func (v *validation) fault(path, value, rule string) {
	if !v.doc.Wrong(path) {
		v.errs = append(v.errs, v.doc.Mistake(path, value, rule))
	}
}

// want blames a value that breaks its rule.
func (v *validation) want(ok bool, path string, value any, rule string) {
	if ok {
		return
	}
	switch d := value.(type) {
	case time.Duration:
		value = d.String()
	case Bytes:
		value = d.String()
	}
	v.fault(path, strict.Show(value), rule)
}

// oneOf blames a word that is none of the known ones.
func (v *validation) oneOf(path, word string, known ...string) {
	if slices.Contains(known, word) || v.doc.Wrong(path) {
		return
	}
	rule := strings.Join(known, ", ")
	if len(known) == 2 {
		rule = known[0] + " or " + known[1]
	}
	m := v.doc.Mistake(path, strict.Show(word), rule)
	m.Nearest = strict.Nearest(word, known)
	v.errs = append(v.errs, m)
}

func (v *validation) positive(path string, d time.Duration) {
	v.want(d > 0, path, d, "more than 0")
}

func (v *validation) notNegative(path string, d time.Duration) {
	v.want(d >= 0, path, d, "0 or more")
}

func (v *validation) atLeast(path string, n, least int) {
	v.want(n >= least, path, n, "at least "+strconv.Itoa(least))
}

func (v *validation) part(path string, f float64) {
	v.want(f >= 0 && f <= 1, path, f, "a part from 0 to 1")
}

func (v *validation) config(c *Config) {
	v.gateway(c)
	v.clients(c)
	v.console(c)
	v.routing(&c.Routing)
	v.clocks(c)
	v.drill(&c.Drill)
	v.ledger(&c.Ledger)
	v.vendors(c)
	v.rates(c)
	v.models(c)
}

func (v *validation) gateway(c *Config) {
	g := &c.Gateway
	if host, ok := v.address("gateway.listen", g.Listen); ok && !loopbackHost(host) && len(c.Clients) == 0 {
		v.fault("gateway.listen", strict.Show(g.Listen), "an address on loopback, or [[clients]] with keys: off loopback anyone could spend the vendors' money")
	}
	if host, ok := v.address("control.listen", c.Control.Listen); ok && !loopbackHost(host) {
		v.fault("control.listen", strict.Show(c.Control.Listen), "an address on loopback: the control API is never served to a network")
	}
	if _, port, err := net.SplitHostPort(g.Listen); err == nil && port != "0" {
		v.want(g.Listen != c.Control.Listen, "control.listen", c.Control.Listen, "another address than gateway.listen")
	}
	v.want(g.MaxBody > 0, "gateway.max_body", g.MaxBody, "more than 0")
	v.want(g.Buffer >= 0, "gateway.buffer", g.Buffer, "0 or more")
	v.atLeast("gateway.max_in_flight", g.MaxInFlight, 1)
	v.positive("gateway.deadline", g.Deadline)
	v.notNegative("gateway.grace", g.Grace)
}

// address checks host:port; port 0 is any free one.
func (v *validation) address(path, listen string) (host string, ok bool) {
	host, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	v.want(err == nil, path, listen, "host:port with a port from 0 to 65535")
	return host, err == nil
}

func clientPath(i int) string { return strict.Element("clients", i) }

func (v *validation) clients(c *Config) {
	names, keys := map[string]int{}, map[string]int{}
	for i := range c.Clients {
		cl, at := &c.Clients[i], clientPath(i)
		v.named(at, cl.Name, names, i, "clients")
		v.oneOf(at+".lane", cl.Lane, "interactive", "batch")
		key := cl.Key.Reveal()
		if key == "" && (v.made || !v.doc.Has(at+".key")) {
			v.fault(at+".key", "", "a client needs a key: env:NAME or file:PATH")
		}
		if key == "" || key == unresolved {
			continue
		}
		if _, twice := keys[key]; twice {
			v.fault(at+".key", "", "another client has the same key")
		}
		keys[key] = i
	}
}

// named checks that a table has a name, and one of its own.
func (v *validation) named(at, name string, seen map[string]int, i int, array string) {
	if name == "" {
		v.fault(at+".name", "", "must be given")
		return
	}
	v.want(!hasControl(name), at+".name", name, "no control characters")
	if first, twice := seen[name]; twice {
		rule := "another name"
		if line := v.doc.Line(strict.Element(array, first) + ".name"); line > 0 {
			rule += ": line " + strconv.Itoa(line) + " has this one"
		}
		v.fault(at+".name", strict.Show(name), rule)
		return
	}
	seen[name] = i
}

// hasControl says whether a text would disturb a terminal or a header.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}

var environmentName = regexp.MustCompile(`^[A-Z][A-Z0-9_-]{0,15}$`)

func (v *validation) console(c *Config) {
	env := c.Console.Environment
	v.want(environmentName.MatchString(env), "console.environment", env, `one word such as "DEMO", "STAGING" or "PROD", 16 letters at most`)
	if strings.HasPrefix(env, EnvProd) {
		v.oneOf("console.environment", env, EnvProd) // PRODUCTION would start unlocked
	}
	v.oneOf("console.apply", c.Console.Apply, "release", "enter")
	v.oneOf("console.theme", c.Console.Theme, "auto", "dark", "light", "mono")
	v.oneOf("console.lang", c.Console.Lang, "auto", "en", "zh")
	v.want(c.Demo.RPS >= 0, "demo.rps", c.Demo.RPS, "0 or more")
	v.part("demo.batch", c.Demo.Batch)
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]*$")

const attemptsMax = 20

func (v *validation) routing(r *Routing) {
	v.oneOf("routing.mode", r.Mode, "steer", "observe")
	v.oneOf("routing.failover", r.Failover, "auto", "manual")
	v.want(r.Tick >= 100*time.Millisecond && r.Tick <= time.Minute, "routing.tick", r.Tick, "from 100ms to 1m")
	v.positive("routing.slo_p90", r.SLOP90)
	v.positive("routing.slo_p99", r.SLOP99)
	v.want(r.SLOP99 >= r.SLOP90, "routing.slo_p99", r.SLOP99, "slo_p90 ("+r.SLOP90.String()+") or more")
	v.want(r.Attempts >= 1 && r.Attempts <= attemptsMax, "routing.attempts", r.Attempts, "from 1 to 20")
	v.part("routing.retry_budget", r.RetryBudget)
	v.want(headerName.MatchString(r.Affinity), "routing.affinity", r.Affinity, `"prompt_cache_key", "user" or a header's name`)
	v.oneOf("routing.unknown_models", r.UnknownModels, "pass", "reject")
}

// clocks checks the timeouts and the probe.
func (v *validation) clocks(c *Config) {
	t, p := &c.Timeouts, &c.Probe
	v.positive("timeouts.connect", t.Connect)
	v.positive("timeouts.header", t.Header)
	v.positive("timeouts.first_token", t.FirstToken)
	v.positive("timeouts.idle", t.Idle)
	v.positive("timeouts.whole", t.Whole)
	v.positive("probe.every", p.Every)
	v.want(p.Path == "" || strings.HasPrefix(p.Path, "/") && !strings.ContainsAny(p.Path, " \"<>") && !hasControl(p.Path), "probe.path", p.Path, `a path that begins with "/" and holds no blanks, or "" for no probe`)
	v.atLeast("probe.unhealthy_after", p.UnhealthyAfter, 1)
	v.atLeast("probe.healthy_after", p.HealthyAfter, 1)
}

func (v *validation) drill(d *Drill) {
	v.positive("drill.target", d.Target)
	v.notNegative("drill.baseline", d.Baseline)
	v.notNegative("drill.settle", d.Settle)
	v.positive("drill.hold", d.Hold)
	v.atLeast("drill.min_requests", d.MinRequests, 0)
	v.part("drill.success", d.Success)
	v.part("drill.abort_below", d.AbortBelow)
	v.want(d.AbortBelow <= d.Success, "drill.abort_below", d.AbortBelow, "success ("+strict.Show(d.Success)+") or less")
	v.atLeast("drill.max_failed", d.MaxFailed, 0)
	v.want(d.MaxCost >= 0, "drill.max_cost", d.MaxCost, "0 or more")
	_, err := time.LoadLocation(d.Timezone)
	v.want(err == nil && d.Timezone != "", "drill.timezone", d.Timezone, `a time zone such as "Asia/Shanghai" or "UTC"`)
	for i, b := range d.Blackout {
		v.want(isBlackout(b), strict.Element("drill.blackout", i), b, `a date "2026-10-01" or a range "2026-10-01..2026-10-07"`)
	}
	for i, s := range d.Schedule {
		at := strict.Element("drill.schedule", i)
		v.want(isCron(s.Cron), at+".cron", s.Cron, `five fields: minute hour day month weekday, such as "0 10 * * 2"`)
		v.want(scenarioName.MatchString(s.Scenario), at+".scenario", s.Scenario, `a scenario's name, such as "kill-primary"`)
		v.want(s.Jitter >= 0 && s.Jitter <= 12*time.Hour, at+".jitter", s.Jitter, "from 0 to 12h")
	}
}

var scenarioName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
