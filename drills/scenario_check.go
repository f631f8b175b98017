package drills

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/config/strict"
	"baton/engine/control"
)

const (
	windowMax = 24 * time.Hour
	rpsMax    = 10000
)

var scenarioName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Parse reads a scenario's file. Its error is of type strict.Errors and names
// every mistake with its line.
func Parse(file string, data []byte) (*Scenario, error) {
	s := &Scenario{
		Judge: judgeCutover, Target: targetGiven, Failover: failoverAuto, Restore: restoreAfterHold, Steady: true,
		Load: Load{Batch: 0.25, Stream: 1},
	}
	s.Fault.For = 15 * time.Minute
	doc, errs := strict.Decode(file, data, s)
	if doc == nil {
		return nil, errs
	}
	for i := range s.Steps {
		if f := s.Steps[i].Fault; f != nil && f.For == 0 {
			f.For = 15 * time.Minute
		}
	}
	c := &check{doc: doc, errs: errs}
	if s.Spike != nil {
		c.spikeDefaults(s)
	}
	c.scenario(strings.TrimSuffix(path.Base(file), ".toml"), s)
	c.errs.Sort()
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	s.digest = hex.EncodeToString(sum[:])
	return s, nil
}

// check collects the mistakes of a scenario.
type check struct {
	doc  *strict.Document
	errs strict.Errors
}

// want blames a value that breaks its rule, once.
func (c *check) want(ok bool, key string, value any, rule string) {
	if ok || c.doc.Wrong(key) {
		return
	}
	c.errs = append(c.errs, c.doc.Mistake(key, strict.Show(value), rule))
}

// given blames a key that has to be there.
func (c *check) given(key, value string) bool {
	if value == "" && !c.doc.Wrong(key) {
		c.errs = append(c.errs, c.doc.Mistake(key, "", "is missing"))
	}
	return value != ""
}

func (c *check) oneOf(key, word string, known ...string) {
	if slices.Contains(known, word) || c.doc.Wrong(key) {
		return
	}
	m := c.doc.Mistake(key, strict.Show(word), known[0])
	if len(known) > 1 {
		m.Rule = "one of " + strings.Join(known, ", ")
	}
	m.Nearest = strict.Nearest(word, known)
	c.errs = append(c.errs, m)
}

func (c *check) part(key string, f float64) { c.want(f >= 0 && f <= 1, key, f, "a part from 0 to 1") }

func (c *check) scenario(name string, s *Scenario) {
	if c.given("name", s.Name) {
		c.want(scenarioName.MatchString(s.Name), "name", s.Name, "lower-case letters, digits and dashes")
		c.want(s.Name == name, "name", s.Name, "the file's name, "+strconv.Quote(name))
	}
	c.given("claim", s.Claim)
	c.oneOf("judge", s.Judge, judgeCutover, judgeContained, judgeRecovered)
	c.want(scenarioName.MatchString(s.Target), "target", s.Target, "given, primary, secondary, random or a vendor's name")
	c.oneOf("failover", s.Failover, failoverAuto, failoverManual)
	c.oneOf("restore", s.Restore, restoreAfterHold, restoreByHand)
	c.want(s.Window >= 0 && s.Window <= windowMax, "window", s.Window, "from 0 to 24h")
	c.bounds(s)
	c.load(&s.Load)
	if s.Spike != nil {
		c.spike(s)
		return
	}
	c.want(s.Bounds.Amplification == 0, "bounds.amplification", s.Bounds.Amplification, "a bound of a spike only")
	c.fault("fault", &s.Fault, kindRandom, kindExternal)
	c.steps(s)
	c.together(s)
}

