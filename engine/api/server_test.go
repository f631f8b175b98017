package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"baton/engine/control"
)

func TestServer_EveryCallHasItsStatusAndBody(t *testing.T) {
	cases := []struct {
		method, path, data string
		status             int
		want               string // the body, or its beginning if it ends in …
	}{
		{"GET", "/healthz", "", 200, "ok"},
		{"GET", "/api/v1/snapshot", "", 200, `{"time":"0001-01-01T00:00:00Z","version":"1.0.0"…`},
		{"GET", "/api/v1/events", "", 200, `{"events":[{"seq":1,…`},
		{"GET", "/api/v1/events?after=1", "", 200, `{"events":[]}`},
		{"GET", "/api/v1/counts", "", 200, `{"time":"0001-01-01T00:00:00Z","totals":{…`},
		{"GET", "/api/v1/failures", "", 200, `{"failures":[{"time":…`},
		{"GET", "/api/v1/failures?vendor=lanyun&limit=5", "", 200, `{"failures":[{"time":…`},
		{"GET", "/api/v1/scenarios", "", 200, `{"scenarios":[{"name":"kill",…`},
		{"GET", "/api/v1/drills", "", 200, `{"drills":[{"id":"20261201-100000-4f2a",…`},
		{"GET", "/api/v1/drills/20261201-100000-4f2a", "", 200, `{"id":"20261201-100000-4f2a","scenario":"kill",…`},
		{"PUT", "/api/v1/weights", `{"weights":{"lanyun":70,"bailian":30},"for":"15m","by":"ana","reason":"r","override":false,"revision":0}`, 200, `{"revision":1}`},
		{"DELETE", "/api/v1/weights", "", 200, `{"revision":2}`},
		{"PUT", "/api/v1/vendors/lanyun/fault", `{"kind":"refuse","for":"10m","percent":100}`, 200, `{"revision":3}`},
		{"DELETE", "/api/v1/vendors/lanyun/fault", "", 200, `{"revision":4}`},
		{"PUT", "/api/v1/vendors/lanyun/drain", `{"now":false}`, 200, `{"revision":5}`},
		{"DELETE", "/api/v1/vendors/lanyun/drain", `{"by":"ana"}`, 200, `{"revision":6}`},
		{"PUT", "/api/v1/vendors/lanyun/enable", " \n", 200, `{"revision":7}`},
		{"PUT", "/api/v1/vendors/lanyun/limit", `{"rps":20}`, 200, `{"revision":8}`},
		{"DELETE", "/api/v1/vendors/lanyun/limit", "", 200, `{"revision":9}`},
		{"POST", "/api/v1/reload", "", 200, `{"revision":10}`},
		{"POST", "/api/v1/drills", `{"scenario":"kill","vendor":"lanyun","fault":"refuse","for":"15m","id":"my-1"}`, 202, `{"id":"my-1"}`},
		{"POST", "/api/v1/drills", `{"scenario":"kill","vendor":"lanyun"}`, 409, `{"error":{…`},
		{"DELETE", "/api/v1/drills/current", "", 200, `{"revision":10}`},
		{"DELETE", "/api/v1/drills/current", "", 409, `{"error":{…`},
		{"DELETE", "/api/v1/drills/shown", "", 200, `{"revision":10}`},
		{"POST", "/api/v1/drills", `{"scenario":"kill","vendor":"lanyun"}`, 202, `{"id":"20…`},
	}
	p := newPlant()
	p.Log(control.Event{Text: "started"})
	ts := serve(t, p)
	for _, c := range cases {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r := request(t, ts, c.method, c.path, c.data, nil)
			got := strings.TrimSpace(string(r.body))
			if r.status != c.status {
				t.Fatalf("status %d, want %d: %s", r.status, c.status, got)
			}
			if begin, ok := strings.CutSuffix(c.want, "…"); ok && !strings.HasPrefix(got, begin) || !ok && got != c.want {
				t.Errorf("body %s, want %s", got, c.want)
			}
			if strings.HasPrefix(c.path, "/api/") && r.header.Get("Content-Type") != "application/json" {
				t.Errorf("content type %q", r.header.Get("Content-Type"))
			}
		})
	}
}

