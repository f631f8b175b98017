package draw

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// What the engine says comes as sentences, in English: the journal, the reasons,
// the plans and the records are the same for every console and every program.
// They are made of few forms, though, so that a console in another language can
// know them again: Tell finds the form of a sentence and writes its words anew,
// with names, figures and units as they were. A sentence of no known form is
// shown as it came.

// form is one form of a sentence. In en, %s is a text, which is told in its turn,
// %l a list of such, and %n a word with a digit in it; zh has them as {1}, {2}, in
// any order.
type form struct {
	en, zh string

	words []string // of en, between the holes
	holes []byte   // 's', 'l' or 'n'
	long  int      // bytes of words
}

// forms are in the order in which they are tried: those with the most words first.
type forms struct {
	all   []form
	whole map[string]string // those without holes

	mu   sync.Mutex
	told map[string]string
	left int // looks at parts of the sentence that is told
}

// toldMost bounds how many sentences are remembered: those of a screen, many times.
const toldMost = 4096

func newForms(lists ...[]form) *forms {
	f := &forms{whole: map[string]string{}, told: map[string]string{}}
	for _, l := range lists {
		for _, x := range l {
			x.split()
			if len(x.holes) == 0 {
				f.whole[x.en] = x.zh
				if en, zh := strings.Split(x.en, ". "), strings.Split(x.zh, "。"); len(en) > 1 && len(en) == len(zh) {
					for i := range en { // its sentences stand among others', too
						f.whole[en[i]] = zh[i]
					}
				}
				continue
			}
			f.all = append(f.all, x)
		}
	}
	slices.SortStableFunc(f.all, func(a, b form) int { return b.long - a.long })
	return f
}

// split takes en apart at its holes.
func (x *form) split() {
	rest := x.en
	for {
		i := holeIn(rest)
		if i < 0 {
			x.words = append(x.words, rest)
			break
		}
		x.words = append(x.words, rest[:i])
		x.holes = append(x.holes, rest[i+1])
		rest = rest[i+2:]
	}
	for _, w := range x.words {
		x.long += len(w)
	}
}

// holeIn is where the first hole begins, -1 without one: a percent sign before
// anything else is one.
func holeIn(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '%' && (s[i+1] == 's' || s[i+1] == 'l' || s[i+1] == 'n') {
			return i
		}
	}
	return -1
}

// fits fills the holes of the form with the parts of s, false if s is not of it.
func (x *form) fits(s string) ([]string, bool) {
	s, ok := strings.CutPrefix(s, x.words[0])
	if !ok || !strings.HasSuffix(s, x.words[len(x.words)-1]) {
		return nil, false
	}
	out := make([]string, len(x.holes))
	return out, x.fill(out, 0, s)
}

// fill fills the holes from i on with the parts of s, the shortest that fit.
func (x *form) fill(out []string, i int, s string) bool {
	word := x.words[i+1]
	if i == len(x.holes)-1 {
		part, ok := strings.CutSuffix(s, word)
		out[i] = part
		return ok && x.may(i, part)
	}
	for from := 0; ; {
		at := strings.Index(s[from:], word)
		if at < 0 {
			return false
		}
		out[i] = s[:from+at]
		if x.may(i, out[i]) && x.fill(out, i+1, s[from+at+len(word):]) {
			return true
		}
		from += at + 1
	}
}

func (x *form) may(i int, part string) bool {
	if part == "" {
		return false
	}
	return x.holes[i] != 'n' || !strings.Contains(part, " ") && strings.ContainsAny(part, "0123456789")
}

// write writes the form in the other language.
func (x *form) write(parts []string) string {
	var b strings.Builder
	rest := x.zh
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 || i+2 >= len(rest) || rest[i+2] != '}' {
			return b.String() + rest
		}
		n, err := strconv.Atoi(rest[i+1 : i+2])
		if err != nil || n < 1 || n > len(parts) {
			return b.String() + rest
		}
		b.WriteString(rest[:i] + parts[n-1])
		rest = rest[i+3:]
	}
}

// Tell is a sentence of the engine in the console's language, itself where that
// does not know it.
func (w *Words) Tell(s string) string {
	if w.forms == nil || s == "" {
		return s
	}
	return w.forms.tell(s)
}

// TellCause is what baton said of a failed attempt in the console's language. What a
// vendor said stands in the same place and is not taken apart: it is no sentence of
// ours, even where some of its words are.
func (w *Words) TellCause(s string) string {
	if w.causes == nil {
		return s
	}
	if t, ok := w.causes.whole[s]; ok {
		return t
	}
	for i := range w.causes.all {
		if parts, ok := w.causes.all[i].fits(s); ok {
			return w.causes.all[i].write(parts)
		}
	}
	return s
}

// TellTest is a sentence of a stress test in the console's language.
func (w *Words) TellTest(s string) string {
	if w.tests == nil || s == "" {
		return s
	}
	return w.tests.tell(s)
}

func (f *forms) tell(s string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, ok := f.told[s]; ok {
		return t
	}
	f.left = looks
	t, _ := f.say(s, 0)
	if len(f.told) >= toldMost {
		clear(f.told)
	}
	f.told[s] = t
	return t
}

// How far a sentence is taken apart, at how many places each part is tried, and at
// how many parts of it are looked in all: what is not known costs the most.
const (
	deepest = 6
	splits  = 6
	looks   = 150
)

// say tells s, and says whether anything of it was known.
func (f *forms) say(s string, depth int) (string, bool) {
	if f.left--; depth > deepest || len(s) < 2 || f.left < 0 {
		return s, false
	}
	if t, ok := f.whole[s]; ok {
		return t, true
	}
	if t, ok := strings.CutSuffix(s, "."); ok {
		if t, known := f.say(t, depth); known {
			return t + "。", true
		}
		return s, false
	}
	for i := range f.all {
		x := &f.all[i]
		parts, ok := x.fits(s)
		if !ok {
			continue
		}
		for k := range parts {
			if x.holes[k] == 'l' {
				parts[k] = f.list(parts[k], depth+1)
				continue
			}
			parts[k], _ = f.say(parts[k], depth+1)
		}
		return x.write(parts), true
	}
	return f.apart(s, depth)
}

// list tells the parts of a list, each for itself.
func (f *forms) list(s string, depth int) string {
	all := strings.Split(s, "; ")
	for i := range all {
		all[i], _ = f.say(all[i], depth)
	}
	return strings.Join(all, "；")
}

// joints are what stands between sentences, and between the parts of one.
var joints = []struct {
	en, zh string
	both   bool // only where both sides are known
}{{". ", "。", false}, {"; ", "；", false}, {": ", "：", false}, {", ", "，", true}, {" and ", "，且", true}}

// apart tells the parts of what is no form: sentences, a list, what stands in
// parentheses.
func (f *forms) apart(s string, depth int) (string, bool) {
	for _, j := range joints {
		for at, tries := strings.Index(s, j.en), 0; at >= 0 && tries < splits; tries++ {
			ta, ka := f.say(s[:at], depth+1)
			tb, kb := f.say(s[at+len(j.en):], depth+1)
			if ka && kb || !j.both && (ka || kb) {
				return ta + j.zh + tb, true
			}
			next := strings.Index(s[at+1:], j.en)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	if t, ok := strings.CutSuffix(s, ")"); ok {
		if i := strings.LastIndex(t, " ("); i > 0 {
			ta, ka := f.say(t[:i], depth+1)
			tb, kb := f.say(t[i+2:], depth+1)
			if ka || kb {
				return ta + "（" + tb + "）", true
			}
		}
	}
	return s, false
}
