package tui

import (
	"strconv"
	"strings"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// lookAt carries out a command that only shows something.
func (m *Model) lookAt(l lookAt) tea.Cmd {
	switch l.what {
	case "failures":
		m.choosing(l.vendor)
		m.place = placeVendors
		return m.open(true)
	case "drills", "history", "schedule":
		m.place = placeVendors
		cmd := m.openDrills()
		switch l.what {
		case "history":
			m.drills.tab = tabHistory
		case "schedule":
			m.drills.tab = tabSchedule
		default:
			m.drills.tab = tabScenarios
		}
		return tea.Batch(cmd, m.askPages())
	case "costs":
		m.place = placeVendors
		return m.openCosts()
	case "overrides":
		m.place = placeVendors
		m.goTo(placeOverrides)
	case "stress":
		m.choosing(l.vendor)
		m.place = placeVendors
		m.goTo(placeStress)
		if l.vendor != "" {
			m.askStress(m.vendor())
		}
	case "limits":
		m.showRows("limits-title", m.limitRows())
	case "status":
		m.showRows("status-title", m.statusRows())
	}
	return nil
}

// choosing selects the vendor of that name.
func (m *Model) choosing(name string) {
	for i := range m.live.Vendors {
		if m.live.Vendors[i].Name == name {
			m.selected = i
		}
	}
}

// showRows opens a box of rows to read.
func (m *Model) showRows(title string, rows [][]draw.Span) {
	v := &list{}
	v.Title, v.Hint, v.Rows = m.look.Sayf(title), m.look.Sayf("esc-hint"), rows
	m.list, m.mode = v, modeList
}

// statusRows are what baton status prints: who serves, and every vendor.
func (m *Model) statusRows() [][]draw.Span {
	k, s := m.look, m.live
	per := percentsOf(s)
	rows := [][]draw.Span{{
		{Style: k.Strong, Text: "baton " + s.Version},
		{Text: "  " + s.Environment + "  " + s.Gateway.Address + "  "},
		{Style: k.Dim, Text: "up " + draw.MinSec(s.UptimeS) + "  weights " + s.Control + "  failover " + s.Failover},
	}}
	for _, a := range s.Alerts {
		rows = append(rows, []draw.Span{{Style: k.CritBold, Text: k.Tell(a)}})
	}
	for i := range s.Vendors {
		v := &s.Vendors[i]
		glyph, word, st := draw.StateWord(v.State, k)
		l := v.FirstToken["60s"]
		share := "--"
		if per.share[i] >= 0 {
			share = draw.Whole(per.share[i])
		}
		rows = append(rows, []draw.Span{
			{Style: k.Strong, Text: label(v) + " "},
			{Style: k.Dim, Text: v.Name + "  "},
			{Style: st, Text: glyph + " " + word},
			{Text: "  " + draw.Whole(per.weight[i])},
			{Style: k.Dim, Text: "  " + k.Words.Share + " " + share},
			{Style: k.Dim, Text: "  P90 " + draw.Millis(l.P90ms) + " P99 " + draw.Millis(l.P99ms) + "  " + k.Err + " " + draw.Percent(v.Errors.Rate60s) + "  " + draw.Rate(v.RPS) + "/s"},
		})
		if v.Reason != "" {
			rows = append(rows, []draw.Span{{Style: k.Dim, Text: "  " + k.Tell(v.Reason)}})
		}
	}
	return rows
}

// limitRows are what is known of each vendor's limit, in words and in figures.
func (m *Model) limitRows() [][]draw.Span {
	k := m.look
	var rows [][]draw.Span
	for i := range m.live.Vendors {
		v := &m.live.Vendors[i]
		rows = append(rows, []draw.Span{{Style: k.Strong, Text: label(v) + "  "}, {Text: draw.LimitText(&v.Limit, m.moment(), k)}})
		parts := []string{k.KeyCount + " " + strconv.Itoa(v.Limit.Keys)}
		figure := func(name string, x *float64) {
			if x != nil {
				parts = append(parts, name+" "+draw.Rate(*x)+"/s")
			}
		}
		figure(k.Known, v.Limit.KnownRPS)
		figure(k.Learned, v.Limit.LearnedRPS)
		figure(k.Allowed, v.Limit.AllowedRPS)
		if x := v.InFlightLimit; x != nil {
			parts = append(parts, k.Sayf("in-flight-limit")+" "+draw.Rate(*x))
		}
		rows = append(rows, []draw.Span{{Style: k.Dim, Text: "  " + strings.Join(parts, "  ")}})
	}
	for _, l := range [...]struct {
		name string
		of   *control.LaneState
	}{{"interactive", &m.live.Lanes.Interactive}, {"batch", &m.live.Lanes.Batch}} {
		rows = append(rows, []draw.Span{
			{Style: k.Strong, Text: l.name + "  "},
			{Style: k.Dim, Text: k.Sayf("waiting") + " " + strconv.Itoa(l.of.Waiting) + "  " + k.Sayf("shed") + " " + draw.Count(l.of.Shed)},
		})
	}
	return rows
}
