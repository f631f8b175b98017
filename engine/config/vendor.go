package config

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"baton/engine/config/strict"
)

var (
	vendorName    = regexp.MustCompile(`^[a-z0-9-]+$`)
	reservedNames = []string{"name", "context", "auto"} // keys of [[models]], and a word of the weights command
)

func vendorPath(i int) string { return strict.Element("vendors", i) }

func (v *validation) vendors(c *Config) {
	if len(c.Vendors) == 0 {
		v.fault("vendors", "", "a configuration needs at least one [[vendors]]")
		return
	}
	names := map[string]int{}
	for i := range c.Vendors {
		ven, at := &c.Vendors[i], vendorPath(i)
		v.named(at, ven.Name, names, i, "vendors")
		if ven.Name != "" {
			v.want(vendorName.MatchString(ven.Name), at+".name", ven.Name, "lower-case letters, digits and dashes")
			v.want(!slices.Contains(reservedNames, ven.Name), at+".name", ven.Name, "another name: name, context and auto have a meaning of their own")
		}
		v.vendor(at, ven)
	}
	v.onePrimary(c)
	v.bands(c)
	v.mixed(c)
}

// nameMax bounds names and labels: they stand on the screen, in URLs and metrics.
const nameMax = 40

func (v *validation) vendor(at string, ven *Vendor) {
	v.want(len(ven.Name) <= nameMax, at+".name", ven.Name, "at most 40 letters")
	v.want(!hasControl(ven.Label) && len([]rune(ven.Label)) <= nameMax, at+".label", ven.Label, "at most 40 letters, none of them a control character")
	v.oneOf(at+".role", ven.Role, Roles...)
	v.oneOf(at+".dialect", ven.Dialect, Dialects...)
	v.endpoint(at, ven)
	v.want(ven.LimitRPS >= 0, at+".limit_rps", ven.LimitRPS, "0 (learn it) or more")
	if ven.Resume != "" {
		v.oneOf(at+".resume", ven.Resume, "prefill")
	}
	for i := range ven.Price {
		v.price(strict.Element(at+".price", i), &ven.Price[i])
	}
	for i := range ven.Limits {
		v.limitOf(strict.Element(at+".limits", i), &ven.Limits[i])
	}
	v.notNegative(at+".published.p90_first_token", ven.Published.P90FirstToken)
	v.sim(at+".sim", ven.Simulate, &ven.Sim)
}

// endpoint checks that a vendor is somewhere: behind a URL or simulated.
func (v *validation) endpoint(at string, ven *Vendor) {
	switch {
	case ven.BaseURL == "" && ven.Simulate == "":
		if !v.doc.Wrong(at+".base_url") && !v.doc.Wrong(at+".simulate") {
			v.fault(at, "", "needs base_url or simulate")
		}
	case ven.BaseURL != "" && ven.Simulate != "":
		v.fault(at+".simulate", "", "base_url and simulate exclude each other")
	case ven.Simulate != "":
		v.oneOf(at+".simulate", ven.Simulate, Profiles...)
	default:
		v.baseURL(at+".base_url", ven.BaseURL)
		if v.doc.Has(at + ".sim") {
			v.fault(at+".sim", "", "only a vendor with simulate has these")
		}
	}
}

