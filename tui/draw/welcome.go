package draw

import "fmt"

// Welcome is the first screen of a console whose vendors are all simulated.
type Welcome struct {
	Label   string // the vendor that K kills
	Address string // the gateway's
}

// Rows is how many rows it takes, with its frame, to say everything in w cells.
func (d *Welcome) Rows(w int) int { return 2 + 2 + len(d.request(w-4, true)) + 1 }

// Lines draws it in place of the clock.
func (d *Welcome) Lines(w, h int, k Look) []string {
	if h >= 5 && w >= 56 {
		return Box(d.body(w-4, h-2, k), []Span{{k.Strong, k.Welcome}}, []Span{{k.Dim, k.AnyKey}}, k.Accent, w, h, k)
	}
	out := make([]string, 0, h)
	for _, l := range d.body(w-2, h, k) {
		out = append(out, NewRow(w, k).Add("", " ").Painted(l, w-2).String())
	}
	return block(out, w, h)
}

// body is at most h rows: that nothing is real, the steps, a request to try,
// and where vendors of one's own are told of.
func (d *Welcome) body(w, h int, k Look) []string {
	simulated := k.AllSimulated
	if Width(simulated) > w {
		simulated = k.AllSimulatedShort
	}
	out := []string{NewRow(w, k).Add(k.OKBold, simulated).String(), d.steps(w, k)}
	for _, l := range d.request(w, h >= 5) {
		out = append(out, NewRow(w, k).Add("", l).String())
	}
	if len(out) < h {
		readme := k.OwnVendors
		if Width(readme) > w {
			readme = k.OwnVendorsShort
		}
		out = append(out, NewRow(w, k).Add(k.Dim, readme).String())
	}
	return block(out, w, h)
}

// steps are the keys to press, in the longest words that fit whole.
func (d *Welcome) steps(w int, k Look) string {
	step := func(n, key, text string) []Span {
		return []Span{{k.Accent, n + " "}, {k.Key, key}, {"", " " + text}}
	}
	more := []Span{{k.Key, "? "}, {"", k.More}}
	kills := step("2", "K", k.Kills+" "+d.Label)
	arrows := []Span{{k.Accent, "1 "}, {k.Key, k.Arrows()}}
	forms := [][][]Span{
		{{{k.Accent, "1 "}, {"", fmt.Sprintf(k.StepDrag, k.Knob) + " "}, {k.Key, k.Arrows()}}, kills, step("3", "R", k.BringsItBack), more},
		{append(arrows[:2:2], Span{"", " " + k.Weight}), kills, step("3", "R", k.Restores), more},
		{arrows, step("2", "K", k.Hints["kill"]+" "+d.Label), step("3", "R", k.Back), more},
		{kills[1:], {{k.Key, "R"}, {"", " " + k.Back}}, more}, // the last line of the screen tells the arrows
		{{{k.Key, "K"}, {"", " " + k.Hints["kill"]}}, {{k.Key, "R"}, {"", " " + k.Back}}, more},
	}
	for i, form := range forms {
		all := 0
		for _, s := range form {
			all += spansWidth(s)
		}
		gaps := len(form) - 1
		gap := min(5, (w-all)/gaps)
		if gap < 2 && i < len(forms)-1 {
			continue
		}
		r := NewRow(w, k)
		for j, s := range form {
			if j > 0 {
				r.Add("", Blank(max(1, gap)))
			}
			for _, x := range s {
				r.Add(x.Style, x.Text)
			}
		}
		return r.String()
	}
	return Blank(w)
}

// request is one to try: on one line, or on two that can be copied whole.
func (d *Welcome) request(w int, two bool) []string {
	url := d.Address + "/v1/chat/completions"
	data := `'{"model":"deepseek-v3","messages":[{"role":"user","content":"hi"}]}'`
	if one := "curl " + url + " -d " + data; Width(one) <= w {
		return []string{one}
	}
	first := "curl " + url + " -d \\"
	if two && Width(data) <= w && Width(first) <= w {
		return []string{first, data}
	}
	return []string{"curl " + d.Address + "/v1/models"}
}
