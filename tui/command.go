package tui

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
)

var (
	errQuit = errors.New("quit")
	errHelp = errors.New("help")
)

// lookAt is a command that shows something and changes nothing.
type lookAt struct{ what, vendor string }

func (l lookAt) Error() string { return l.what }

// commandNames are all commands, as they are completed.
var commandNames = []string{"weights", "kill", "restore", "drain", "undrain", "enable", "limits", "failover", "drill", "sim", "stress", "costs", "overrides", "status", "failures", "reload", "help", "quit"}

// parseCommand reads a line in the grammar of the command line, "baton" before
// it or not: weights lanyun=70 bailian=30 --for 15m. Vendors go by their name,
// label or number.
func parseCommand(line string, s *control.Snapshot, w *draw.Words) (control.Command, error) {
	words := splitWords(line)
	if len(words) > 0 && words[0] == "baton" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil, errHelp
	}
	p := &parser{s: s, w: w, name: words[0]}
	if err := p.flags(words[1:]); err != nil {
		return nil, err
	}
	switch p.name {
	case "quit", "q", "exit":
		return nil, errQuit
	case "help", "?":
		return nil, errHelp
	case "weights", "weight":
		return p.weights()
	case "kill":
		v, err := p.vendor(0)
		return &control.StartDrill{Scenario: "kill", Vendor: v, Fault: p.text("fault", "refuse"), For: p.dur}, p.only(err, 1, "fault", "for")
	case "restore":
		v, err := p.vendor(0)
		return &control.ClearFault{Vendor: v}, p.only(err, 1)
	case "drain":
		v, err := p.vendor(0)
		return &control.Drain{Vendor: v, Now: p.has("now")}, p.only(err, 1, "now")
	case "undrain":
		v, err := p.vendor(0)
		return &control.Undrain{Vendor: v}, p.only(err, 1)
	case "enable":
		v, err := p.vendor(0)
		return &control.Enable{Vendor: v}, p.only(err, 1)
	case "limits", "limit":
		return p.limits()
	case "drill":
		return p.drill()
	case "failover":
		return p.failover()
	case "sim":
		return p.sim()
	case "status", "costs", "overrides":
		return p.look(lookAt{what: p.name}, 0)
	case "failures", "stress":
		if len(p.args) == 0 {
			return p.look(lookAt{what: p.name}, 0)
		}
		v, err := p.vendor(0)
		if err != nil {
			return nil, err
		}
		return p.look(lookAt{p.name, v}, 1)
	case "reload":
		return &control.Reload{}, p.only(nil, 0)
	}
	return nil, p.unknown(p.name, commandNames)
}

// parser is a command's words and flags.
type parser struct {
	s     *control.Snapshot
	w     *draw.Words
	name  string
	args  []string
	given map[string]string
	dur   control.Duration
}

// bare are the flags that take no value.
var bare = map[string]bool{"now": true, "override": true, "force": true}

// flags sorts words into arguments and --name value pairs.
func (p *parser) flags(words []string) error {
	p.given = map[string]string{}
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok {
			p.args = append(p.args, words[i])
			continue
		}
		name, value, inline := strings.Cut(name, "=")
		if !inline && !bare[name] && i+1 < len(words) {
			i++
			value = words[i]
		}
		p.given[name] = value
	}
	var err error
	p.dur, err = p.duration("for")
	return err
}

// duration is a flag's, 0 where it is not given.
func (p *parser) duration(flag string) (control.Duration, error) {
	v, ok := p.given[flag]
	if !ok {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, errors.New(p.w.Sayf("bad-for", flag, v))
	}
	return control.Duration(d), nil
}

func (p *parser) has(flag string) bool { _, ok := p.given[flag]; return ok }

func (p *parser) text(flag, other string) string {
	if v := p.given[flag]; v != "" {
		return v
	}
	return other
}

