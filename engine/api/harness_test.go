package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"baton/engine/control"
)

const token = "a-token-for-tests-0123456789abcdef"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is an engine with the vendors lanyun and bailian, the scenario kill and
// the record of one drill; it remembers what it was told.
type plant struct {
	*control.Hub
	mu       sync.Mutex
	did      []control.Command
	asked    []control.Query
	drilling bool
	state    func(*control.Snapshot)
	tally    *control.Tally
	hang     chan struct{} // not nil: states are filled in once it is closed
	nothing  bool          // lists are nil
}

func newPlant() *plant {
	p := &plant{tally: &control.Tally{CutStreams: 3, FirstToken: []control.Bucket{{Index: 100, N: 2}}, Vendors: []control.VendorTally{}, Lost: []string{}}}
	p.Hub = control.NewHub(control.Backend{Do: p.do, Ask: p.answer, Fill: p.fill}, nil)
	return p
}

func (p *plant) do(_ context.Context, cmd control.Command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	vendor := ""
	switch c := cmd.(type) {
	case *control.SetWeights:
		sum := 0.0
		for name, w := range c.Weights {
			if name != "lanyun" && name != "bailian" {
				return &control.Error{Kind: control.Invalid, Field: "weights", Message: "weights: there is no vendor " + name}
			}
			sum += w
		}
		if sum != 100 {
			return &control.Error{Kind: control.Invalid, Field: "weights", Message: "weights: they do not sum to 100"}
		}
	case *control.SetFault:
		vendor = c.Vendor
		if c.Kind != "refuse" {
			return &control.Error{Kind: control.Invalid, Field: "kind", Message: "kind: there is no fault " + c.Kind}
		}
		if c.Percent != nil && (*c.Percent <= 0 || *c.Percent > 100) {
			return &control.Error{Kind: control.Invalid, Field: "percent", Message: "percent: is not over 0 and up to 100"}
		}
	case *control.ClearFault:
		vendor = c.Vendor
	case *control.Drain:
		vendor = c.Vendor
	case *control.Undrain:
		vendor = c.Vendor
	case *control.Enable:
		vendor = c.Vendor
	case *control.SetLimit:
		vendor = c.Vendor
	case *control.ForgetLimit:
		vendor = c.Vendor
	case *control.SetSim:
		vendor = c.Vendor
	case *control.StartDrill:
		if c.Scenario != "kill" {
			return &control.Error{Kind: control.Invalid, Field: "scenario", Message: "scenario: there is no scenario " + c.Scenario}
		}
		if p.drilling {
			return control.Errorf(control.Conflict, "a drill still runs")
		}
		p.drilling = true
	case *control.AbortDrill:
		if !p.drilling {
			return control.Errorf(control.Conflict, "no drill runs")
		}
		p.drilling = false
	}
	if vendor != "" && vendor != "lanyun" && vendor != "bailian" {
		return control.Errorf(control.NotFound, "there is no vendor %q", vendor)
	}
	p.did = append(p.did, cmd)
	return nil
}

func (p *plant) answer(_ context.Context, q control.Query) (control.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	switch q := q.(type) {
	case control.Counts:
		return p.tally, nil
	case control.FailuresOf:
		if p.nothing {
			return []control.Failure(nil), nil
		}
		return []control.Failure{{Vendor: "lanyun", Reason: "connection_refused"}}, nil
	case control.Drills:
		if p.nothing {
			return []control.Report(nil), nil
		}
		return []control.Report{{ID: "20261201-100000-4f2a"}}, nil
	case control.Scenarios:
		if p.nothing {
			return []control.Scenario(nil), nil
		}
		return []control.Scenario{{Name: "kill"}}, nil
	case control.DrillByID:
		if q.ID != "20261201-100000-4f2a" {
			return nil, control.Errorf(control.NotFound, "there is no drill %q", q.ID)
		}
		return &control.Report{ID: q.ID, Scenario: "kill"}, nil
	}
	return nil, control.Errorf(control.Internal, "%T is no question", q)
}

func (p *plant) fill(s *control.Snapshot) {
	p.mu.Lock()
	state, hang := p.state, p.hang
	p.mu.Unlock()
	if hang != nil {
		<-hang
	}
	s.Version, s.Environment, s.Vendors, s.Alerts = "1.0.0", "DEMO", []control.Vendor{}, []string{}
	if state != nil {
		state(s)
	}
}

// last is the last command that took effect.
func (p *plant) last() control.Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.did) == 0 {
		return nil
	}
	return p.did[len(p.did)-1]
}

// serve serves p and returns where.
func serve(t *testing.T, p *plant) *httptest.Server {
	t.Helper()
	ts := httptest.NewServer(NewServer(Options{Control: p, Token: token}))
	t.Cleanup(ts.Close)
	return ts
}

// client is a client of ts that ends with the test.
func client(t *testing.T, ts *httptest.Server) *Client {
	t.Helper()
	c := NewClient(ts.URL, token)
	t.Cleanup(c.Close)
	return c
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// error is the error in the answer.
func (r reply) error(t *testing.T) (message, param, code string) {
	t.Helper()
	var b body
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || b.Error.Message == "" || b.Error.Type == "" || b.Error.Code == "" {
		t.Fatalf("%d %s is no error in OpenAI's shape (%v)", r.status, r.body, err)
	}
	if b.Error.Param != nil {
		param = *b.Error.Param
	}
	return b.Error.Message, param, b.Error.Code
}

// request asks ts; edit, if not nil, changes the request before it goes.
func request(t *testing.T, ts *httptest.Server, method, path, data string, edit func(*http.Request)) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, ts.URL+path, bytes.NewReader([]byte(data)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if edit != nil {
		edit(req)
	}
	resp, err := ts.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, b}
}
