package draw

import (
	"fmt"
	"maps"
	"strings"
)

// Words are the console's texts in one language.
type Words struct {
	Lang string

	Healthy, Degraded, Ejected, Recovering, Drained, Disabled string
	Primary, Secondary, Candidate                             string
	Simulated, FirstToken, First, WholeAnswer, WholeShort     string
	Errors, Err, ReqS, InFlight, Limit                        string
	Weight, Weights, TargetW, Share, Band, Outside            string
	Pinned, PinnedUp, Locked, Staged, Applying                string
	Fault, EndsIn, NoData, GraphError                         string

	Gateway, DemoTraffic, Demo, Auto, Observe, Connecting string
	ReadOnly, ReadWrite, ReadOnlyWhy, Frozen              string
	Events, Failures, NoFailures, Rescued, NotRescued     string
	Known, Learned, Allowed, KeyCount, Tokens, Cost       string

	Drill, Running, Passed, Failed, Refused, Aborted, Inconclusive        string
	Cutover, Before, LeftW, Over, FailedW, CutStreams, Asked, Moved, Hurt string
	Record, Dismisses, BringsBack, Restores, Aborts, FaultEndsIn          string
	PhaseWords                                                            map[string]string
	meaning, meaningShort, failedOne, failedMany, newer, typeWord         string

	Welcome, AnyKey, AllSimulated, AllSimulatedShort, StepDrag   string
	Kills, BringsItBack, Back, More, OwnVendors, OwnVendorsShort string
	No, HelpTitle                                                string
	Number                                                       string
	Hints                                                        map[string]string // the footer's short words, by action
	Say                                                          map[string]string // messages, by key
	Keys                                                         map[string]string // what keys do, by action

	forms  *forms // of the engine's sentences; nil: they are in this language
	causes *forms // of what baton says of a failed attempt
	tests  *forms // of what stress tests say
}

// with is a and b together.
func with(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// Language chooses the words: en, zh, or auto by the environment's locale.
func Language(lang string, getenv func(string) string) *Words {
	if lang == "" || lang == "auto" {
		lang = "en"
		for _, v := range [...]string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if s := getenv(v); s != "" {
				lang = s
				break
			}
		}
	}
	if strings.HasPrefix(lang, "zh") {
		return &chinese
	}
	return &english
}

func (w *Words) role(r string) string {
	switch r {
	case "primary":
		return w.Primary
	case "secondary":
		return w.Secondary
	case "candidate":
		return w.Candidate
	}
	return r
}

func (w *Words) phase(p string) string {
	if s := w.PhaseWords[p]; s != "" {
		return s
	}
	return p
}

func (w *Words) clockMeans(label string) string { return fmt.Sprintf(w.meaning, label) }

func (w *Words) clockMeansShort(label string) string { return fmt.Sprintf(w.meaningShort, label) }

func (w *Words) clientsFailed(n int64) string {
	if n == 1 {
		return w.failedOne
	}
	return fmt.Sprintf(w.failedMany, Count(n))
}

// Newer says how many events are above.
func (w *Words) Newer(n int) string { return fmt.Sprintf(w.newer, n) }

// TypeWord asks to type a word.
func (w *Words) TypeWord(s string) string { return fmt.Sprintf(w.typeWord, s) }

// Sayf is the message of that key.
func (w *Words) Sayf(key string, args ...any) string {
	s := w.Say[key]
	if s == "" {
		s = english.Say[key]
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}
