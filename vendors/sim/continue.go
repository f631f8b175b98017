package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// continued is the text from which a chat's answer goes on: that of a last message from the assistant, marked with
// partial or prefix, or by continue_final_message, or not at all. "" when the answer begins at its beginning.
func (r *request) continued() string {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == "assistant" {
		return contentText(r.Messages[n-1].Content)
	}
	return ""
}

// missingWords are the counted words that are still missing after said, all of them when said is not their beginning.
func missingWords(said string) []string {
	words := countedWords()
	rest, begun := strings.CutPrefix(strings.Join(words, ""), said)
	if said == "" || !begun {
		return words
	}
	return wordPieces(rest)
}

// wordPieces cuts a text into words with the space before them.
func wordPieces(s string) []string {
	var out []string
	for s != "" {
		cut := len(s)
		if i := strings.IndexByte(s[1:], ' '); i >= 0 {
			cut = i + 1
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	return out
}

// goOn continues said, which breaks off somewhere in a canned answer: the rest of its sentence, and more up to want
// tokens in all. Any simulated vendor can go on from what another one began.
func goOn(rng *rand.Rand, question, said string, want int) []string {
	out, chinese := restOfSentence(said)
	if left := want - len(split(said)) - len(out); left > 0 {
		more := slices.Clone(compose(rng, question, left))
		if !chinese && !strings.HasSuffix(said, " ") {
			more[0] = " " + more[0]
		}
		out = append(out, more...)
	}
	return out
}

// shortestBeginning is how much of a sentence must be seen, in bytes, to know it.
const shortestBeginning = 6

// restOfSentence finds the canned sentence with the longest beginning at the end of said, and returns what is missing.
func restOfSentence(said string) (rest []string, han bool) {
	best, from := "", 0
	for i, topics := range [][]topic{english, chinese} {
		for _, t := range topics {
			for _, s := range t.sentences {
				if n := overlap(said, s); n >= shortestBeginning && n > from {
					best, from, han = s, n, i == 1
				}
			}
		}
	}
	if best == "" || from == len(best) {
		return nil, han
	}
	if han {
		return slices.Clone(split(best[from:])), han
	}
	return wordPieces(best[from:]), han
}

// overlap is the length of the longest beginning of s that said ends with.
func overlap(said, s string) int {
	for n := min(len(s), len(said)); n > 0; n-- {
		if said[len(said)-n:] == s[:n] {
			return n
		}
	}
	return 0
}
