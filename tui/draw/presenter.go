package draw

// Presenter draws the drill for a projector: the clock as large as the screen
// holds, phases, what happens now in words, where traffic goes and how clients
// fare.
func (d *Drill) Presenter(w, h int, k Look) []string {
	if d.sealed() {
		return d.sealedLines(w, h, k)
	}
	text := d.face()
	const around = 7 // title, bar, phases, words, clients, and the rows between
	below := 0
	if n := len(d.Shares); n > 0 {
		below = min(n, 6) + 2
	}
	sy := max(1, (h-around-below)/5)
	for sy > 1 && bigWidth(text, sy) > w-4 {
		sy--
	}
	sx := sy
	if bigWidth(text, 2*sy) <= w-4 {
		sx = 2 * sy
	}
	if bigWidth(text, sx) > w || h < 12 {
		return d.Screen(w, h, k)
	}
	centre := func(s string, n int) string {
		return NewRow(w, k).Pad((w-n)/2).Painted(s, n).String()
	}
	title := NewRow(w, k)
	t := append(d.title(k), Span{"", "  "})
	t = append(t, d.badge(k)...)
	title.Pad((w - spansWidth(t)) / 2)
	for _, s := range t {
		title.Add(s.Style, s.Text)
	}
	lines := []string{title.String(), Blank(w)}
	for _, l := range big(text, sx, sy, d.ink(k), k) {
		lines = append(lines, centre(l, bigWidth(text, sx)))
	}
	iw := min(w-4, 100)
	headline, more := d.headline(iw, k)
	lines = append(lines, Blank(w), centre(d.bar(iw, k), iw), centre(d.phases(iw, k), iw), centre(headline, iw))
	if d.show() {
		d.barred = true
		lines = lines[:len(lines)-2] // the acts stand under the words
		for _, l := range d.showRows(iw, max(2, h-len(lines)-1), k) {
			lines = append(lines, centre(l, iw))
		}
		return block(lines, w, h)
	}
	for _, l := range painted(more, iw, k) {
		lines = append(lines, centre(l, iw))
	}
	lines = append(lines, centre(d.clients(iw, k), iw))
	if room := h - len(lines) - 1; room > 0 {
		for _, l := range d.shares(iw, room, k) {
			lines = append(lines, centre(l, iw))
		}
		lines = append(lines, centre(d.service(iw, k), iw))
	}
	if pad := (h - len(lines)) / 2; pad > 0 {
		lines = append(block(nil, w, pad), lines...)
	}
	return block(lines, w, h)
}
