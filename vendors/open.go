package vendors

import (
	"errors"
	"fmt"

	"baton/engine/config"
	"baton/vendors/fault"
)

// Options is what Open needs beside the configuration.
type Options struct {
	// SimURL returns the base URL of a simulated vendor's server. It is asked only for
	// vendors that are simulated.
	SimURL func(name string) string
	// Faults are the points where drills strike; nil: none ever does.
	Faults *fault.Set
	// Before is the set that this one follows after a reload; nil: none.
	Before *Set
}

// Set holds the vendors of one configuration.
type Set struct {
	vendors []*Vendor
	byName  map[string]*Vendor
}

// Open makes the vendors of cfg. It connects to nobody. It is the only list of
// vendor kinds: those at a base URL and those simulated at one of this process.
// Its error tells of every vendor that cannot be made.
func Open(cfg *config.Config, o Options) (*Set, error) {
	if o.Faults == nil {
		o.Faults = fault.NewSet()
	}
	s := &Set{byName: make(map[string]*Vendor, len(cfg.Vendors))}
	var errs []error
	for i := range cfg.Vendors {
		v, err := newVendor(cfg, &cfg.Vendors[i], o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.vendors = append(s.vendors, v)
		s.byName[v.Name] = v
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, v := range s.vendors {
		v.connect(o)
	}
	return s, nil
}

// newVendor makes one vendor, without connections yet.
func newVendor(cfg *config.Config, c *config.Vendor, o Options) (*Vendor, error) {
	raw := c.BaseURL
	if c.Simulate != "" {
		if o.SimURL == nil {
			return nil, fmt.Errorf("vendor %q: simulate %q: there is no simulator in this process", c.Name, c.Simulate)
		}
		raw = o.SimURL(c.Name)
	}
	name := c.Dialect
	if name == "" {
		name = "openai"
	}
	d, ok := Dialect(name)
	if !ok {
		return nil, fmt.Errorf("vendor %q: dialect %q: must be one of %v", c.Name, name, DialectNames())
	}
	b, err := parseBase(raw)
	if err != nil {
		return nil, fmt.Errorf("vendor %q: %w", c.Name, err)
	}
	v := &Vendor{
		Name: c.Name, Dialect: d, Simulated: c.Simulate != "", Resume: c.Resume == "prefill",
		base: b, prefill: b.at(d.Prefill.BasePath), probe: cfg.Probe.Path, timeout: cfg.Timeouts.Connect,
	}
	var before *Keys
	if old := o.Before.Vendor(c.Name); old != nil {
		before = old.Keys
	}
	v.Keys = newKeys(c.APIKeys, d, before)
	return v, nil
}

// Vendor returns the vendor of that name, nil if there is none.
func (s *Set) Vendor(name string) *Vendor {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// All returns the vendors in the configuration's order. Nobody may write to it.
func (s *Set) All() []*Vendor { return s.vendors }

// Close closes idle connections, those apart that a later set has taken over.
// Requests under way end as they would.
func (s *Set) Close() {
	for _, v := range s.vendors {
		if !v.kept.Load() {
			v.link.close()
		}
	}
}
