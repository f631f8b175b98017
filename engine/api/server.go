package api

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"baton/engine/control"
)

// Options are what a server needs.
type Options struct {
	Control control.Control
	Token   string
}

type server struct {
	control control.Control
	token   [sha256.Size]byte
	mux     *http.ServeMux

	patience time.Duration // with a reader of the stream
}

// NewServer returns the control API of o.Control.
func NewServer(o Options) http.Handler {
	s := &server{control: o.Control, token: sha256.Sum256([]byte(o.Token)), mux: http.NewServeMux(), patience: streamPatience}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	s.mux.Handle("GET /metrics", metricsHandler(o.Control))
	s.routes()
	return s
}

// routes are the calls; each pattern is its own documentation.
func (s *server) routes() {
	h := func(pattern string, f func(w http.ResponseWriter, r *http.Request) error) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := f(w, r); err != nil {
				writeError(w, err)
			}
		})
	}
	h("GET /api/v1/snapshot", ask[*control.Snapshot](s, plain(control.State{}), nil))
	h("GET /api/v1/stream", s.stream)
	h("GET /api/v1/events", ask(s, eventsQuery, list[control.Event]("events")))
	h("GET /api/v1/counts", ask[*control.Tally](s, plain(control.Counts{}), nil))
	h("GET /api/v1/failures", ask(s, failuresQuery, list[control.Failure]("failures")))
	s.moneyRoutes(h)
	h("GET /api/v1/scenarios", ask(s, plain(control.Scenarios{}), list[control.Scenario]("scenarios")))
	h("GET /api/v1/drills", ask(s, plain(control.Drills{}), list[control.Report]("drills")))
	h("GET /api/v1/drills/{id}", ask[*control.Report](s, drillQuery, nil))

	h("PUT /api/v1/weights", do(s, func(string) *control.SetWeights { return new(control.SetWeights) }))
	h("DELETE /api/v1/weights", do(s, func(string) *control.ReleaseWeights { return new(control.ReleaseWeights) }))
	h("PUT /api/v1/vendors/{name}/fault", do(s, func(v string) *control.SetFault { return &control.SetFault{Vendor: v} }))
	h("DELETE /api/v1/vendors/{name}/fault", do(s, func(v string) *control.ClearFault { return &control.ClearFault{Vendor: v} }))
	h("PUT /api/v1/vendors/{name}/drain", do(s, func(v string) *control.Drain { return &control.Drain{Vendor: v} }))
	h("DELETE /api/v1/vendors/{name}/drain", do(s, func(v string) *control.Undrain { return &control.Undrain{Vendor: v} }))
	h("PUT /api/v1/vendors/{name}/enable", do(s, func(v string) *control.Enable { return &control.Enable{Vendor: v} }))
	h("PUT /api/v1/vendors/{name}/limit", do(s, func(v string) *control.SetLimit { return &control.SetLimit{Vendor: v} }))
	h("DELETE /api/v1/vendors/{name}/limit", do(s, func(v string) *control.ForgetLimit { return &control.ForgetLimit{Vendor: v} }))
	h("POST /api/v1/drills", s.startDrill)
	h("DELETE /api/v1/drills/current", do(s, func(string) *control.AbortDrill { return new(control.AbortDrill) }))
	h("DELETE /api/v1/drills/shown", do(s, func(string) *control.DismissDrill { return new(control.DismissDrill) }))
	h("POST /api/v1/drills/current/mark", do(s, func(string) *control.MarkDrill { return new(control.MarkDrill) }))
	h("GET /api/v1/preflight", ask[*control.Preflight](s, preflightQuery, nil))
	h("DELETE /api/v1/schedule/{name}", do(s, func(id string) *control.CancelScheduled { return &control.CancelScheduled{ID: id} }))
	h("DELETE /api/v1/incidents/shown", do(s, func(string) *control.DismissIncident { return new(control.DismissIncident) }))
	h("PUT /api/v1/failover", do(s, func(string) *control.SetFailover { return new(control.SetFailover) }))
	h("PUT /api/v1/vendors/{name}/sim", do(s, func(v string) *control.SetSim { return &control.SetSim{Vendor: v} }))
	h("POST /api/v1/reload", do(s, func(string) *control.Reload { return new(control.Reload) }))
}

