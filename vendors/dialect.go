package vendors

import (
	"slices"

	"baton/engine/outcome"
)

// dialects are the tables of how vendors spell errors, ids and keys, by name. The
// figures and words are the vendors' own documentation's, or bodies as they were seen.
var dialects = map[string]*outcome.Dialect{
	"openai":      &openai,
	"azure":       &azure,
	"vllm":        &vllm,
	"bailian":     &bailian,
	"deepseek":    &deepseek,
	"siliconflow": &siliconflow,
	"zhipu":       &zhipu,
	"moonshot":    &moonshot,
	"ark":         &ark,
}

// Dialect returns the dialect of that name, as vendors' dialect key spells it. It is
// shared: nobody may write to it.
func Dialect(name string) (*outcome.Dialect, bool) {
	d, ok := dialects[name]
	return d, ok
}

// DialectNames returns the names of all dialects, sorted.
func DialectNames() []string {
	names := make([]string, 0, len(dialects))
	for name := range dialects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// scoped is a scope for a rule that means a narrower or wider one than its class.
func scoped(s outcome.Scope) *outcome.Scope { return &s }

var (
	theVendor = scoped(outcome.ScopeVendor)
	theModel  = scoped(outcome.ScopeModel)
)

const (
	authorization = "Authorization"
	bearer        = "Bearer "
)
