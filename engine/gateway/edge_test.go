package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func TestEdge_WhatTheGatewayItselfRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body string
		head                     []string
		status                   int
		allow                    string
	}{
		{name: "no JSON", method: "POST", path: chatPath, body: `{"model":`, status: 400},
		{name: "no object", method: "POST", path: chatPath, body: `[1]`, status: 400},
		{name: "no body", method: "POST", path: chatPath, status: 400},
		{name: "no model", method: "POST", path: chatPath, body: `{}`, status: 400},
		{name: "a model that is a number", method: "POST", path: chatPath, body: `{"model":4}`, status: 400},
		{name: "stream is a word", method: "POST", path: chatPath, body: `{"model":"m","stream":"yes"}`, status: 400},
		{name: "something after the body", method: "POST", path: chatPath, body: `{"model":"m"} x`, status: 400},
		{name: "an unknown lane", method: "POST", path: chatPath, body: askWhole, head: []string{headerLane, "fast"}, status: 400},
		{name: "GET of an endpoint", method: "GET", path: chatPath, status: 405, allow: "POST"},
		{name: "OPTIONS", method: "OPTIONS", path: "/v1/embeddings", status: 405, allow: "POST"},
		{name: "POST of models", method: "POST", path: "/v1/models", body: `{}`, status: 405, allow: "GET, HEAD"},
		{name: "no such path", method: "GET", path: "/", status: 404},
		{name: "the version alone", method: "GET", path: "/v1", status: 404},
		{name: "POST of health", method: "POST", path: "/healthz", status: 405, allow: "GET, HEAD"},
		{name: "an encoding nobody reads", method: "POST", path: chatPath, body: "x", head: []string{"Content-Encoding", "br"}, status: 415},
		{name: "gzip that is none", method: "POST", path: chatPath, body: "x", head: []string{"Content-Encoding", "gzip"}, status: 400},
	}
	w := newWorld(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := w.do(tt.method, tt.path, tt.body, tt.head...)
			if x.status != tt.status || x.header.Get("Allow") != tt.allow {
				t.Fatalf("status %d, Allow %q: %s", x.status, x.header.Get("Allow"), x.body)
			}
			w.code(x)
			if w.a.tries()+w.b.tries() != 0 {
				t.Error("a vendor was asked")
			}
		})
	}
}

func TestEdge_BodiesOverTheLimitAre413AndNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": `max_body = "1MiB"`})
	big := `{"model":"m","x":"` + strings.Repeat("y", 1<<20) + `"}`
	if x := w.chat(big); x.status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d: %s", x.status, x.body)
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+chatPath, io.MultiReader(strings.NewReader(big))) // chunked
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge || w.a.tries() != 0 {
		t.Errorf("chunked: status %d, %d tries", res.StatusCode, w.a.tries())
	}
	// Who asks before sending is refused before sending.
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n", chatPath)
	line, _ := bufio.NewReader(c).ReadString('\n')
	if !strings.Contains(line, "413") {
		t.Errorf("the answer to Expect: 100-continue begins with %q", line)
	}
}

func TestEdge_BodiesBeyondTheBufferGoThroughFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": "buffer = \"64KiB\"\nmax_body = \"8MiB\"", "TIMEOUTS": `connect = "5s"`})
	w.a.does(refuses(500, `{}`))
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("long ", 1<<18) + `"}],"model":"m","stream":true}`
	done := make(chan answer, 4)
	for range cap(done) {
		go func() { done <- w.chat(body) }()
	}
	for range cap(done) {
		w.wants(<-done, "bailian")
	}
	want := `{"stream_options":{"include_usage":true},` + body[1:]
	if got := w.b.lastBody(); got != want {
		t.Errorf("upstream got %d bytes, want %d", len(got), len(want))
	}
	eventually(t, "memory is given back", func() bool { return w.g.memory.used.Load() == 0 })
}

func TestEdge_CompressedRequestsAreRead(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	_, _ = io.WriteString(g, askWhole)
	_ = g.Close()
	w := newWorld(t, nil)
	w.wants(w.chat(z.String(), "Content-Encoding", "gzip"), "lanyun")
	if w.a.lastBody() != askWhole || w.a.lastHead().Get("Content-Encoding") != "" {
		t.Errorf("upstream got %q, encoding %q", w.a.lastBody(), w.a.lastHead().Get("Content-Encoding"))
	}
}