func (c *check) bounds(s *Scenario) {
	b := &s.Bounds
	for key, d := range map[string]time.Duration{"cutover": b.Cutover, "contained": b.Contained, "recovered": b.Recovered, "p99": b.P99, "hurt": b.Hurt} {
		c.want(d >= 0, "bounds."+key, d, "0 or more")
	}
	c.part("bounds.success", b.Success)
	c.want(b.Share >= 0 && b.Share <= 100, "bounds.share", b.Share, "a percentage from 0 to 100")
	if b.Ejections != nil {
		c.want(*b.Ejections >= 0, "bounds.ejections", *b.Ejections, "0 or more")
	}
	c.want(b.Amplification == 0 || b.Amplification >= 1, "bounds.amplification", b.Amplification, "1 or more")
	for key, d := range map[string]time.Duration{judgeCutover: b.Cutover, judgeContained: b.Contained, judgeRecovered: b.Recovered} {
		c.want(d == 0 || key == s.Judge, "bounds."+key, d, "no such bound where judge is "+strconv.Quote(s.Judge))
	}
	c.want(b.Share == 0 || s.Judge == judgeContained, "bounds.share", b.Share, `a bound of judge = "contained" only`)
}

func (c *check) load(l *Load) {
	c.want(l.RPS >= 0 && l.RPS <= rpsMax, "load.rps", l.RPS, "from 0 to "+strconv.Itoa(rpsMax))
	c.part("load.batch", l.Batch)
	c.part("load.stream", l.Stream)
}

// fault checks a fault at a key; others are the words that may stand there beside
// the faults' own.
func (c *check) fault(at string, f *ScenarioFault, others ...string) {
	if c.given(at+".kind", f.Kind) {
		c.oneOf(at+".kind", f.Kind, append(slices.Clone(faultKinds), others...)...)
	}
	if f.Percent != nil {
		c.want(*f.Percent > 0 && *f.Percent <= 100, at+".percent", *f.Percent, "over 0 and at most 100")
	}
	c.want(f.For > 0 && f.For <= faultMax, at+".for", f.For, "over 0 and at most "+control.Duration(faultMax).String())
	c.want(f.Ramp >= 0 && f.Ramp <= f.For, at+".ramp", f.Ramp, "from 0 to "+at+".for")
	if f.Lane != "" {
		c.oneOf(at+".lane", f.Lane, "interactive", "batch")
	}
	c.want(f.Delay >= 0, at+".delay", f.Delay, "0 or more")
	c.want(f.Rate >= 0, at+".rate", f.Rate, "0 or more")
	if f.After != nil {
		c.want(*f.After >= 0, at+".after", *f.After, "0 or more")
	}
	if f.InFlight != "" {
		c.oneOf(at+".in_flight", f.InFlight, "finish", "cut")
	}
}

func (c *check) steps(s *Scenario) {
	before := time.Duration(0)
	for i := range s.Steps {
		st, at := &s.Steps[i], strict.Element("steps", i)
		n := 0
		for _, is := range []bool{st.Restore, st.Fault != nil, st.Weights != nil, st.Mark != ""} {
			if is {
				n++
			}
		}
		c.want(n == 1, at, n, "exactly one of restore, fault, weights and mark")
		c.want(st.At > 0 && st.At <= faultMax, at+".at", st.At, "over 0 and at most "+control.Duration(faultMax).String())
		c.want(st.At >= before, at+".at", st.At, "not before the step above it")
		before = max(before, st.At)
		if st.Fault != nil {
			c.fault(at+".fault", st.Fault)
		}
		if st.Weights != nil {
			sum := 0.0
			for _, w := range st.Weights {
				sum += w
			}
			c.want(math.Abs(sum-100) <= 0.01, at+".weights", sum, "weights that sum to 100")
		}
	}
}

// together checks what does not go with each other.
func (c *check) together(s *Scenario) {
	if s.external() {
		c.want(s.Judge == judgeCutover, "judge", s.Judge, `"cutover": people cut the vendor and put it back`)
		c.want(!c.doc.Has("restore") || s.Restore == restoreByHand, "restore", s.Restore, `"by-hand": baton cannot put back what people cut`)
		c.want(len(s.Steps) == 0, "steps", len(s.Steps), "none: people act")
		s.Restore = restoreByHand
	}
	if s.Judge == judgeRecovered && s.Load.RPS == 0 {
		n := len(s.Steps)
		ends := slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Restore })
		c.want(ends && s.lastFault() < n-1, "steps", n, "a restore after the last fault: what has to recover needs an end")
	}
	if s.Window > 0 || s.Sealed {
		c.want(s.Steady, "steady", s.Steady, "true: a random moment and a seal need a time before the fault")
	}
}
