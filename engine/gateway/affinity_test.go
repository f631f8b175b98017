package gateway

import (
	"fmt"
	"strings"
	"testing"

	"baton/engine/affinity"
	"baton/vendors"
)

// equalWorld is a world in which both vendors take half.
func equalWorld(t *testing.T, routing string) *world {
	w := newWorld(t, map[string]string{"ROUTING": routing})
	w.share(50, 50)
	return w
}

// share gives the vendors other weights, as a reload does.
func (w *world) share(a, b float64) {
	w.Helper()
	cfg := *w.cfg
	cfg.Vendors = append(cfg.Vendors[:0:0], cfg.Vendors...)
	for i, x := range []float64{a, b} {
		cfg.Vendors[i].Weight, cfg.Vendors[i].Band = x, []float64{0, 100}
	}
	w.reload(cfg.Routing.Affinity, func() { w.cfg = &cfg })
}

// reload changes routing.affinity while the gateway runs.
func (w *world) reload(name string, change func()) {
	w.Helper()
	change()
	cfg := *w.cfg
	cfg.Routing.Affinity = name
	w.cfg = &cfg
	set, err := vendors.Open(w.cfg, vendors.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.engine.Reload(w.cfg)
	w.g.Reload(w.cfg, set)
}

// kept sends 9 requests of each of 7 conversations in turn, and says how many of the
// 63 went where most of their conversation went: taking turns, 35 do.
func (w *world) kept(body func(conversation int) string, head func(conversation int) []string) int {
	w.Helper()
	at := map[int]map[string]int{}
	for range 9 {
		for c := range 7 {
			var h []string
			if head != nil {
				h = head(c)
			}
			x := w.chat(body(c), h...)
			if x.status != 200 {
				w.Fatalf("%d %s", x.status, x.short())
			}
			if at[c] == nil {
				at[c] = map[string]int{}
			}
			at[c][x.header.Get(headerVendor)]++
		}
	}
	n := 0
	for _, counts := range at {
		n += max(counts["lanyun"], counts["bailian"])
	}
	return n
}

func member(name string) func(int) string {
	return func(c int) string {
		return strings.Replace(askWhole, `{"model"`, fmt.Sprintf(`{%q:"conversation-%d","model"`, name, c), 1)
	}
}

func plainBody(int) string { return askWhole }

func TestAffinity_RequestsOfAConversationPreferOneVendor(t *testing.T) {
	t.Parallel()
	header := func(name string) func(int) []string {
		return func(c int) []string { return []string{name, fmt.Sprint("conversation-", c)} }
	}
	for _, tt := range []struct {
		name, routing string
		body          func(int) string
		head          func(int) []string
		keeps         bool
	}{
		{"a member", `affinity = "prompt_cache_key"`, member("prompt_cache_key"), nil, true},
		{"user", `affinity = "user"`, member("user"), nil, true},
		{"a header", `affinity = "x-session-id"`, plainBody, header("X-Session-Id"), true},
		{"another member", `affinity = "prompt_cache_key"`, member("user"), nil, false},
		{"another header", `affinity = "x-session-id"`, plainBody, header("X-Other"), false},
		{"not configured", "", member("prompt_cache_key"), nil, false},
		{"a member that is no string", `affinity = "user"`, func(int) string { return strings.Replace(askWhole, `{`, `{"user":7,`, 1) }, nil, false},
		{"an empty one", `affinity = "user"`, func(int) string { return strings.Replace(askWhole, `{`, `{"user":"",`, 1) }, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := equalWorld(t, tt.routing)
			got := w.kept(tt.body, tt.head)
			if tt.keeps != (got >= 45) || !tt.keeps && got > 40 {
				t.Errorf("%d of 63 requests were where most of their conversation was", got)
			}
			if a, b := w.a.tries(), w.b.tries(); a < 27 || b < 27 {
				t.Errorf("the vendors took %d and %d of 63", a, b)
			}
		})
	}
}

func TestAffinity_AReloadChangesItAtOnce(t *testing.T) {
	t.Parallel()
	w := equalWorld(t, "")
	before := w.kept(member("user"), nil)
	w.reload("user", func() {})
	with := w.kept(member("user"), nil)
	w.reload("", func() {})
	after := w.kept(member("user"), nil)
	if before > 40 || with < 45 || after > 40 {
		t.Errorf("of 63 requests %d, %d and %d were where most of their conversation was", before, with, after)
	}
}

func TestAffinity_TheKeyIsReadWithoutAllocating(t *testing.T) {
	body := []byte(member("user")(7))
	read := func(name string) (float64, uint64) {
		var c call
		allocs := testing.AllocsPerRun(100, func() {
			c = call{affinity: name}
			if err := c.parse(body); err != nil {
				t.Fatal(err)
			}
		})
		return allocs, c.conversation
	}
	without, none := read("")
	with, key := read("user")
	if key != affinity.Key("conversation-7") || none != 0 {
		t.Fatalf("the key is %x, and %x where none is configured", key, none)
	}
	if with > without {
		t.Errorf("%v allocations, %v without affinity", with, without)
	}
}
