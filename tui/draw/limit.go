package draw

import (
	"strings"
	"time"

	"baton/engine/control"
)

// LimitText says what is known of a vendor's limit: "~20/s per account, learned
// 3m ago from 41 refusals".
func LimitText(l *control.Limit, now time.Time, k Look) string {
	learned := l.LearnedRPS != nil || l.Type != ""
	switch {
	case learned:
	case l.KnownRPS != nil:
		return k.Sayf("limit-known", round(*l.KnownRPS)+"/s")
	case l.Evidence != "":
		return k.Tell(l.Evidence)
	default:
		return k.Sayf("unlimited")
	}
	value := unknown
	switch {
	case l.Type == "slope":
		return joined(k, k.Sayf("limit-slope"), k.Tell(l.Evidence))
	case l.Type == "concurrency" && l.Value != nil:
		value = k.Sayf("limit-concurrency", round(*l.Value))
	case l.Type == "tokens" && l.Value != nil:
		value = k.Sayf("limit-tokens", round(*l.Value))
	case l.LearnedRPS != nil:
		value = round(*l.LearnedRPS) + "/s"
	case l.Value != nil:
		value = round(*l.Value) + " " + l.Unit
	}
	scope := map[string]string{"key": k.Sayf("per-key"), "account": k.Sayf("per-account")}[l.Scope]
	ago := ""
	if l.LearnedAt != nil && now.After(*l.LearnedAt) {
		ago = k.Sayf("ago", Span2(now.Sub(*l.LearnedAt)))
	}
	sure := ""
	if l.Confidence != nil {
		sure = k.Sayf("sure", Whole(100**l.Confidence))
	}
	evidence := l.Evidence
	if strings.HasPrefix(evidence, "~") { // a sentence that says all of this: what it adds is whence
		_, evidence, _ = strings.Cut(evidence, " ago ")
	}
	return joined(k, strings.TrimRight(k.Sayf("limit-learned", value, scope, ago), " "), k.Tell(evidence), sure)
}

// joined are texts with dots between, the empty ones left out.
func joined(k Look, all ...string) string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " "+k.Dot+" ")
}

// round writes a figure without decimals that are none.
func round(v float64) string { return strings.TrimSuffix(Rate(v), ".0") }
