package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
	"baton/tui/theme"
)

// banner is what has to be known before anything else; "" if nothing has.
func (m *Model) banner() (string, theme.Style) {
	k := m.look
	s := m.shown
	switch {
	case m.lost != nil && (m.live != nil || !m.o.Embedded):
		return k.Sayf("unreachable", m.lostText()), k.BadgeCrit
	case s == nil:
		return "", ""
	}
	all := m.notices(s)
	if len(all) == 0 {
		return "", ""
	}
	first, rest := all[0], all[1:]
	for i := range rest { // what is about to end is not counted but told, where there is room
		if beside := " " + k.Dot + " " + rest[i].text; m.ending(&rest[i]) && !m.ending(&first) && draw.Width(first.text+beside) <= m.w-8 {
			first.text += beside
			rest = slices.Concat(rest[:i], rest[i+1:])
			break
		}
	}
	if n := len(rest); n > 0 {
		first.text += " (+" + strconv.Itoa(n) + ")"
	}
	if first.level == control.Crit {
		return first.text, k.BadgeCrit
	}
	return first.text, k.BadgeWarn
}

// notices are the engine's alerts, the worst first, and what the console has to
// say by itself after them. What is known is told in the console's language.
func (m *Model) notices(s *control.Snapshot) []message {
	k := m.look
	var out []message
	manual := s.Failover == "manual"
	for _, a := range s.Alerts {
		switch {
		case strings.HasPrefix(a, "failover is manual"), strings.HasPrefix(a, "FAILOVER MANUAL"):
			out, manual = append(out, m.manualNotice(s)), false
		case strings.HasPrefix(a, "no vendor may take traffic"):
			out = append(out, message{text: k.Sayf("no-vendor"), level: control.Crit})
		default:
			for i := range s.Vendors { // "NAME is STATE: why"
				v := &s.Vendors[i]
				if why, ok := strings.CutPrefix(a, label(v)+" is "+v.State+": "); ok {
					_, word, _ := draw.StateWord(v.State, k)
					a = k.Sayf("vendor-is", label(v), word, k.Tell(why))
				}
			}
			out = append(out, message{text: draw.Clean(k.Tell(a)), level: control.Crit})
		}
	}
	slices.SortStableFunc(out, func(a, b message) int { // red before yellow
		return cmp.Compare(rank(a.level), rank(b.level))
	})
	if n, ok := m.incidentNotice(s); ok {
		out = append([]message{n}, out...)
	}
	if text := m.shed.notice(k); text != "" {
		out = append(out, message{text: text, level: control.Warn})
	}
	if manual {
		out = append(out, m.manualNotice(s))
	}
	for i := range s.Schedule {
		x := &s.Schedule[i]
		if left := x.At.Sub(m.moment()).Seconds(); x.Announced && x.Cancelled == "" && left > 0 {
			out = append(out, message{text: k.Sayf("scheduled-soon", strings.TrimSpace(x.Scenario+" "+x.Vendor), draw.MinSec(left)), level: control.Warn})
		}
	}
	out = append(out, m.endings(s)...)
	slices.SortStableFunc(out, m.urgency)
	return out
}

// ending says whether a notice is about something that ends in under two minutes.
func (m *Model) ending(n *message) bool {
	return !n.until.IsZero() && n.until.Sub(m.moment()) < endsSoon
}

// urgency orders notices: alarms as they are, then what is about to end, what
// ends first before the others, then the rest.
func (m *Model) urgency(a, b message) int {
	key := func(n *message) (int, int64) {
		switch {
		case n.level == control.Crit:
			return 0, 0
		case m.ending(n):
			return 1, n.until.UnixNano()
		}
		return 2, 0
	}
	ra, ta := key(&a)
	rb, tb := key(&b)
	return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(ta, tb))
}

// manualNotice says that people move the weights, and for how long.
func (m *Model) manualNotice(s *control.Snapshot) message {
	if s.FailoverUntil == nil {
		return message{text: m.look.Sayf("manual-file"), level: control.Warn}
	}
	extends := ""
	if o := extendedNext(s); o != nil && o.Kind == "manual" {
		extends = m.look.Sayf("manual-extend")
	} else if o != nil {
		extends = m.look.Sayf("other-extend", m.look.OverrideKind(o.Kind))
	}
	return message{text: m.look.Sayf("manual-left", draw.MinSec(s.FailoverUntil.Sub(m.moment()).Seconds())) + extends, level: control.Warn, until: *s.FailoverUntil}
}

