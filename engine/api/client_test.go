package api

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func nan() float64 { return math.NaN() }

func TestClient_EveryCommandArrivesAsItWasSent(t *testing.T) {
	p := newPlant()
	c := client(t, serve(t, p))
	half, ten, now := 50.0, 10, int64(0)
	meta := control.Meta{By: "ana"}
	m := control.Duration(time.Minute)
	revision := func() *int64 { r := p.Revision(); return &r }
	cases := []func() control.Command{
		func() control.Command {
			return &control.SetWeights{Meta: control.Meta{By: "ana", Revision: &now}, Weights: map[string]float64{"lanyun": 66.5, "bailian": 33.5}, For: 15 * m, Reason: "a “reason”", Override: true}
		},
		func() control.Command { return &control.ReleaseWeights{Meta: meta} },
		func() control.Command {
			return &control.SetFault{Meta: meta, Vendor: "lanyun", FaultSpec: control.FaultSpec{Kind: "refuse", Percent: &half, For: 10 * m, Ramp: m, Lane: "batch", Delay: m, Rate: 1.5, After: &ten, InFlight: "cut"}}
		},
		func() control.Command { return &control.ClearFault{Meta: meta, Vendor: "lanyun"} },
		func() control.Command { return &control.Drain{Meta: meta, Vendor: "lanyun", Now: true} },
		func() control.Command { return &control.Drain{Meta: meta, Vendor: "bailian"} },
		func() control.Command { return &control.Undrain{Meta: meta, Vendor: "lanyun"} },
		func() control.Command { return &control.Enable{Meta: meta, Vendor: "lanyun"} },
		func() control.Command { return &control.SetLimit{Meta: meta, Vendor: "lanyun", RPS: 0.5} },
		func() control.Command { return &control.SetLimit{Meta: meta, Vendor: "lanyun"} },
		func() control.Command { return &control.ForgetLimit{Meta: meta, Vendor: "lanyun"} },
		func() control.Command {
			return &control.StartDrill{Meta: meta, ID: "x-1", Scenario: "kill", Vendor: "lanyun", Fault: "refuse", For: 15 * m, Note: "n", Ticket: "T-1"}
		},
		func() control.Command { return &control.AbortDrill{Meta: meta} },
		func() control.Command { return &control.DismissDrill{Meta: meta} },
		func() control.Command { return &control.MarkDrill{Meta: meta, Task: 2} },
		func() control.Command { return &control.CancelScheduled{Meta: meta, ID: "x-1"} },
		func() control.Command { return &control.DismissIncident{Meta: meta} },
		func() control.Command { return &control.SetFailover{Meta: meta, Mode: "manual", For: 15 * m} },
		func() control.Command { return &control.SetFailover{Meta: meta, Mode: "auto"} },
		func() control.Command {
			return &control.SetSim{Meta: control.Meta{By: "ana", Revision: revision()}, Vendor: "lanyun", Knobs: json.RawMessage(`{"errors":0.2,"first_token":"2s"}`)}
		},
		func() control.Command { return &control.Reload{Meta: meta} },
	}
	for _, make := range cases {
		sent, want := make(), make()
		t.Run(reflect.TypeOf(sent).Elem().Name(), func(t *testing.T) {
			if err := c.Do(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
			got := p.last()
			if _, drill := sent.(*control.StartDrill); !drill && control.RevisionAfter(sent) != p.Revision() || control.RevisionAfter(got) != p.Revision() {
				t.Errorf("made revision %d here and %d there, want %d", control.RevisionAfter(sent), control.RevisionAfter(got), p.Revision())
			}
			control.Made(got, 0)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %#v\nwant %#v", got, want)
			}
		})
	}
}

