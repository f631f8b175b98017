package config

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// canary stands wherever a secret may stand.
const canary = "s3cr3tC4n4ry"

func TestSecrets_NeverStandInAnError(t *testing.T) {
	spellings := []string{
		`"` + canary + `"`, `'` + canary + `'`, `"` + canary + `\n"`, `"env:` + canary + `"`, `"file:` + canary + `"`, `"file:keys/` + canary + `"`,
		`["` + canary + `"]`, `{ v = "` + canary + `" }`, `"""` + canary, `"` + canary, `'` + canary, canary, `99` + canary, `"` + canary + `\q"`, `= "` + canary + `"`, `"` + canary + `" x`,
	}
	shapes := []string{
		"[control]\ntoken = %s\n", "[[clients]]\nname = \"c\"\nkey = %s\n", "[[clients]]\nname = \"c\"\nlane = \"x\"\nkey = %s\n", "clients = [{ name = \"c\", key = %s }]\n",
		"[[vendors]]\nname = \"a\"\nbase_url = \"x\"\napi_keys = [%s]\n", "[[vendors]]\nname = \"a\"\napi_keys = [\n  \"other\",\n  %s,\n]\n", "[[vendors]]\nname = \"a\"\napi_keys = %s\n",
		"control.token = %s\n", "[[clients]]\nkey = %s\n[[clients]]\nkey = %[1]s\n", "[control]\ntokn = %s\n", "[[clients]]\nKey = %s\n", "[[vendors]]\napi_key = %s\n",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, shape := range shapes {
		for _, spelling := range spellings {
			text := fmt.Sprintf(shape, spelling)
			if rnd.IntN(2) == 0 {
				text = "[gateway]\nlissen = 1\n" + text
			}
			c, err := Parse("c.toml", []byte(text+two), noEnv)
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("%s\nof\n%s", err, text)
			}
			if out := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(out, canary) {
				t.Errorf("formatting shows the secret of\n%s\n%s", text, out)
			}
		}
	}
}

func TestSecrets_DoNotPrint(t *testing.T) {
	c := parse(t, "[[clients]]\nname = \"c\"\nkey = \""+canary+"\"\n"+two)
	out, err := json.Marshal(c)
	if err != nil || strings.Contains(string(out), canary) || strings.Contains(fmt.Sprintf("%v %+v %#v %s", *c, c, c.Clients, c.Clients[0].Key), canary) {
		t.Errorf("printed: %s (%v)", out, err)
	}
	if c.Clients[0].Key.Reveal() != canary {
		t.Error("lost")
	}
}

func TestSecrets_UrlsShowNoPassword(t *testing.T) {
	for _, url := range []string{"https://u:%s@h/v1", "ftp://u:%s@h/v1", "u:%s@h", "https://h/v1?key=%s#f", "ftp://h/?key=%s", "https://u:%s@h:99999/", "https://%%zz%s", "mailto:%s@h"} {
		_, err := Parse("c.toml", []byte(real(fmt.Sprintf(url, canary))), noEnv)
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestDiff_SaysWhatAReloadChanged(t *testing.T) {
	before := parse(t, two+"weight = 25\nband = [20, 30]\n[[clients]]\nname = \"c\"\nkey = \"old-"+canary+"\"\n"+
		"[[models]]\nname = \"m\"\na = \"x\"\n")
	after := parse(t, "[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\nrole = \"secondary\"\nweight = 30\nband = [25, 35]\nlabel = \"B\"\n"+
		"[[vendors]]\nname = \"new\"\nbase_url = \"http://127.0.0.1:1/v1\"\nrole = \"primary\"\napi_keys = [\""+canary+"\"]\n"+
		"[[clients]]\nname = \"c\"\nkey = \"new-"+canary+"\"\nlane = \"batch\"\n[routing]\nattempts = 2\nslo_p99 = \"3s\"\n[[models]]\nname = \"m\"\nb = \"x\"\n[gateway]\nmax_body = \"1MiB\"\n")
	want := `gateway.max_body 64MiB -> 1MiB
routing.slo_p99 2s -> 3s
routing.attempts 3 -> 2
client c: key changed
client c: lane "interactive" -> "batch"
model m: name at vendors changed
vendor a removed
vendor b: label "b" -> "B"
vendor b: weight 25 -> 30
vendor b: band [20 30] -> [25 35]
vendor new added`
	if got := strings.Join(before.Diff(after), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if same := after.Diff(after); same != nil {
		t.Errorf("no change: %q", same)
	}
}

// FuzzParse: no text makes it panic; what it accepts is valid still when looked
// at again without its file, and completing it a second time changes nothing.
func FuzzParse(f *testing.F) {
	f.Add(string(builtIn(f)))
	f.Add(two + "[[models]]\nname = \"m\"\na = \"x\"\ncontext = { b = 3 }")
	f.Add(two + "[drill]\nblackout = [2026-10-01]\nschedule = [{ cron = \"0 10 * * 2\", scenario = \"kill\" }]")
	f.Add(real("https://h/v1") + "weight = 33.33\nband = [0, 100]\napi_keys = [\"env:KEY\"]\n[[vendors.price]]\ninput = 2.0")
	f.Add("[[vendors]]\nname = \"a\"\nrole = \"candidate\"\nsimulate = \"faults\"\n" + two)
	f.Add("[[clients]]\nname = \"c\"\nkey = \"file:/dev/null\"\n[gateway]\nlisten = \":1\"\nmax_body = \"9GB\"")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file:") && !strings.Contains(text, "file:/dev/null") {
			t.Skip("reads no files of this machine")
		}
		c, err := Parse("c.toml", []byte(text), func(n string) string { return map[string]string{"KEY": canary}[n] })
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), canary) && !strings.Contains(text, canary) {
				t.Errorf("error %q", err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("accepted, but: %v\n%s", err, text)
		}
		again := *c
		again.Vendors = append([]Vendor(nil), c.Vendors...)
		if err := again.Complete(); err != nil {
			t.Errorf("completing it again: %v\n%s", err, text)
		}
		if d := c.Diff(c); d != nil {
			t.Errorf("differs from itself: %q", d)
		}
	})
}
