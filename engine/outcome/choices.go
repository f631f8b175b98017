package outcome

import "math/bits"

// maxChoice is the largest index that Choices tells apart: an API takes n up to 128.
const maxChoice = 127

// Choices is a set of choices' indexes. Those above 127 count as 127.
type Choices [2]uint64

// Add puts an index into the set.
func (c *Choices) Add(i int) {
	i = min(max(i, 0), maxChoice)
	c[i>>6] |= 1 << (i & 63)
}

// Join adds what is in x.
func (c *Choices) Join(x Choices) { c[0], c[1] = c[0]|x[0], c[1]|x[1] }

// Without is the set less what is in x.
func (c Choices) Without(x Choices) Choices { return Choices{c[0] &^ x[0], c[1] &^ x[1]} }

// Len counts the indexes.
func (c Choices) Len() int { return bits.OnesCount64(c[0]) + bits.OnesCount64(c[1]) }

// Progress is how far the choices of a stream have come. The zero value is a
// stream that has not begun.
type Progress struct {
	heard, ended Choices // that there was anything of, and a finish reason
	open         Choices // that said something after their finish reason, or have none
}

// Take takes in an event.
func (p *Progress) Take(c *ChunkInfo) {
	p.heard.Join(c.Heard)
	p.ended.Join(c.Ended)
	p.open.Join(c.Said)
	p.open = p.open.Without(c.Ended)
}

// Finished says whether a stream of which n choices were asked has said everything:
// all n are there, each that was heard of has ended, and none has gone on since.
// declared: the stream itself said so with [DONE]. What it then lacks of n it never
// meant to send (some vendors ignore n), and what it said after a finish reason was
// meant to be the end of it.
func (p *Progress) Finished(n int, declared bool) bool {
	if p.heard.Without(p.ended) != (Choices{}) {
		return false
	}
	return declared || p.open == (Choices{}) && p.heard.Len() >= min(n, maxChoice+1)
}