func TestClient_EveryQuestionIsAnsweredAsByTheHub(t *testing.T) {
	p := newPlant()
	p.Log(control.Event{Text: "one", Data: map[string]any{"a": "b"}, Time: time.Now().Round(0)})
	p.Log(control.Event{Text: "two"})
	c := client(t, serve(t, p))
	for _, q := range []control.Query{
		control.State{},
		control.EventsAfter{},
		control.EventsAfter{Seq: 1},
		control.EventsAfter{Seq: -1},
		control.Counts{},
		control.FailuresOf{},
		control.FailuresOf{Vendor: "lanyun", Limit: 3},
		control.Drills{},
		control.DrillByID{ID: "20261201-100000-4f2a"},
		control.Scenarios{},
	} {
		t.Run(reflect.TypeOf(q).Name(), func(t *testing.T) {
			there, err := c.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			here, err := p.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(there) != reflect.TypeOf(here) {
				t.Fatalf("a %T, want a %T", there, here)
			}
			a, _ := json.Marshal(there)
			b, _ := json.Marshal(here)
			if string(a) != string(b) {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
	last := p.asked[len(p.asked)-1]
	if _, ok := last.(control.Scenarios); !ok {
		t.Errorf("the last question was %#v", last)
	}
}

func TestClient_GivesADrillItsID(t *testing.T) {
	c := client(t, serve(t, newPlant()))
	cmd := &control.StartDrill{Scenario: "kill", Vendor: "lanyun"}
	if err := c.Do(t.Context(), cmd); err != nil || cmd.ID == "" {
		t.Errorf("id %q, %v", cmd.ID, err)
	}
}

func TestClient_ErrorsKeepTheirKindAndField(t *testing.T) {
	p := newPlant()
	ts := serve(t, p)
	stale := int64(99)
	good := client(t, ts)
	bad := NewClient(ts.URL, "wrong-token-wrong")
	defer bad.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusTeapot) }))
	defer other.Close()
	cases := []struct {
		name  string
		c     *Client
		cmd   control.Command
		kind  control.Kind
		field string
	}{
		{"invalid", good, &control.SetWeights{Weights: map[string]float64{"nobody": 100}}, control.Invalid, "weights"},
		{"not found", good, &control.Drain{Vendor: "nobody"}, control.NotFound, ""},
		{"a name that is a path", good, &control.Drain{Vendor: "../x/y?z#"}, control.NotFound, ""},
		{"no name", good, &control.Drain{}, control.NotFound, ""},
		{"stale", good, &control.Drain{Meta: control.Meta{Revision: &stale}, Vendor: "lanyun"}, control.Stale, "revision"},
		{"conflict", good, &control.AbortDrill{}, control.Conflict, ""},
		{"denied", bad, &control.Drain{Vendor: "lanyun"}, control.Denied, ""},
		{"unreachable", client(t, gone), &control.Drain{Vendor: "lanyun"}, control.Unreachable, ""},
		{"another program", client(t, other), &control.Drain{Vendor: "lanyun"}, control.Internal, ""},
		{"NaN", good, &control.SetLimit{Vendor: "lanyun", RPS: nan()}, control.Invalid, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.c.Do(t.Context(), c.cmd)
			var e *control.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Field != c.field || e.Message == "" {
				t.Errorf("got %#v, want kind %d field %q", err, c.kind, c.field)
			}
			if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "wrong-token") {
				t.Errorf("the token is in %q", err)
			}
		})
	}
}

func TestClient_TheTokenStaysOnThisMachine(t *testing.T) {
	ts := serve(t, newPlant())
	host := strings.TrimPrefix(ts.URL, "http://")
	for base, ok := range map[string]bool{
		ts.URL: true, ts.URL + "/": true, host: true, "localhost" + host[strings.LastIndex(host, ":"):]: true,
		"https://" + host: false, "http://192.0.2.1:8089": false, "http://baton.example": false, "http://127.0.0.1.example:1": false,
		"http://user:" + token + "@" + host: false, ts.URL + "/?token=" + token: false, ts.URL + "/v1": false, "http://%zz": false, "": false, "ftp://127.0.0.1": false,
	} {
		c := NewClient(base, token)
		_, err := c.Ask(t.Context(), control.State{})
		c.Close()
		var e *control.Error
		if ok && err != nil || !ok && (!errors.As(err, &e) || e.Kind != control.Invalid) {
			t.Errorf("%s: %v", base, err)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the token is in %q", base, err)
		}
	}
	c := NewClient(ts.URL, "line\nbreak-"+token)
	defer c.Close()
	if _, err := c.Ask(t.Context(), control.State{}); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("a token with a line break: %v", err)
	}
}

func TestClient_FollowsNoRedirect(t *testing.T) {
	ts := serve(t, newPlant())
	away := httptest.NewServer(http.RedirectHandler(ts.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	if _, err := client(t, away).Ask(t.Context(), control.State{}); err == nil {
		t.Error("a redirect was followed")
	}
}

func TestClient_UsesNoProxy(t *testing.T) {
	c := NewClient("127.0.0.1:1", token)
	if p := c.http.Transport.(*http.Transport).Proxy; p != nil {
		if u, _ := p(&http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1"}}); u != nil {
			t.Errorf("the token goes through %s", u)
		}
	}
}