// only refuses what a command does not take.
func (p *parser) only(err error, args int, flags ...string) error {
	if err != nil {
		return err
	}
	if len(p.args) > args {
		return errors.New(p.w.Sayf("bad-flag", p.name, p.args[args]))
	}
next:
	for f := range p.given {
		for _, ok := range flags {
			if f == ok {
				continue next
			}
		}
		return errors.New(p.w.Sayf("bad-flag", p.name, "--"+f))
	}
	return nil
}

// look is what a command shows, if nothing else was asked of it.
func (p *parser) look(l lookAt, args int) (control.Command, error) {
	if err := p.only(nil, args); err != nil {
		return nil, err
	}
	return nil, l
}

// unknown names what a word may have meant.
func (p *parser) unknown(word string, known []string) error {
	if near := nearest(word, known); near != "" {
		return errors.New(p.w.Sayf("unknown-nearest", word, near))
	}
	return errors.New(p.w.Sayf("unknown-command", word, strings.Join(known, ", ")))
}

func (p *parser) names() string {
	var n []string
	for i := range p.s.Vendors {
		n = append(n, p.s.Vendors[i].Name)
	}
	return strings.Join(n, ", ")
}

// vendor is argument i as a vendor's name.
func (p *parser) vendor(i int) (string, error) {
	if i >= len(p.args) {
		return "", errors.New(p.w.Sayf("need-vendor", p.name, p.names()))
	}
	return p.find(p.args[i])
}

func (p *parser) find(s string) (string, error) {
	for i := range p.s.Vendors {
		if v := &p.s.Vendors[i]; v.Name == s || v.Label == s && s != "" || strconv.Itoa(i+1) == s {
			return v.Name, nil
		}
	}
	var names []string
	for i := range p.s.Vendors {
		names = append(names, p.s.Vendors[i].Name)
	}
	if near := nearest(s, names); near != "" {
		return "", errors.New(p.w.Sayf("vendor-nearest", s, near))
	}
	return "", errors.New(p.w.Sayf("unknown-vendor", s, p.names()))
}

func (p *parser) weights() (control.Command, error) {
	if len(p.args) == 1 && p.args[0] == "auto" {
		return &control.ReleaseWeights{}, p.only(nil, 1)
	}
	if len(p.args) == 0 {
		return nil, errors.New(p.w.Sayf("need-weights"))
	}
	w := map[string]float64{}
	sum := 0.0
	for _, a := range p.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return nil, errors.New(p.w.Sayf("need-weights"))
		}
		vendor, err := p.find(name)
		if err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil || !(x >= 0 && x <= 100) {
			return nil, errors.New(p.w.Sayf("bad-number", value))
		}
		w[vendor] = x
	}
	for _, x := range w {
		sum += x
	}
	if math.Abs(sum-100) > 0.01 {
		return nil, errors.New(p.w.Sayf("weights-sum", strconv.FormatFloat(sum, 'f', -1, 64)))
	}
	return &control.SetWeights{Weights: w, For: p.dur, Reason: p.given["reason"], Override: p.has("override")}, p.only(nil, len(p.args), "for", "reason", "override")
}

func (p *parser) limits() (control.Command, error) {
	switch {
	case len(p.args) == 0:
		return p.look(lookAt{what: "limits"}, 0)
	case len(p.args) > 0 && p.args[0] == "forget":
		v, err := p.vendor(1)
		return &control.ForgetLimit{Vendor: v}, p.only(err, 2)
	case len(p.args) > 2 && p.args[0] == "set":
		v, err := p.vendor(1)
		if err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(p.args[2], 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return nil, errors.New(p.w.Sayf("bad-number", p.args[2]))
		}
		return &control.SetLimit{Vendor: v, RPS: x}, p.only(nil, 3)
	}
	return nil, errors.New(p.w.Sayf("need-vendor", "limits forget|set", p.names()))
}

// splitWords splits at spaces; double quotes hold words together.
func splitWords(s string) []string {
	var out []string
	var b strings.Builder
	quoted, any := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				out = append(out, b.String())
				b.Reset()
				any = false
			}
		default:
			b.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, b.String())
	}
	return out
}