func TestEdge_SecretsStayOnTheirSide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"TOP":    "[[clients]]\nname = \"search\"\nkey = \"client-key-123456\"\nlane = \"batch\"\n",
		"LANYUN": `api_keys = ["vendor-key-123456"]`,
	})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Set-Cookie", "v=1")
		rw.Header().Set("Connection", "X-Hop")
		rw.Header().Set("X-Hop", "1")
		rw.Header().Set("X-Ok", "1")
		well("lanyun")(rw, r)
	})
	for _, key := range []string{"", "Bearer wrong", "Basic client-key-123456"} {
		if x := w.chat(askWhole, "Authorization", key); x.status != http.StatusUnauthorized || w.code(x) != "invalid_api_key" {
			t.Errorf("key %q: status %d", key, x.status)
		}
	}
	x := w.chat(askWhole, "Authorization", "Bearer client-key-123456", "Cookie", "c=1", "X-Keep", "1", "X-Forwarded-For", "1.2.3.4", headerRequestID, "rid-1")
	w.wants(x, "lanyun")
	up := w.a.lastHead()
	if up.Get("Authorization") != "Bearer vendor-key-123456" || up.Get("Cookie") != "" || up.Get("X-Forwarded-For") != "" || up.Get("X-Keep") != "1" || up.Get(headerRequestID) != "rid-1" {
		t.Errorf("upstream headers %v", up)
	}
	if x.header.Get("Set-Cookie") != "" || x.header.Get("X-Hop") != "" || x.header.Get("X-Ok") != "1" {
		t.Errorf("headers %v", x.header)
	}
	if x.header.Get(headerLane) != "batch" {
		t.Errorf("lane %q, want the client's own", x.header.Get(headerLane))
	}
	if w.do(http.MethodGet, "/healthz", "").status != 200 || w.do(http.MethodGet, "/v1/models", "").status != 401 {
		t.Error("health needs no key, models do")
	}
}

func TestEdge_FlexIsBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x := w.chat(`{"model":"m","service_tier":"flex"}`)
	if got := x.header.Get(headerLane); got != control.Batch.String() {
		t.Errorf("lane %q", got)
	}
	if x = w.chat(`{"model":"m","service_tier":"flex"}`, headerLane, "interactive"); x.header.Get(headerLane) != "interactive" {
		t.Errorf("the header counts more than the body")
	}
}

func TestEdge_RequestIDsAreKeptOrMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, bad := range []string{"", "has space", strings.Repeat("x", 200)} {
		x := w.chat(askWhole, headerRequestID, bad)
		if id := x.header.Get(headerRequestID); !strings.HasPrefix(id, "req_") || len(id) != 28 {
			t.Errorf("id %q for %q", id, bad)
		}
	}
}

func TestEdge_FullIs503WithRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": `max_in_flight = 1`})
	in, out := make(chan struct{}), make(chan struct{})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		close(in)
		<-out
		well("lanyun")(rw, r)
	})
	first := make(chan answer, 1)
	go func() { first <- w.chat(askWhole) }()
	<-in
	x := w.chat(askWhole)
	if x.status != http.StatusServiceUnavailable || w.code(x) != codeAdmission || x.header.Get("Retry-After") == "" {
		t.Errorf("status %d: %s", x.status, x.body)
	}
	close(out)
	w.wants(<-first, "lanyun")
	w.a.does(well("lanyun"))
	w.wants(w.chat(askWhole), "lanyun")
}

func TestEdge_ModelsAreTheConfiguredOnesOrTheUnion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x := w.do(http.MethodGet, "/v1/models", "")
	for _, id := range []string{"m-lanyun", "m-bailian", "/maas/shared"} {
		if strings.Count(x.body, `"`+id+`"`) != 1 {
			t.Errorf("%s is not there once: %s", id, x.body)
		}
	}
	for _, path := range []string{"/v1/models//maas/shared", "/v1/models/%2Fmaas%2Fshared"} {
		if x := w.do(http.MethodGet, path, ""); x.status != 200 || !strings.Contains(x.body, `"/maas/shared"`) {
			t.Errorf("%s: status %d %s", path, x.status, x.body)
		}
	}
	if x := w.do(http.MethodGet, "/v1/models/none", ""); x.status != 404 || w.code(x) != "model_not_found" {
		t.Errorf("status %d", x.status)
	}
	w = newWorld(t, map[string]string{"ROUTING": `unknown_models = "reject"`, "TOP": "[[models]]\nname = \"/a/b\"\nlanyun = \"x\"\n"})
	if x := w.do(http.MethodGet, "/v1/models", ""); x.body != `{"object":"list","data":[{"id":"/a/b","object":"model","created":0,"owned_by":"baton"}]}` {
		t.Errorf("configured: %s", x.body)
	}
	if x := w.chat(askWhole); x.status != 404 || w.code(x) != "model_not_found" || w.a.tries() != 0 {
		t.Errorf("an unknown model: status %d", x.status)
	}
}