// ask serves a question. wrap, if not nil, puts the answer into its document.
func ask[T any](s *server, query func(*http.Request) (control.Query, error), wrap func(T) any) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		q, err := query(r)
		if err != nil {
			return err
		}
		v, err := control.Get[T](r.Context(), s.control, q)
		if err != nil {
			return err
		}
		var doc any = v
		if wrap != nil {
			doc = wrap(v)
		}
		writeJSON(w, http.StatusOK, doc)
		return nil
	}
}

// list puts a list under its name; without members it is empty, not null.
func list[T any](name string) func([]T) any {
	return func(v []T) any {
		if v == nil {
			v = []T{}
		}
		return map[string][]T{name: v}
	}
}

// plain is a question without parameters.
func plain(q control.Query) func(*http.Request) (control.Query, error) {
	return func(*http.Request) (control.Query, error) { return q, nil }
}

func drillQuery(r *http.Request) (control.Query, error) {
	return control.DrillByID{ID: r.PathValue("id")}, nil
}

func preflightQuery(r *http.Request) (control.Query, error) {
	v := r.URL.Query()
	q := control.PreflightOf{Scenario: v.Get("scenario"), Vendor: v.Get("vendor"), Fault: v.Get("fault")}
	if q.Scenario == "" {
		return nil, &control.Error{Kind: control.Invalid, Field: "scenario", Message: "the parameter scenario is missing"}
	}
	return q, nil
}

func eventsQuery(r *http.Request) (control.Query, error) {
	seq, err := number(r, "after", 0)
	return control.EventsAfter{Seq: seq}, err
}

func failuresQuery(r *http.Request) (control.Query, error) {
	n, err := number(r, "limit", 100)
	return control.FailuresOf{Vendor: r.URL.Query().Get("vendor"), Limit: int(n)}, err
}

// number reads a whole number of 0 or more from the query string.
func number(r *http.Request, name string, absent int64) (int64, error) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, &control.Error{Kind: control.Invalid, Field: name, Message: fmt.Sprintf("%s = %q is not a whole number of 0 or more", name, s)}
	}
	return n, nil
}

// do serves a command whose fields are the body; empty makes it for the vendor
// in the path.
func do[C control.Command](s *server, empty func(vendor string) C) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		cmd := empty(r.PathValue("name"))
		if err := decode(w, r, cmd); err != nil {
			return err
		}
		if err := s.carryOut(r.Context(), cmd); err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, changed{Revision: control.RevisionAfter(cmd)})
		return nil
	}
}

// changed is the answer to a command.
type changed struct {
	Revision int64 `json:"revision"`
}

// started is the answer to the start of a drill.
type started struct {
	ID string `json:"id"`
}

func (s *server) startDrill(w http.ResponseWriter, r *http.Request) error {
	cmd := new(control.StartDrill)
	if err := decode(w, r, cmd); err != nil {
		return err
	}
	if cmd.ID == "" {
		cmd.ID = control.NewDrillID(time.Now())
	}
	if !drillID.MatchString(cmd.ID) {
		return &control.Error{Kind: control.Invalid, Field: "id", Message: fmt.Sprintf("id: %q is not up to 64 letters, digits, - and _", cmd.ID)}
	}
	if err := s.carryOut(r.Context(), cmd); err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, started{ID: cmd.ID})
	return nil
}

// drillID is what the id of a drill may be: it names files.
var drillID = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

func (s *server) carryOut(ctx context.Context, cmd control.Command) error {
	control.Sender(cmd, "api")
	return s.control.Do(ctx, cmd)
}
