package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is one way in which vendors are unlike each other.
type Difference struct {
	Hurts bool   `json:"hurts"` // a failover between them
	Text  string `json:"text"`
}

// slower is from how many times another's first token a vendor's is told: less
// is chance, of one question.
const slower = 3

// finishWords are OpenAI's finish reasons, which clients know.
var finishWords = []string{"stop", "length", "tool_calls", "content_filter", "function_call"}

// differences are what a client would notice after a failover, the worst first.
// lost are the models that one vendor has.
func differences(all []Answer, lost []string) []Difference {
	var out []Difference
	hurts := func(format string, args ...any) { out = append(out, Difference{true, fmt.Sprintf(format, args...)}) }
	notes := func(format string, args ...any) { out = append(out, Difference{false, fmt.Sprintf(format, args...)}) }
	var good []*Answer
	for i := range all {
		switch x := &all[i]; {
		case x.Asked == "":
			hurts("%s was not asked: %s", x.Vendor, x.Error)
		case x.Error != "" && x.Status == 0:
			hurts("%s %s", x.Vendor, x.Error)
		case x.Error != "":
			hurts("%s has no good answer (%d): %s", x.Vendor, x.Status, x.Error)
		default:
			good = append(good, x)
		}
	}
	for _, m := range lost {
		hurts("%s", m)
	}
	for _, x := range good {
		if !x.Usage {
			hurts("%s counts no tokens: what it costs and its token limits are estimated", x.Vendor)
		}
		switch {
		case x.Finish == "":
			hurts("%s ends without a finish reason: a cut answer looks like a whole one", x.Vendor)
		case !slices.Contains(finishWords, x.Finish):
			hurts("%s ends with the finish reason %q, which is none of OpenAI's: clients may not know it", x.Vendor, x.Finish)
		}
		if !x.Done {
			notes("%s ends its stream without [DONE]: baton supplies it", x.Vendor)
		}
		if x.OutputTokens != nil && *x.OutputTokens > compareTokens {
			hurts("%s gave %d tokens where %d were allowed: max_tokens does not bound what it costs", x.Vendor, *x.OutputTokens, compareTokens)
		}
		if x.IDHeader == "" {
			notes("%s sends no request id: a failure there cannot be looked up by its support", x.Vendor)
		}
	}
	if s := unlike(good, func(x *Answer) string { return x.Finish }); s != "" {
		notes("finish reasons differ, which with so short an answer may be chance: %s", s)
	}
	if s := unlike(good, func(x *Answer) string { return bareModel(x.Model) }); s != "" {
		notes("the models call themselves differently, look whether they are the same: %s", s)
	}
	if s := unlike(good, func(x *Answer) string { return x.CachedField }); s != "" {
		notes("cached tokens are told in different fields (baton reads each): %s", s)
	}
	for _, x := range good {
		for _, y := range good {
			if *x.FirstTokenMs > slower**y.FirstTokenMs && *x.FirstTokenMs > 500 {
				notes("%s took %s to its first token, %s %s: one question is chance, `baton stress %s %s` measures it", x.Vendor, msText(x.FirstTokenMs), y.Vendor, msText(y.FirstTokenMs), x.Vendor, y.Vendor)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		switch {
		case a.Hurts == b.Hurts:
			return 0
		case a.Hurts:
			return -1
		}
		return 1
	})
	return out
}

// unlike writes what each vendor has where not all have the same, else "".
func unlike(all []*Answer, of func(*Answer) string) string {
	var parts []string
	same := true
	for _, x := range all {
		v := of(x)
		same = same && v == of(all[0])
		if v == "" {
			v = "none"
		}
		parts = append(parts, x.Vendor+" "+v)
	}
	if same {
		return ""
	}
	return strings.Join(parts, ", ")
}

// bareModel is a model's name without the path and the spelling that differ from
// vendor to vendor: "/maas/deepseek-ai/DeepSeek-V3" is "deepseek-v3".
func bareModel(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}