func TestEdge_OtherPathsGoToThePrimaryUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	echo := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/octet-stream")
		rw.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(rw, "%s %s?%s ", r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
		_, _ = io.Copy(rw, r.Body)
	}
	w.a.does(echo)
	w.b.does(echo)
	for range 3 {
		x := w.do(http.MethodPut, "/v1/files//a%2Fb/c?x=1&y=%20", "no JSON", "Content-Type", "multipart/form-data; boundary=x")
		if want := "PUT /v1/files//a%2Fb/c?x=1&y=%20 no JSON"; x.status != 201 || x.body != want || x.header.Get(headerVendor) != "lanyun" {
			t.Errorf("status %d of %s: %q, want %q", x.status, x.header.Get(headerVendor), x.body, want)
		}
	}
	// What the vendor says passes, whatever it is.
	w.a.does(refuses(500, `{"oops":1}`))
	if x := w.do(http.MethodGet, "/v1/files", ""); x.status != 500 || x.body != `{"oops":1}` || w.b.tries() != 0 {
		t.Errorf("status %d %s, %d tries at the other", x.status, x.body, w.b.tries())
	}
	w.a.does(refuses(200, `{"status":"completed","output":[]}`))
	w.do(http.MethodPost, "/v1/responses", `{"model":"m","previous_response_id":"r1"}`)
	if w.b.tries() != 0 {
		t.Error("a response with a previous one went to another account")
	}
}

func TestEdge_SlowBodiesAreGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": `deadline = "300ms"`})
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", chatPath)
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, "408") {
		t.Errorf("%q, %v", line, err)
	}
	eventually(t, "the request ends", func() bool { return w.g.InFlight() == 0 })
}

func TestEdge_OtherPathsMoveOnlyWhenThePrimaryCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.configure(strings.NewReplacer("<A>", "http://127.0.0.1:1", "<B>", w.b.url, "%TIMEOUTS", "", "%GATEWAY", "", "%ROUTING", "", "%TOP", "", "%LANYUN", "", "%BAILIAN", "").Replace(basic))
	for range 12 { // before and after the primary's ejection
		if x := w.do(http.MethodGet, "/v1/files", ""); x.status != 200 || x.header.Get(headerVendor) != "bailian" {
			t.Fatalf("status %d of %q: %s", x.status, x.header.Get(headerVendor), x.body)
		}
	}
}

func TestEdge_OverheadLeavesTheVendorsTimeOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"TIMEOUTS": `connect = "5s"`})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		well("lanyun")(rw, r)
	})
	for _, lane := range []string{"interactive", "batch"} {
		for _, body := range []string{askStream, askWhole} {
			x := w.chat(body, headerLane, lane)
			var us int
			if _, err := fmt.Sscan(x.header.Get(headerOverhead), &us); err != nil || us <= 0 || us > 700_000 {
				t.Errorf("%s %s: %q us", lane, body, x.header.Get(headerOverhead))
			}
		}
	}
}

func TestEdge_ConnectionsToVendorsAreUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	from := map[string]bool{}
	for i := range 40 {
		kind := []string{askStream, askWhole}[i%2]
		w.a.does(func(rw http.ResponseWriter, r *http.Request) {
			from[r.RemoteAddr] = true
			if i%4 == 3 {
				refuses(400, openAIError("x"))(rw, r)
				return
			}
			well("lanyun")(rw, r)
		})
		w.chat(kind)
	}
	if len(from) > 2 {
		t.Errorf("%d connections for 40 requests one after the other", len(from))
	}
}

func TestEdge_ErrorAnswersLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(refuses(500, `{"error":{"message":"x"}}`))
	w.b.does(refuses(400, openAIError("bad")))
	for range 500 {
		if x := w.chat(askStream); x.status != http.StatusBadRequest {
			t.Fatalf("status %d: %s", x.status, x.body)
		}
	}
	eventually(t, "memory is given back", func() bool { return w.g.memory.used.Load() == 0 && w.g.InFlight() == 0 })
	if n := len(w.g.Failures("", 10_000)); n > 3*kept {
		t.Errorf("%d failures are kept", n)
	}
}
