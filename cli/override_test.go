package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"baton/engine/control"
)

func TestOverrides_AKeyThatIsRefusedIsOneUntilPeopleEnableIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts an engine")
	}
	var mended atomic.Bool
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.Header.Get("Authorization"), "-second-0000000") && !mended.Load():
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		default:
			_, _ = io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
		}
	}))
	defer vendor.Close()
	s := serve(t, fmt.Sprintf(`
[gateway]
listen = "127.0.0.1:0"
[control]
listen = "127.0.0.1:0"
[[vendors]]
name = "a"
base_url = "%[1]s/v1"
api_keys = ["env:FIRST", "env:SECOND"]
weight = 60
[[vendors]]
name = "b"
base_url = "%[1]s/v1"
weight = 40
`, vendor.URL), "FIRST=sk-first-0000000", "SECOND=sk-second-0000000")
	overrides := func() []control.Override { return s.snapshot().Overrides }
	until(t, patience, "a key is refused", func() bool {
		resp, err := http.Post(s.gateway+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return len(overrides()) > 0
	})
	if o := overrides()[0]; o.Kind != "disabled" || o.Vendor != "a" || o.Text != "1 of 2 keys of a refused" || o.Release != "baton enable a" || o.Until != nil {
		t.Fatalf("%+v", o)
	}
	mended.Store(true)
	s.do(&control.Enable{Vendor: "a"})
	if o := overrides(); len(o) > 0 {
		t.Fatalf("enabled, and there still is %+v", o)
	}
	until(t, patience, "the journal says it", func() bool { return strings.Contains(s.log(), "all 2 keys are in the rotation again") })
}
