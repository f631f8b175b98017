package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck_SaysWhatWouldHurt(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer dead-key-0002" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[]}`))
	}))
	defer well.Close()
	file := filepath.Join(t.TempDir(), "c.toml")
	text := `[[models]]
name = "m"
a = "m-a"
[[vendors]]
name = "a"
base_url = "` + well.URL + `/v1"
api_keys = ["live-key-0001", "dead-key-0002"]
[[vendors]]
name = "b"
base_url = "http://127.0.0.1:1/v1"
api_keys = ["file:key"]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "key"), []byte("other-key-0003"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := run(t, "check", "--config", file)
	if code != exitNo {
		t.Errorf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{"0001", "answers\n", "answers 401", "does not answer", "model m has one home, a", "a key stands in the file itself"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "live-key") || strings.Contains(out, "other-key") {
		t.Errorf("it shows a key:\n%s", out)
	}
	if out, errs, code := run(t, "check"); code != exitOK || !strings.Contains(out, "SIMULATED") {
		t.Errorf("the built-in configuration: %d, %s, %s", code, out, errs)
	}
}