// baseURL shows no more of a bad URL than its scheme and host: there may be a
// password or a key in it.
func (v *validation) baseURL(path, raw string) {
	const rule = `a URL such as "https://api.example.com/v1"`
	u, err := url.Parse(raw)
	if err != nil {
		v.fault(path, "", "must be "+rule)
		return
	}
	shown := strict.Show((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		if u.User != nil || u.Opaque != "" {
			shown = ""
		}
		v.fault(path, shown, orMust(shown, rule))
		return
	}
	if u.User != nil {
		v.fault(path, "", "must hold no user or password; keys go into api_keys")
	}
	if u.Fragment != "" {
		v.fault(path, "", "must hold no #fragment")
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		v.want(err == nil && n > 0, path, p, "a port from 1 to 65535")
	}
}

// orMust makes a sentence of a rule that stands without a value.
func orMust(shown, rule string) string {
	if shown == "" {
		return "must be " + rule
	}
	return rule
}

func (v *validation) onePrimary(c *Config) {
	first := -1
	for i := range c.Vendors {
		if c.Vendors[i].Role != Primary {
			continue
		}
		if first >= 0 {
			v.fault(vendorPath(i)+".role", strict.Show(Primary), fmt.Sprintf("one primary only: %q is it", c.Vendors[first].Name))
			continue
		}
		first = i
	}
	if first < 0 && !v.anyWrong(c, ".role") {
		v.fault(vendorPath(0)+".role", "", "one vendor must be the primary")
	}
}

// anyWrong says whether a key could not be decoded at some vendor, so that a
// rule over all vendors has nothing to judge.
func (v *validation) anyWrong(c *Config, key string) bool {
	for i := range c.Vendors {
		if v.doc.Wrong(vendorPath(i) + key) {
			return true
		}
	}
	return v.doc.Wrong("vendors")
}

// bands checks the weights, their bands and that both can come to a hundred.
func (v *validation) bands(c *Config) {
	routed := c.routed()
	sum, low, high := 0.0, 0.0, 0.0
	sound := true
	for _, i := range routed {
		ven, at := &c.Vendors[i], vendorPath(i)
		ok := v.weight(at, ven)
		sound = sound && ok
		sum += ven.Weight
		if ok {
			low += ven.Band[0]
			high += ven.Band[1]
		}
	}
	for i := range c.Vendors {
		ven, at := &c.Vendors[i], vendorPath(i)
		if ven.Role == Candidate {
			v.want(ven.Weight == 0, at+".weight", ven.Weight, "no weight: a candidate carries no traffic")
			if ven.Band != nil {
				v.fault(at+".band", span(ven.Band), "no band: a candidate carries no traffic")
			}
		}
	}
	if !sound || len(routed) == 0 {
		return
	}
	if sum < 100-sumTolerance || sum > 100+sumTolerance {
		v.fault(v.firstWith(routed, ".weight"), "", "the weights of all vendors must sum to 100, not "+figure(sum))
	}
	if low > 100+sumTolerance || high < 100-sumTolerance {
		v.fault(v.firstWith(routed, ".band"), "", fmt.Sprintf("the bands cannot sum to 100: at least %s, at most %s", figure(low), figure(high)))
	}
}

// weight checks one vendor's weight against its band.
func (v *validation) weight(at string, ven *Vendor) bool {
	if v.doc.Wrong(at+".weight") || v.doc.Wrong(at+".role") || v.bandWrong(at, ven.Band) {
		return false
	}
	if len(ven.Band) != 2 {
		v.fault(at+".band", span(ven.Band), "two numbers, as in [70, 80]")
		return false
	}
	low, high := ven.Band[0], ven.Band[1]
	shown := span(ven.Band)
	inRange := ven.Weight >= 0 && ven.Weight <= 100
	v.want(inRange, at+".weight", ven.Weight, "a percentage from 0 to 100")
	switch {
	case low < 0 || high > 100:
		v.fault(at+".band", shown, "percentages from 0 to 100")
	case low > high:
		v.fault(at+".band", shown, "the lower bound first")
	case inRange && (ven.Weight < low-sumTolerance || ven.Weight > high+sumTolerance):
		if v.given(at+".weight", true) {
			v.fault(at+".weight", figure(ven.Weight), "a weight inside the band "+shown)
		} else {
			v.fault(at+".band", shown, "a band around the weight, which by default is "+figure(ven.Weight))
		}
	default:
		return inRange
	}
	return false
}

func (v *validation) bandWrong(at string, band []float64) bool {
	for i := range band {
		if v.doc.Wrong(strict.Element(at+".band", i)) {
			return true
		}
	}
	return v.doc.Wrong(at + ".band")
}

// firstWith is the path of the first vendor that gives the key, else of the first.
func (v *validation) firstWith(vendors []int, key string) string {
	for _, i := range vendors {
		if at := vendorPath(i) + key; v.doc.Has(at) {
			return at
		}
	}
	return vendorPath(vendors[0]) + key
}

func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// span writes a band as the file does.
func span(band []float64) string {
	figures := make([]string, len(band))
	for i, f := range band {
		figures[i] = figure(f)
	}
	return "[" + strings.Join(figures, ", ") + "]"
}

// mixed refuses simulated answers beside real ones, outside a demonstration.
func (v *validation) mixed(c *Config) {
	real := slices.ContainsFunc(c.Vendors, func(ven Vendor) bool { return ven.BaseURL != "" && ven.Real() })
	if !real || c.Console.Environment == EnvDemo {
		return
	}
	for i := range c.Vendors {
		if c.Vendors[i].Simulate != "" {
			v.fault(vendorPath(i)+".simulate", "", "a simulated vendor beside a real one needs console.environment = \"DEMO\"")
		}
	}
}

func (v *validation) models(c *Config) {
	vendors := make([]string, len(c.Vendors))
	for i := range c.Vendors {
		vendors[i] = c.Vendors[i].Name
	}
	names := map[string]int{}
	for i := range c.Models {
		m, at := &c.Models[i], strict.Element("models", i)
		v.named(at, m.Name, names, i, "models")
		for _, vendor := range slices.Sorted(maps.Keys(m.At)) {
			path := strict.Key(at, vendor)
			if v.vendorKnown(path, vendor, vendors) && m.At[vendor] == "" {
				v.fault(path, strict.Show(""), "the model's name at "+vendor)
			}
		}
		for _, vendor := range slices.Sorted(maps.Keys(m.Context)) {
			path := strict.Key(at+".context", vendor)
			if v.vendorKnown(path, vendor, vendors) {
				v.want(m.Context[vendor] > 0, path, m.Context[vendor], "a context length in tokens, more than 0")
			}
		}
	}
}

func (v *validation) vendorKnown(path, vendor string, vendors []string) bool {
	if slices.Contains(vendors, vendor) {
		return true
	}
	if !v.doc.Wrong(path) {
		m := v.doc.Mistake(path, "", "no vendor has this name (vendors: "+strings.Join(vendors, ", ")+")")
		m.Nearest = strict.Nearest(vendor, vendors)
		v.errs = append(v.errs, m)
	}
	return false
}