// incidentNotice is the banner of an outage that nobody ordered: beside the
// drill, if one is shown.
func (m *Model) incidentNotice(s *control.Snapshot) (message, bool) {
	d := s.Incident
	if d == nil || m.putAway(d) {
		return message{}, false
	}
	name := d.Vendor
	if v := s.Vendor(name); v != nil {
		name = label(v)
	}
	if d.Verdict == nil {
		since := draw.MinSec(m.moment().Sub(d.Started).Seconds())
		return message{text: m.look.Sayf("incident-open", name, since), level: control.Crit}, true
	}
	what := strings.ToLower(*d.Verdict)
	if d.CutoverS != nil {
		what = draw.Took(*d.CutoverS)
		if v := s.Vendor(d.Vendor); v != nil && !draw.Alive(v.State) {
			return message{text: m.look.Sayf("incident-proven", name, what), level: control.Warn}, true
		}
	}
	return message{text: m.look.Sayf("incident-over", name, what), level: control.Warn}, true
}

const endsSoon = 2 * time.Minute

// endings are what people have set and ends in under two minutes, with the key
// that prolongs it.
func (m *Model) endings(s *control.Snapshot) []message {
	k := m.look
	var out []message
	pinned := false
	for i := range s.Overrides {
		o := &s.Overrides[i]
		if !o.Ending || o.Until == nil || o.Extend == "" {
			continue
		}
		left := draw.MinSec(o.Until.Sub(m.moment()).Seconds())
		switch o.Kind {
		case "pin":
			pinned = true
			out = append(out, message{text: k.Sayf("pin-ends", left), level: control.Warn, until: *o.Until})
		case "manual": // its notice says so
		default:
			out = append(out, message{text: k.Sayf("override-ends", draw.Clean(k.Tell(o.Text)), left), level: control.Warn, until: *o.Until})
		}
	}
	if p := s.Pin; p != nil && !pinned && !p.Until.IsZero() {
		if left := p.Until.Sub(m.moment()).Seconds(); left > 0 && left < endsSoon.Seconds() {
			out = append(out, message{text: k.Sayf("pin-ends", draw.MinSec(left)), level: control.Warn, until: p.Until})
		}
	}
	return out
}

func rank(level string) int {
	if level == control.Crit {
		return 0
	}
	return 1
}

// faultNotice says which fault is in force, until it is not: also after its
// drill was put away.
func (m *Model) faultNotice(w int) []draw.Span {
	if m.shown == nil || m.lost != nil {
		return nil
	}
	k := m.look
	for i := range m.shown.Vendors {
		v := &m.shown.Vendors[i]
		if v.Fault == nil {
			continue
		}
		verb := " " + k.Restores
		if w < 50 {
			verb = ""
		}
		s := []draw.Span{{Style: k.CritBold, Text: k.Fault + " " + label(v)}}
		if w >= 70 {
			s[0].Text += " " + strings.TrimSpace(v.Fault.Kind+" "+v.Fault.Lane)
			if !v.Fault.Until.IsZero() {
				s = append(s, draw.Span{Style: k.Crit, Text: " " + k.Dot + " " + k.EndsIn + " " + draw.MinSec(v.Fault.Until.Sub(m.now).Seconds())})
			}
		}
		return append(s, draw.Span{Style: k.Dim, Text: " " + k.Dot + " "}, draw.Span{Style: k.Key, Text: "R"}, draw.Span{Style: k.Dim, Text: verb})
	}
	return nil
}

// faulty says whether a fault is in force anywhere.
func faulty(s *control.Snapshot) bool {
	for i := range s.Vendors {
		if s.Vendors[i].Fault != nil {
			return true
		}
	}
	return false
}

// held says whether a pinned vendor is out, so that the others carry its part.
func held(s *control.Snapshot) bool {
	if s.Pin == nil || s.Pin.Override || s.Failover == "manual" {
		return false // an ejection moves nothing
	}
	for i := range s.Vendors {
		if v := &s.Vendors[i]; !draw.Alive(v.State) && s.Pin.Weights[v.Name] > 0 {
			return true
		}
	}
	return false
}
