package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/scan"
)

// Whatever the body: it parses as encoding/json has it, and the vendor's version
// of it differs in the model and in include_usage alone.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		askWhole, askStream,
		`{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1}}`,
		`{"stream_options":null,"stream":true,"model":"\u006d","model":"n"}`,
		` {"mod\u0065l":"a","stream":null,"messages":[ ],"service_tier":"flex","n":2}`,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true,"include_usage":null}}`,
		`{"model":"m","stream":true,"stream_options":{},"stream_options":{"a":[]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := call{endpoint: outcome.Chat, prefillable: true}
		err := c.parse([]byte(body))
		var want map[string]any
		valid := json.Unmarshal([]byte(body), &want) == nil && want != nil
		model, isText := want["model"].(string)
		if err != nil {
			if streamOK := want["stream"] == nil || reflect.TypeOf(want["stream"]).Kind() == reflect.Bool; valid && isText && streamOK && !repeated(body) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if !valid || !isText || c.model != model {
			t.Fatalf("model %q of %v", c.model, want)
		}
		brace := 0
		for body[brace] != '{' {
			brace++
		}
		e := c.editsFor("mapped", true, brace)
		out := scan.Splice(nil, []byte(body), e.list[:e.n]...)
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("the vendor's body is no JSON: %v\n%s", err, out)
		}
		if e.size(int64(len(body))) != int64(len(out)) {
			t.Fatalf("size %d, want %d", e.size(int64(len(body))), len(out))
		}
		if got["model"] != "mapped" {
			t.Fatalf("model %v in %s", got["model"], out)
		}
		options, isObject := got["stream_options"].(map[string]any)
		if c.stream && (want["stream_options"] == nil || isObject) && options["include_usage"] != true {
			t.Fatalf("no usage asked for in %s", out)
		}
		for _, m := range []map[string]any{want, got} {
			delete(m, "model")
			delete(m, "stream_options")
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("more was changed than the model and the usage: %s", out)
		}
	})
}

// repeated says whether a member occurs twice, where a bad value that does not
// count is refused all the same.
func repeated(body string) bool {
	seen := map[string]bool{}
	twice := false
	_ = scan.Object([]byte(body), func(key, _ []byte, _ int) bool {
		twice = twice || seen[string(key)]
		seen[string(key)] = true
		return true
	})
	return twice
}

func TestCall_LaneIsTheHeadersThenTheBodysThenTheClients(t *testing.T) {
	batch := &clientKey{lane: control.Batch}
	tests := []struct {
		header string
		flex   bool
		key    *clientKey
		want   control.Lane
	}{
		{"", false, nil, control.Interactive},
		{"", false, batch, control.Batch},
		{"", true, nil, control.Batch},
		{"interactive", true, batch, control.Interactive},
		{" Batch ", false, nil, control.Batch},
	}
	for _, tt := range tests {
		h := http.Header{}
		if tt.header != "" {
			h.Set(headerLane, tt.header)
		}
		c := call{flex: tt.flex}
		if got, err := c.lane(h, tt.key); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
}

func TestCall_RoutesByTheWholePath(t *testing.T) {
	tests := map[string]struct {
		endpoint outcome.Endpoint
		bound    bool
	}{
		"/v1/chat/completions":  {outcome.Chat, false},
		"/v1/completions":       {outcome.Completions, false},
		"/v1/embeddings":        {outcome.Embeddings, false},
		"/v1/responses":         {outcome.Responses, false},
		"/v1/responses/r1":      {outcome.Other, true},
		"/v1//chat/completions": {outcome.Other, true},
		"/v1/chat/completions/": {outcome.Other, true},
		"/v1/files/a%2Fb":       {outcome.Other, true},
	}
	for path, want := range tests {
		var c call
		if _, ok := c.route(httptest.NewRequest(http.MethodPost, path, nil)); !ok || c.endpoint != want.endpoint || c.bound != want.bound {
			t.Errorf("%s: endpoint %d, bound %v", path, c.endpoint, c.bound)
		}
	}
	for _, path := range []string{"/v1/files/../admin", "/v1/%2e%2e/admin", "/v1/..%2fadmin", "/v1/files/.", "/v1/files/%2e%2e/admin"} {
		var c call
		if _, ok := c.route(httptest.NewRequest(http.MethodPost, path, nil)); ok {
			t.Errorf("%s goes to a vendor", path)
		}
	}
}
