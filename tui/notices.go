package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	first := all[0]
	if n := len(all) - 1; n > 0 {
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
		case strings.HasPrefix(a, "failover is manual"):
			out, manual = append(out, message{text: k.Sayf("manual"), level: control.Warn}), false
		case strings.HasPrefix(a, "no vendor may take traffic"):
			out = append(out, message{text: k.Sayf("no-vendor"), level: control.Crit})
		default:
			for i := range s.Vendors { // "NAME is STATE: why"
				v := &s.Vendors[i]
				if why, ok := strings.CutPrefix(a, label(v)+" is "+v.State+": "); ok {
					_, word, _ := draw.StateWord(v.State, k)
					a = k.Sayf("vendor-is", label(v), word, why)
				}
			}
			out = append(out, message{text: draw.Clean(a), level: control.Crit})
		}
	}
	slices.SortStableFunc(out, func(a, b message) int { // red before yellow
		return cmp.Compare(rank(a.level), rank(b.level))
	})
	if manual {
		out = append(out, message{text: k.Sayf("manual"), level: control.Warn})
	}
	if p := s.Pin; p != nil && !p.Until.IsZero() {
		if left := p.Until.Sub(m.now).Seconds(); left > 0 && left < 120 {
			out = append(out, message{text: k.Sayf("pin-ends", draw.MinSec(left)), level: control.Warn})
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
			s[0].Text += " " + v.Fault.Kind
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
	for i := range s.Vendors {
		if v := &s.Vendors[i]; s.Pin != nil && !draw.Alive(v.State) && s.Pin.Weights[v.Name] > 0 {
			return true
		}
	}
	return false
}
