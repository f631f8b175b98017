package tui

import (
	"sort"
	"strings"

	"baton/engine/control"
)

// argument words of commands; vendors are "@".
var arguments = map[string][]string{
	"kill": {"@", "--fault", "--for"}, "restore": {"@"}, "drain": {"@", "--now"}, "undrain": {"@"}, "enable": {"@"}, "failures": {"@"},
	"limits": {"set", "forget"}, "limits set": {"@"}, "limits forget": {"@"}, "sim": {"@"}, "stress": {"@"},
	"drill": {"list", "history", "schedule", "run", "abort", "mark", "cancel"}, "drill run": {"#"}, "drill cancel": {"*"},
	"failover": {"auto", "manual"}, "failover manual": {"--for"},
	"weights": {"auto", "@=", "--for", "--reason", "--override"},
}

// candidates are the words that the last one of a line may become. Vendors are
// found by their labels too, and offered by their names; scenarios are those
// that are known.
func candidates(line string, s *control.Snapshot, scenarios []control.Scenario) []string {
	words := strings.Fields(line)
	last := ""
	if len(words) > 0 && !strings.HasSuffix(line, " ") {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	if len(words) > 0 && words[0] == "baton" {
		words = words[1:]
	}
	known := commandNames
	if len(words) > 0 {
		known = arguments[words[0]]
		if len(words) == 2 && (words[0] == "limits" || words[0] == "drill" || words[0] == "failover") {
			known = arguments[words[0]+" "+words[1]]
		}
		if len(words) > 2 && words[0] == "drill" && words[1] == "run" {
			known = []string{"@", "--note", "--ticket", "--force", "--countdown"}
		}
	}
	known = filledIn(known, s, scenarios)
	var out []string
	for _, k := range known {
		end, vendors := strings.CutPrefix(k, "@")
		if !vendors {
			if strings.HasPrefix(k, last) && (last != "" || !strings.HasPrefix(k, "--")) {
				out = append(out, k)
			}
			continue
		}
		for i := range s.Vendors {
			v := &s.Vendors[i]
			if (strings.HasPrefix(v.Name, last) || strings.HasPrefix(v.Label, last)) && !named(words[1:], v.Name+end) {
				out = append(out, v.Name+end)
			}
		}
	}
	return out
}

// filledIn are the words with # and * replaced by scenarios and by the ids of
// drills that come.
func filledIn(known []string, s *control.Snapshot, scenarios []control.Scenario) []string {
	var out []string
	for _, k := range known {
		switch k {
		case "#":
			for i := range scenarios {
				out = append(out, scenarios[i].Name)
			}
		case "*":
			for i := range s.Schedule {
				out = append(out, s.Schedule[i].ID)
			}
		default:
			out = append(out, k)
		}
	}
	return out
}

// named says whether a vendor stands on the line already.
func named(words []string, vendor string) bool {
	for _, w := range words {
		if w == vendor || strings.HasSuffix(vendor, "=") && strings.HasPrefix(w, vendor) {
			return true
		}
	}
	return false
}

// offer shows what the line may become.
func (m *Model) offer() {
	if p := m.prompt; p != nil && p.kind == promptCommand && m.live != nil {
		p.hint = strings.Join(candidates(string(p.text), m.live, m.drills.scenarios.value), "  ")
	}
}

// complete writes as much as all candidates have in common.
func (m *Model) complete() {
	p := m.prompt
	if p.kind != promptCommand || m.live == nil || p.at != len(p.text) {
		return
	}
	line := string(p.text)
	all := candidates(line, m.live, m.drills.scenarios.value)
	if len(all) == 0 {
		return
	}
	common := all[0]
	for _, c := range all[1:] {
		for !strings.HasPrefix(c, common) {
			common = common[:len(common)-1]
		}
	}
	if len(all) == 1 && !strings.HasSuffix(common, "=") {
		common += " "
	}
	start := strings.LastIndexByte(line, ' ') + 1
	if last := line[start:]; len(common) > len(last) || !strings.HasPrefix(last, common) && common != "" {
		p.set(line[:start] + common)
	}
}

// recall brings back what was typed before (-1) or after (+1).
func (m *Model) recall(by int) {
	p := m.prompt
	if p.kind != promptCommand {
		return
	}
	at := p.past + by
	switch {
	case at < 0:
		return
	case at >= len(m.typed):
		p.past = len(m.typed)
		p.set("")
		return
	}
	p.past = at
	p.set(m.typed[at])
}

// nearest is the known word that s may have meant, "" if none is near: it
// begins so, or few letters differ.
func nearest(s string, known []string) string {
	if len(s) > 64 {
		return ""
	}
	type near struct {
		word string
		d    int
	}
	var all []near
	for _, k := range known {
		if len(s) >= 2 && strings.HasPrefix(k, s) {
			return k
		}
		if d := distance(s, k); d <= 2 && d < len(k)/2+1 && d < len(s) {
			all = append(all, near{k, d})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].d < all[j].d })
	if len(all) == 0 {
		return ""
	}
	return all[0].word
}

// distance is how many letters are to be changed, added or taken out
// (Levenshtein), in bytes: names are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			up := row[j+1]
			cost := left
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, up+1, row[j]+1)
			left = up
		}
	}
	return row[len(b)]
}
