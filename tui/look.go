package tui

import (
	"strconv"
	"strings"

	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// lookAt carries out a command that only shows something.
func (m *Model) lookAt(l lookAt) tea.Cmd {
	switch l.what {
	case "failures":
		for i := range m.live.Vendors {
			if m.live.Vendors[i].Name == l.vendor {
				m.selected = i
			}
		}
		return m.open(true)
	case "drills":
		return m.askDrills()
	case "limits":
		m.showRows("limits-title", m.limitRows())
	case "status":
		m.showRows("status-title", m.statusRows())
	}
	return nil
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
		rows = append(rows, []draw.Span{{Style: k.CritBold, Text: a}})
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
			rows = append(rows, []draw.Span{{Style: k.Dim, Text: "  " + v.Reason}})
		}
	}
	return rows
}

// limitRows are what is known of each vendor's limit.
func (m *Model) limitRows() [][]draw.Span {
	k := m.look
	var rows [][]draw.Span
	for i := range m.live.Vendors {
		v := &m.live.Vendors[i]
		var parts []string
		figure := func(name string, x *float64) {
			if x != nil {
				parts = append(parts, name+" "+draw.Rate(*x)+"/s")
			}
		}
		figure(k.Known, v.Limit.KnownRPS)
		figure(k.Learned, v.Limit.LearnedRPS)
		figure(k.Allowed, v.Limit.AllowedRPS)
		if len(parts) == 0 {
			parts = append(parts, "--")
		}
		parts = append(parts, k.KeyCount+" "+strconv.Itoa(v.Limit.Keys))
		if v.Limit.Evidence != "" {
			parts = append(parts, v.Limit.Evidence)
		}
		rows = append(rows, []draw.Span{{Style: k.Strong, Text: label(v) + "  "}, {Text: strings.Join(parts, "  ")}})
	}
	return rows
}
