package draw

// englishPages are the messages of screens of their own.
var englishPages = map[string]string{
	"armed": "ARMED", "armed-bar": "counting down: A cancels, and nothing has happened", "armed-for": "the fault goes into the path to %s when this reaches 0",
	"incident": "INCIDENT", "nobody-ordered": "nobody ordered it", "details": "details", "waits": "waits for you: %s",
	"asks-contained": "contained", "asks-recovered": "served well again", "means-contained": "from the fault until clients are unhurt and %s gets less", "means-short-contained": "until %s hurts no client", "means-recovered": "until clients are proven to be served well after the last restore", "means-short-recovered": "until service is good after it",
	"sealed":       "A sealed drill runs. Which vendor, which fault and when is told when it has ended: until then nobody who watches knows more than clients do.",
	"sealed-short": "a sealed drill runs",
	"success":      "success", "traffic": "TRAFFIC", "last-10s": "last 10 s", "phases": "PHASES", "from-fault": "from the fault", "verifying": "VERIFYING", "checklist": "CHECKLIST", "space-ticks": "Up Down  Space or x ticks", "stops": "WOULD STOP IT", "steps": "STEPS", "acts": "ACTS", "of-about": "of about", "now": "NOW", "judge-story": "each act being as told", "judge-show": "each act being as told",
	"preflight": "PREFLIGHT", "report": "REPORT", "plan": "PLAN", "explained": "WHAT HAPPENS", "file": "FILE", "trend": "TREND", "result": "RESULT",
	"doing-steady": "holding the baseline", "doing-fault": "goes in next", "doing-detected": "nobody has noticed yet", "doing-shifted": "traffic is moving away", "doing-verified": "proving good service", "doing-restored": "R brings %s back", "doing-failback": "ramping back",
	"tab-run": "RUNNING", "tab-last": "LAST", "tab-scenarios": "SCENARIOS", "tab-history": "HISTORY", "tab-schedule": "SCHEDULE",
	"judges": "judged by", "judge-cutover": "cutover", "judge-contained": "containment", "judge-recovered": "recovery", "extra-cost": "extra cost", "people-move": "people move the weights",
	"ready": "ready", "ready-warn": "ready; warnings: %d", "would-refuse": "would be refused:", "arms": "arms it",
	"no-records": "no drill has been run yet", "last-cutovers": "newest first", "no-run": "No drill runs.",
	"coming": "COMING", "cancels": "x cancels it", "freshness": "LAST PASSED", "by-fault": "by vendor and fault", "no-schedule": "nothing is scheduled (drill.schedule in the configuration)", "in": "in %s", "announced": "announced", "is-armed": "armed",
	"never-passed": "never passed", "passed-today": "passed today", "passed-day": "last passed yesterday", "passed-days": "last passed %d days ago",
	"arm-none":  "It begins after a countdown of %s, during which A cancels it, and hits no vendor. A ends it at any time.",
	"arm-title": "Arm the drill %s?", "arm-1": "%s goes into the path to %s after a countdown of %s, during which A cancels it. baton is not told and has to notice; the clock runs against %s.", "arm-lot": "A vendor and a fault drawn by lot, at a moment within the scenario's window. A ends it at any time.",
	"arm-people": "People move the weights in this one: breakers only alarm.", "arm-external": "You cut the vendor yourself; x at the same moment starts the clock.",
	"arm-warn": "Preflight warns: %s.", "arm-short": "%s at %s in %s. A cancels.", "arm-yes": "arm it", "arm-refused": "refused by preflight: %s", "countdown": "counting down: A cancels",
	"cancel-none": "nothing to cancel there", "mark-none": "the drill does not wait for anything", "x-marks": "marked",
	"stale-1": "losing %s was last rehearsed and passed %s: d opens the drills", "never": "never",
	"incident-open": "INCIDENT (nobody ordered it): %s, %s. d opens it", "incident-over": "INCIDENT over: %s, %s. Esc puts it away", "incident-proven": "INCIDENT: %s is out; service without it was good after %s",
	"scheduled-soon": "the drill %s starts in %s: d, SCHEDULE, x cancels it",

	"overrides-title": "OVERRIDES IN FORCE", "no-overrides": "Nothing is set over the controller.", "ends-it": "ends it:", "extends-it": "extends it:", "until-ended": "until ended",
	"override-pin": "pin", "override-drain": "drain", "override-manual": "failover", "override-limit": "limit", "override-disabled": "disabled", "override-fault": "fault", "override-observe": "observe",
	"nothing-extend": "nothing that could be extended is in force", "override-ends": "%s ends in %s: p extends it", "manual-left": "FAILOVER MANUAL for %s: breakers alarm and move nothing", "manual-extend": " (p extends it)", "other-extend": " (p extends the %s, which ends first)", "failover-manual": "FAILOVER MANUAL", "manual-short": "MANUAL", "manual-file": "FAILOVER MANUAL by the configuration: breakers alarm and move nothing",
	"cannot-run": "%q cannot be run from here", "count-overrides": "%d overrides", "count-override": "1 override",
	"shedding": "%s refused for want of room in the last 10 s (%s of them batch), %d waiting",

	"limit-learned": "~%s%s, learned %s", "limit-known": "%s, configured", "per-key": " per key", "per-account": " per account", "ago": "%s ago", "sure": "%s sure", "in-flight-limit": "in flight at most", "waiting": "waiting", "shed": "refused", "because-of": "because of %s: %s", "release": "ended by", "unlimited": "no limit known",
	"limit-concurrency": "%s in flight", "limit-tokens": "%s tokens/min", "limit-slope": "its rate may rise slowly only",

	"costs-title": "COSTS", "no-costs": "no ledger yet", "no-what-if": "what another split would cost is not known yet", "no-prices": "No vendor has a price: [[vendors.price]] in the configuration says what a million tokens cost. Until then attempts are counted and money is not.", "per-hour-by": "SPENT PER HOUR", "per-step-by": "SPENT PER %s", "over": "over %s", "effective": "EFFECTIVE PRICES", "what-if": "WHAT IF", "drag-share": "%s moves %s", "days": "DAYS", "spent": "spent in 24 h", "run-rate": "run rate", "per-day": "per day", "per-month": "per month", "unpriced": "unpriced", "attempts": "attempts",
	"col-in": "in", "col-out": "out", "col-all": "both", "col-call": "per answer", "col-share": "share", "col-cost": "cost", "per-million": "per million tokens", "of-failed": "failed", "of-drills": "drills", "of-probes": "probes", "of-stress": "stress", "estimated": "estimated", "from-now": "from now", "extrapolated": "never observed at such a share", "no-room-at": "over the limit known", "only-what-if": "a what-if: nothing is changed", "example-prices": "simulated vendors: no money is spent", "since-24h": "over 24 h", "missing": "%d attempts are not in it",

	"stress-title": "STRESS", "no-stress": "Stress tests run from an embedded console; elsewhere use `baton stress VENDOR`.", "stress-what": "A ladder of concurrent requests straight at %s, past the gateway: how many times worse it gets.", "stress-start": "runs the ladder", "stress-stop": "stops it", "stress-price": "%s has a price: this costs money.", "stress-title-q": "Stress %s?", "stress-1": "%s, straight at %s; %s. Its limits are met on purpose.", "stress-yes": "run it",
	"ladder": "LADDER", "col-conc": "conc", "latency-conc": "FIRST TOKEN BY CONCURRENCY", "verdict": "VERDICT", "say-to-vendor": "TO THE VENDOR", "stressing": "level %d of %d", "worse": "%sx worse from 1 to %d", "withheld": "withheld: this measured the limiter, not the engine", "stress-failed": "stress: %s", "stress-runs": "a stress test runs already",

	"replay": "REPLAY", "replay-paused": "paused", "replay-only": "a replay: nothing can be changed", "replay-keys": "Space pause  + - speed  [ ] 10 s",
	"sim-knobs": "sim VENDOR NAME=VALUE..., such as sim lanyun first_token=900ms", "need-failover": "failover auto, or failover manual --for 30m", "need-drill": "drill run NAME: there are %s", "bad-task": "%q is no line of the checklist", "bad-knob": "%q is no NAME=VALUE",
}
