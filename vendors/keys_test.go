package vendors

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/config"
)

var epoch = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

func fiveKeys() *Keys {
	var secrets []config.Secret
	for i := range 5 {
		secrets = append(secrets, config.NewSecret(fmt.Sprintf("sk-secret-0123456789-%04d", i)))
	}
	return newKeys(secrets, &openai, nil)
}

// taken counts n turns by key.
func taken(k *Keys, now time.Time, n int) map[string]int {
	counts := map[string]int{}
	for range n {
		c, ok := k.Take(now)
		if !ok {
			break
		}
		counts[c.ID]++
	}
	return counts
}

func TestTake_IsEvenOverTheKeysThatAreLeft(t *testing.T) {
	k := fiveKeys()
	all := k.All()
	for _, c := range []struct {
		name string
		do   func()
		live int
	}{
		{"all", func() {}, 5},
		{"one revoked", func() { all[0].Revoke() }, 4},
		{"one more cooling", func() { all[3].Cool(epoch.Add(time.Minute)) }, 3},
		{"four revoked or cooling", func() { all[1].Revoke(); all[2].Revoke() }, 1},
		{"all again", k.Reset, 5},
	} {
		c.do()
		counts := taken(k, epoch, 600)
		if len(counts) != c.live {
			t.Errorf("%s: %v", c.name, counts)
		}
		for id, n := range counts {
			if n != 600/c.live {
				t.Errorf("%s: %s was taken %d times of 600", c.name, id, n)
			}
		}
	}
}

func TestTake_AKeyThatCooledDownDoesNotCatchUp(t *testing.T) {
	k := fiveKeys()
	k.All()[0].Cool(epoch.Add(time.Second))
	taken(k, epoch, 1000)
	if n := taken(k, epoch.Add(time.Second), 100)[k.All()[0].ID]; n != 20 {
		t.Errorf("taken %d times of 100 after cooling down, want 20", n)
	}
}

func TestCool_OnlyEverExtends(t *testing.T) {
	k := newKeys([]config.Secret{config.NewSecret("sk-secret-0123456789")}, &openai, nil)
	c := k.All()[0]
	c.Cool(epoch.Add(time.Minute))
	c.Cool(epoch.Add(time.Second))
	if _, ok := k.Take(epoch.Add(59 * time.Second)); ok {
		t.Error("a shorter cooldown cut the longer one")
	}
	if at, ok := k.Until(epoch); !ok || !at.Equal(epoch.Add(time.Minute)) {
		t.Errorf("until %v, %v", at, ok)
	}
	if _, ok := k.Take(epoch.Add(time.Minute)); !ok {
		t.Error("not taken after its time")
	}
}

func TestRevoke_TheLastKeyLeavesNone(t *testing.T) {
	k := fiveKeys()
	for _, c := range k.All() {
		c.Revoke()
	}
	if _, ok := k.Take(epoch); ok || k.Live() != 0 {
		t.Errorf("taken %v, %d live", ok, k.Live())
	}
	if _, ok := k.Until(epoch); ok {
		t.Error("a revoked key has a time to wait for")
	}
	seen := map[string]bool{}
	for range 5 {
		seen[k.Any().ID] = true
	}
	if len(seen) != 5 {
		t.Errorf("probes of revoked keys go to %v", seen)
	}
	k.All()[2].Restore()
	if c, ok := k.Take(epoch); !ok || c != k.All()[2] || k.Any() != c {
		t.Errorf("restored: %v, %v", c, ok)
	}
}

func TestKeys_WithoutSecretsHaveOne(t *testing.T) {
	k := newKeys(nil, &openai, nil)
	if c, ok := k.Take(epoch); !ok || c.auth != nil || c.ID != "" || k.Len() != 0 || k.Live() != 1 {
		t.Errorf("%v, %v, %d keys, %d live", c, ok, k.Len(), k.Live())
	}
}

func TestKey_NeverPrintsMoreThanFourLetters(t *testing.T) {
	texts := []string{"sk-secret-0123456789-ABCD", "sk-secret-9876543210-ABCD", "tiny", "钥匙钥匙钥匙钥匙钥匙钥匙末四个字"}
	var secrets []config.Secret
	for _, text := range texts {
		secrets = append(secrets, config.NewSecret(text))
	}
	v := open(t, config.Vendor{BaseURL: "https://a.example", APIKeys: append(secrets, secrets...)}, Options{})
	var out strings.Builder
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	plain := slog.New(slog.NewTextHandler(&out, nil))
	ids := map[string]bool{}
	for _, c := range v.Keys.All() {
		ids[c.ID] = true
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb, c)
			fmt.Fprintf(&out, verb, []*Key{c})
			fmt.Fprintf(&out, verb, struct{ k *Key }{c})
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
		logger.Info("key", "key", c, "keys", v.Keys, "vendor", v)
		plain.Info("key", "key", c, "keys", v.Keys)
		fmt.Fprintf(&out, "%+v %#v", v, v.Keys)
	}
	for _, text := range texts {
		if strings.Contains(out.String(), text) || strings.Contains(out.String(), "0123456789") {
			t.Errorf("a key was printed: %s", out.String())
		}
	}
	if len(ids) != 4 || !ids["…ABCD"] || !ids["…ABCD#2"] || !ids["#3"] || !ids["…末四个字"] {
		t.Errorf("ids %v", ids)
	}
}

func TestTake_FromManyGoroutinesIsEven(t *testing.T) {
	k := fiveKeys()
	var group sync.WaitGroup
	var mu sync.Mutex
	counts := map[string]int{}
	for range 8 {
		group.Go(func() {
			mine := taken(k, epoch, 500)
			mu.Lock()
			defer mu.Unlock()
			for id, n := range mine {
				counts[id] += n
			}
		})
	}
	group.Wait()
	for id, n := range counts {
		if n != 800 {
			t.Errorf("%s was taken %d times of 4000", id, n)
		}
	}
}

// Budget: 100 ns with five keys, no allocation.
func BenchmarkTake(b *testing.B) {
	k := fiveKeys()
	b.ReportAllocs()
	for b.Loop() {
		k.Take(epoch)
	}
}