func TestServer_ListsAreNeverNull(t *testing.T) {
	p := newPlant()
	p.nothing = true
	ts := serve(t, p)
	for _, name := range []string{"events", "drills", "failures", "scenarios"} {
		r := request(t, ts, "GET", "/api/v1/"+name, "", nil)
		if got, want := strings.TrimSpace(string(r.body)), `{"`+name+`":[]}`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestServer_RefusesWithStatusFieldAndReason(t *testing.T) {
	const (
		weights = "/api/v1/weights"
		fault   = "/api/v1/vendors/lanyun/fault"
	)
	cases := []struct {
		name, method, path, data string
		status                   int
		code, field, says        string
	}{
		{"unknown field", "PUT", fault, `{"kind":"refuse","colour":"red"}`, 422, "invalid", "colour", "colour"},
		{"unknown field of a command without any", "POST", "/api/v1/reload", `{"now":true}`, 422, "invalid", "now", "now"},
		{"a field of another call", "DELETE", weights, `{"weights":{}}`, 422, "invalid", "weights", "weights"},
		{"a vendor in the body", "PUT", fault, `{"kind":"refuse","vendor":"bailian"}`, 422, "invalid", "vendor", "vendor"},
		{"unknown fault", "PUT", fault, `{"kind":"explode"}`, 422, "invalid", "kind", "explode"},
		{"no fault", "PUT", fault, `{}`, 422, "invalid", "kind", "missing"},
		{"percent over 100", "PUT", fault, `{"kind":"refuse","percent":101}`, 422, "invalid", "percent", "percent"},
		{"percent 0", "PUT", fault, `{"kind":"refuse","percent":0}`, 422, "invalid", "percent", "percent"},
		{"percent as a word", "PUT", fault, `{"kind":"refuse","percent":"all"}`, 422, "invalid", "percent", "a number"},
		{"percent too large", "PUT", fault, `{"kind":"refuse","percent":1e999}`, 422, "invalid", "percent", "1e999"},
		{"kind as a number", "PUT", fault, `{"kind":7}`, 422, "invalid", "kind", "a string"},
		{"for as a number", "PUT", fault, `{"kind":"refuse","for":15}`, 422, "invalid", "for", "15m"},
		{"for without a unit", "PUT", fault, `{"kind":"refuse","for":"15"}`, 422, "invalid", "for", "unit"},
		{"for as a word", "PUT", fault, `{"kind":"refuse","for":"soon"}`, 422, "invalid", "for", "soon"},
		{"after as a fraction", "PUT", fault, `{"kind":"refuse","after":1.5}`, 422, "invalid", "after", "whole"},
		{"now as a word", "PUT", "/api/v1/vendors/lanyun/drain", `{"now":"yes"}`, 422, "invalid", "now", "true or false"},
		{"no limit", "PUT", "/api/v1/vendors/lanyun/limit", "", 422, "invalid", "rps", "missing"},
		{"weights as a list", "PUT", weights, `{"weights":[70,30]}`, 422, "invalid", "weights", "an object"},
		{"a weight as a word", "PUT", weights, `{"weights":{"lanyun":"70"}}`, 422, "invalid", "weights", "a number"},
		{"no weights", "PUT", weights, "", 422, "invalid", "weights", "missing"},
		{"weights that do not sum", "PUT", weights, `{"weights":{"lanyun":70,"bailian":20}}`, 422, "invalid", "weights", "100"},
		{"unknown name in a body", "PUT", weights, `{"weights":{"lanyun":70,"nobody":30}}`, 422, "invalid", "weights", "nobody"},
		{"revision as a word", "DELETE", weights, `{"revision":"12"}`, 422, "invalid", "revision", "a whole number"},
		{"stale revision", "DELETE", weights, `{"revision":99}`, 409, "stale_revision", "revision", "99"},
		{"unknown scenario", "POST", "/api/v1/drills", `{"scenario":"dance"}`, 422, "invalid", "scenario", "dance"},
		{"no scenario", "POST", "/api/v1/drills", "", 422, "invalid", "scenario", "missing"},
		{"an id that is a path", "POST", "/api/v1/drills", `{"scenario":"kill","id":"../x"}`, 422, "invalid", "id", "../x"},
		{"broken JSON", "PUT", weights, `{"weights":`, 400, "invalid_json", "", "broken JSON"},
		{"no JSON", "PUT", weights, `weights=70`, 400, "invalid_json", "", "broken JSON"},
		{"a list", "PUT", weights, `[1]`, 400, "invalid_json", "", "not a JSON array"},
		{"a string", "PUT", weights, `"x"`, 400, "invalid_json", "", "not a JSON string"},
		{"null", "PUT", weights, `null`, 400, "invalid_json", "", "null"},
		{"trailing data", "PUT", fault, `{"kind":"refuse"} {"kind":"dns"}`, 400, "invalid_json", "", "goes on"},
		{"a trailing bracket", "PUT", fault, `{"kind":"refuse"}]`, 400, "invalid_json", "", "goes on"},
		{"a body over 1 MiB", "PUT", weights, `{"reason":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too_large", "", "1048576"},
		{"unknown vendor in the path", "PUT", "/api/v1/vendors/nobody/fault", `{"kind":"refuse"}`, 404, "not_found", "", "nobody"},
		{"a vendor with a slash", "DELETE", "/api/v1/vendors/a%2Fb/drain", "", 404, "not_found", "", "a/b"},
		{"unknown drill", "GET", "/api/v1/drills/nothing", "", 404, "not_found", "", "nothing"},
		{"unknown path", "GET", "/api/v1/nothing", "", 404, "not_found", "", "/api/v1/nothing"},
		{"the root", "GET", "/", "", 404, "not_found", "", "/"},
		{"a path to be cleaned", "PUT", "/api/v1//weights", `{}`, 404, "not_found", "", "//weights"},
		{"a path with dots", "PUT", "/api/v1/vendors/../weights", `{}`, 404, "not_found", "", ".."},
		{"a slash at the end", "GET", "/api/v1/snapshot/", "", 404, "not_found", "", "snapshot/"},
		{"failover without a mode", "PUT", "/api/v1/failover", `{"for":"5m"}`, 422, "invalid", "mode", "mode"},
		{"failover for a number", "PUT", "/api/v1/failover", `{"mode":"manual","for":30}`, 422, "invalid", "for", "a duration"},
		{"failover for nought", "PUT", "/api/v1/failover", `{"mode":"manual","for":"0s"}`, 422, "invalid", "for", "more than 0"},
		{"a knob and a stale revision", "PUT", "/api/v1/vendors/lanyun/sim", `{"errors":0.2,"revision":99}`, 409, "stale_revision", "revision", "99"},
		{"knobs by a number", "PUT", "/api/v1/vendors/lanyun/sim", `{"errors":0.2,"by":7}`, 422, "invalid", "by", "a string"},
		{"knobs of nobody", "PUT", "/api/v1/vendors/nobody/sim", `{"errors":0.2}`, 404, "not_found", "", "nobody"},
		{"preflight of nothing", "GET", "/api/v1/preflight", "", 422, "invalid", "scenario", "scenario"},
		{"after as a word", "GET", "/api/v1/events?after=x", "", 422, "invalid", "after", "x"},
		{"after below 0", "GET", "/api/v1/events?after=-1", "", 422, "invalid", "after", "-1"},
		{"limit as a word", "GET", "/api/v1/failures?limit=all", "", 422, "invalid", "limit", "all"},
		{"every too fine", "GET", "/api/v1/stream?every=49ms", "", 422, "invalid", "every", "50ms"},
		{"every as a number", "GET", "/api/v1/stream?every=1", "", 422, "invalid", "every", "50ms"},
	}
	p := newPlant()
	ts := serve(t, p)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, ts, c.method, c.path, c.data, nil)
			message, field, code := r.error(t)
			if r.status != c.status || code != c.code || field != c.field || !strings.Contains(message, c.says) {
				t.Errorf("%d %q field %q: %s\nwant %d %q field %q: …%s…", r.status, code, field, message, c.status, c.code, c.field, c.says)
			}
		})
	}
	if p.last() != nil {
		t.Errorf("a refused command took effect: %#v", p.last())
	}
}

func TestServer_ADrillWhileOneRunsIsAConflict(t *testing.T) {
	ts := serve(t, newPlant())
	const kill = `{"scenario":"kill","vendor":"lanyun"}`
	if r := request(t, ts, "POST", "/api/v1/drills", kill, nil); r.status != 202 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	r := request(t, ts, "POST", "/api/v1/drills", kill, nil)
	if _, _, code := r.error(t); r.status != 409 || code != "conflict" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestServer_WrongMethodsNameTheRightOnes(t *testing.T) {
	ts := serve(t, newPlant())
	cases := []struct{ method, path, allow string }{
		{"POST", "/api/v1/snapshot", "GET, HEAD"},
		{"GET", "/api/v1/weights", "PUT, DELETE"},
		{"PATCH", "/api/v1/vendors/lanyun/fault", "PUT, DELETE"},
		{"PUT", "/api/v1/drills", "GET, HEAD, POST"},
		{"OPTIONS", "/api/v1/reload", "POST"},
		{"DELETE", "/metrics", "GET, HEAD"},
	}
	for _, c := range cases {
		r := request(t, ts, c.method, c.path, "", nil)
		if r.status != 405 || r.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %q", c.method, c.path, r.status, r.header.Get("Allow"), c.allow)
		}
		r.error(t)
	}
}

func TestServer_HeadsAnswerLikeGets(t *testing.T) {
	ts := serve(t, newPlant())
	for _, path := range []string{"/healthz", "/metrics", "/api/v1/snapshot", "/api/v1/events", "/api/v1/stream"} {
		if r := request(t, ts, "HEAD", path, "", nil); r.status != 200 || len(r.body) != 0 {
			t.Errorf("HEAD %s: %d %q", path, r.status, r.body)
		}
	}
}

func TestServer_TokenOpensEverythingButHealthAndMetrics(t *testing.T) {
	ts := serve(t, newPlant())
	auth := func(v string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			if v != "" {
				r.Header.Set("Authorization", v)
			}
		}
	}
	cases := []struct {
		name, path, auth string
		status           int
	}{
		{"right", "/api/v1/snapshot", "Bearer " + token, 200},
		{"the scheme in small letters", "/api/v1/snapshot", "bearer " + token, 200},
		{"none", "/api/v1/snapshot", "", 401},
		{"wrong", "/api/v1/snapshot", "Bearer wrong", 401},
		{"its beginning", "/api/v1/snapshot", "Bearer " + token[:10], 401},
		{"longer", "/api/v1/snapshot", "Bearer " + token + "x", 401},
		{"empty", "/api/v1/snapshot", "Bearer ", 401},
		{"bare", "/api/v1/snapshot", token, 401},
		{"basic", "/api/v1/snapshot", "Basic " + token, 401},
		{"an unknown path tells nothing", "/api/v1/nothing", "", 401},
		{"health", "/healthz", "", 200},
		{"metrics", "/metrics", "", 200},
		{"beside metrics", "/metrics/", "", 401},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, ts, "GET", c.path, "", auth(c.auth))
			if r.status != c.status {
				t.Fatalf("%d, want %d: %s", r.status, c.status, r.body)
			}
			if c.status == 401 {
				message, _, code := r.error(t)
				if code != "unauthorized" || r.header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(message, token) {
					t.Errorf("%s %v", r.body, r.header)
				}
			}
		})
	}
}

func TestServer_WithoutATokenAdmitsNobody(t *testing.T) {
	h := NewServer(Options{Control: newPlant()})
	s := h.(*server)
	for _, a := range []string{"", "Bearer", "Bearer "} {
		if s.authorized(&http.Request{Header: http.Header{"Authorization": {a}}}) {
			t.Errorf("%q was let in", a)
		}
	}
}

func TestServer_RefusesForeignHostsAndPages(t *testing.T) {
	ts := serve(t, newPlant())
	hosts := map[string]int{
		"localhost": 200, "LOCALHOST:8089": 200, "127.0.0.1": 200, "127.0.0.1:8089": 200, "127.9.9.9:1": 200, "[::1]": 200, "[::1]:8089": 200,
		"evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "10.0.0.1:8089": 403, "0.0.0.0": 403, "128.0.0.1": 403, "[::2]:8089": 403, "127.1": 403,
	}
	for _, path := range []string{"/api/v1/snapshot", "/healthz", "/metrics"} {
		for host, status := range hosts {
			r := request(t, ts, "GET", path, "", func(r *http.Request) { r.Host = host })
			if r.status != status {
				t.Errorf("%s at host %s: %d, want %d", path, host, r.status, status)
			}
		}
		for _, origin := range []string{"https://evil.example", "http://127.0.0.1:8089", "null", ""} {
			r := request(t, ts, "GET", path, "", func(r *http.Request) { r.Header["Origin"] = []string{origin} })
			if _, _, code := r.error(t); r.status != 403 || code != "forbidden" {
				t.Errorf("%s from origin %q: %d", path, origin, r.status)
			}
		}
	}
}

func TestServer_ACommandSaysItsOwnRevision(t *testing.T) {
	p := newPlant()
	ts := serve(t, p)
	var got changed
	for want := int64(1); want < 4; want++ {
		r := request(t, ts, "POST", "/api/v1/reload", "", nil)
		if err := json.Unmarshal(r.body, &got); err != nil || got.Revision != want {
			t.Fatalf("%s, want %d", r.body, want)
		}
	}
	if who := control.WhoOf(p.last()); who != "operator:api" {
		t.Errorf("who %q", who)
	}
}

func TestServer_ErrorsOfTheEngineAreItsOwn(t *testing.T) {
	p := newPlant()
	p.tally = nil
	hub := control.NewHub(control.Backend{Ask: p.answer, Fill: func(s *control.Snapshot) {
		s.Service.P50ms = control.Figure(nan())
	}}, nil)
	p.Hub = hub
	ts := serve(t, p)
	if r := request(t, ts, "GET", "/api/v1/snapshot", "", nil); r.status != 500 {
		t.Errorf("a state that is no JSON: %d %s", r.status, r.body)
	} else if _, _, code := r.error(t); code != "internal" {
		t.Errorf("%s", r.body)
	}
}
