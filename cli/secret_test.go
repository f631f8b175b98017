package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"baton/engine/control"
)

// secrets are what must not be seen anywhere, by what they open.
var secrets = map[string]string{
	"a vendor's key from the environment": "sk-envkey-7f3a9c51d2e84b60",
	"a vendor's key from a file":          "sk-filekey-1b2c3d4e5f607182",
	"a vendor's literal key":              "sk-literal-99aa88bb77cc66dd",
	"a key that a reload brings":          "sk-reloaded-0011223344556677",
	"a client's key":                      "client-key-5566778899aabbcc",
	"the control API's token":             "control-token-ddccbbaa99887766554433",
	"a wrong client key":                  "guess-0a1b2c3d4e5f6a7b",
	"a prompt":                            "my diary of 1987, page twelve",
}

const secretConfig = `
[gateway]
listen = "127.0.0.1:0"
[control]
listen = "127.0.0.1:0"
token = "control-token-ddccbbaa99887766554433"
[[clients]]
name = "search"
key = "client-key-5566778899aabbcc"
[probe]
every = "1s"
[[vendors]]
name = "a"
base_url = "%s/v1"
api_keys = ["env:VENDOR_KEY", "sk-literal-99aa88bb77cc66dd"]
weight = 50
[[vendors]]
name = "b"
base_url = "%s/v1"
api_keys = ["file:key"]
weight = 50
`

// TestSecrets_AreNowhere has vendors that answer with the key and the prompt they
// were given, and looks for them wherever baton writes.
func TestSecrets_AreNowhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	statuses := []int{401, 500, 429, 400, 403, 502, 404, 402}
	n := make(chan int, 1)
	n <- 0
	gossip := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
			return
		}
		i := <-n
		n <- i + 1
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(statuses[i%len(statuses)])
		message, _ := json.Marshal("Incorrect API key provided: " + r.Header.Get("Authorization") + " in " + string(body))
		_, _ = fmt.Fprintf(w, `{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, message)
	}))
	defer gossip.Close()
	dir := t.TempDir()
	text := strings.ReplaceAll(fmt.Sprintf(secretConfig, gossip.URL, gossip.URL), "file:key", "file:"+filepath.Join(dir, "key"))
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(secrets["a vendor's key from a file"]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, text, "VENDOR_KEY="+secrets["a vendor's key from the environment"])

	seen := map[string]string{} // by where
	keys := []string{secrets["a client's key"], secrets["a wrong client key"], ""}
	for i := range 3 * len(statuses) {
		body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}]}`, i%2 == 0, secrets["a prompt"])
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.gateway+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+keys[i%len(keys)])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		head := ""
		for k, v := range resp.Header {
			head += fmt.Sprintln(k, v)
		}
		// A client's own prompt in a vendor's answer to it is no secret.
		seen[fmt.Sprintf("answer %d (%d)", i, resp.StatusCode)] = head + strings.ReplaceAll(string(answer), secrets["a prompt"], "")
	}
	s.do(&control.StartDrill{Scenario: "kill", Vendor: "a", Meta: control.Meta{By: "test"}})
	s.do(&control.ClearFault{Vendor: "a"})
	reload(t, s, strings.ReplaceAll(text, secrets["a vendor's literal key"], secrets["a key that a reload brings"]), "configuration reloaded")
	reload(t, s, text+"\n[[clients]]\nname = \"search\"\nkey = \"client-key-5566778899aabbcc\"\nkye = \"sk-literal-99aa88bb77cc66dd\"\n", "reload refused")

	for _, path := range []string{"/api/v1/snapshot", "/api/v1/events?after=0", "/api/v1/failures", "/api/v1/drills", "/api/v1/counts", "/api/v1/scenarios", "/metrics"} {
		seen[path] = s.get(path)
	}
	if !strings.Contains(seen["/api/v1/failures"], "Incorrect API key provided") {
		t.Errorf("the vendors' messages are not kept at all: %s", seen["/api/v1/failures"])
	}
	s.end(syscall.SIGTERM)
	seen["stderr"] = s.log()
	out, _ := os.ReadFile(s.out.Name())
	seen["stdout"] = string(out)
	err := filepath.WalkDir(s.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "control.token" {
			return err
		}
		b, err := os.ReadFile(path)
		seen[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(s.state, "control.token")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("control.token: %v, %v", fi, err)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(path string) bool { return strings.HasSuffix(path, ".json") }) {
		t.Errorf("no record of a drill among %d places", len(seen))
	}
	for where, text := range seen {
		for what, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in %s: %.200q", what, where, strings.ReplaceAll(text[max(0, i-60):min(len(text), i+80)], secret, "<HERE>"))
			}
		}
	}
}

// reload has the engine read another text, and waits for what the log says of it.
func reload(t *testing.T, s *served, text, says string) {
	t.Helper()
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before := strings.Count(s.log(), says)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, patience, "the log says "+says, func() bool { return strings.Count(s.log(), says) > before })
}
