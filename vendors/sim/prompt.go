package sim

import (
	"math"
	"sync"
	"unicode/utf8"
)

const (
	blockTokens = 64   // cached prefixes are counted in blocks of this many tokens, at a pool in kvBlock
	maxBlocks   = 2048 // blocks of one prompt that are looked at
	cacheSize   = 16384
)

// Estimated tokens per byte of ASCII and per other rune: rules of thumb for English and for Chinese.
const (
	asciiTokens = 0.25
	otherTokens = 0.7
)

// meter counts a prompt's tokens and hashes its prefix block by block while text is fed to it.
type meter struct {
	block  int // tokens; default blockTokens
	tokens float64
	hash   uint64
	blocks []uint64
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func (m *meter) feed(text string) {
	if m.hash == 0 {
		m.hash = fnvOffset
	}
	for i := range len(text) {
		c := text[i]
		m.hash = (m.hash ^ uint64(c)) * fnvPrime
		switch {
		case c < utf8.RuneSelf:
			m.tokens += asciiTokens
		case utf8.RuneStart(c):
			m.tokens += otherTokens
		}
		if len(m.blocks) < maxBlocks && m.tokens >= float64(m.size()*(len(m.blocks)+1)) {
			m.blocks = append(m.blocks, m.hash)
		}
	}
}

func (m *meter) size() int { return or(m.block, blockTokens) }

// count is the prompt's length in tokens, at least 1.
func (m *meter) count() int {
	return max(int(math.Ceil(m.tokens)), 1)
}

// prefixCache remembers the prompt prefixes that were seen lately: two generations, so that its size is bounded.
type prefixCache struct {
	mu       sync.Mutex
	young    map[uint64]struct{}
	old      map[uint64]struct{}
	capacity int
}

// visit returns how many of the prompt's leading tokens are cached, in blocks of so many, and remembers all of them.
func (c *prefixCache) visit(blocks []uint64, size int) int {
	if len(blocks) == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hit := 0
	for hit < len(blocks) && c.has(blocks[hit]) {
		hit++
	}
	for _, b := range blocks {
		if len(c.young) >= c.capacity || c.young == nil {
			c.old, c.young = c.young, make(map[uint64]struct{})
		}
		c.young[b] = struct{}{}
	}
	return hit * size
}

func (c *prefixCache) has(b uint64) bool {
	if _, ok := c.young[b]; ok {
		return true
	}
	_, ok := c.old[b]
	return ok
}
