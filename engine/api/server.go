package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
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
}

// NewServer returns the control API of o.Control.
func NewServer(o Options) http.Handler {
	s := &server{control: o.Control, token: sha256.Sum256([]byte(o.Token)), mux: http.NewServeMux()}
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
	h("GET /api/v1/snapshot", ask[*control.Snapshot](s, func(*http.Request) (control.Query, error) { return control.State{}, nil }, nil))
	h("GET /api/v1/stream", s.stream)
	h("GET /api/v1/events", ask[[]control.Event](s, eventsQuery, list("events")))
	h("GET /api/v1/counts", ask[*control.Tally](s, func(*http.Request) (control.Query, error) { return control.Counts{}, nil }, nil))
	h("GET /api/v1/failures", ask[[]control.Failure](s, failuresQuery, list("failures")))
	h("GET /api/v1/scenarios", ask[[]control.Scenario](s, func(*http.Request) (control.Query, error) { return control.Scenarios{}, nil }, list("scenarios")))
	h("GET /api/v1/drills", ask[[]control.Report](s, func(*http.Request) (control.Query, error) { return control.Drills{}, nil }, list("drills")))
	h("GET /api/v1/drills/{id}", ask[*control.Report](s, func(r *http.Request) (control.Query, error) { return control.DrillByID{ID: r.PathValue("id")}, nil }, nil))

	h("PUT /api/v1/weights", do(s, func(*http.Request) *control.SetWeights { return new(control.SetWeights) }))
	h("DELETE /api/v1/weights", do(s, func(*http.Request) *control.ReleaseWeights { return new(control.ReleaseWeights) }))
	h("PUT /api/v1/vendors/{name}/fault", do(s, func(r *http.Request) *control.SetFault { return &control.SetFault{Vendor: r.PathValue("name")} }))
	h("DELETE /api/v1/vendors/{name}/fault", do(s, func(r *http.Request) *control.ClearFault { return &control.ClearFault{Vendor: r.PathValue("name")} }))
	h("PUT /api/v1/vendors/{name}/drain", do(s, func(r *http.Request) *control.Drain { return &control.Drain{Vendor: r.PathValue("name")} }))
	h("DELETE /api/v1/vendors/{name}/drain", do(s, func(r *http.Request) *control.Undrain { return &control.Undrain{Vendor: r.PathValue("name")} }))
	h("PUT /api/v1/vendors/{name}/enable", do(s, func(r *http.Request) *control.Enable { return &control.Enable{Vendor: r.PathValue("name")} }))
	h("PUT /api/v1/vendors/{name}/limit", do(s, func(r *http.Request) *control.SetLimit { return &control.SetLimit{Vendor: r.PathValue("name")} }))
	h("DELETE /api/v1/vendors/{name}/limit", do(s, func(r *http.Request) *control.ForgetLimit { return &control.ForgetLimit{Vendor: r.PathValue("name")} }))
	h("POST /api/v1/drills", s.startDrill)
	h("DELETE /api/v1/drills/current", do(s, func(*http.Request) *control.AbortDrill { return new(control.AbortDrill) }))
	h("DELETE /api/v1/drills/shown", do(s, func(*http.Request) *control.DismissDrill { return new(control.DismissDrill) }))
	h("POST /api/v1/reload", do(s, func(*http.Request) *control.Reload { return new(control.Reload) }))
}

// ServeHTTP guards the calls.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !localHost(r.Host) {
		writeError(w, control.Errorf(control.Forbidden, "the host %q is not this machine", r.Host))
		return
	}
	if r.Header.Get("Origin") != "" {
		writeError(w, control.Errorf(control.Forbidden, "requests from web pages are refused"))
		return
	}
	if r.URL.Path != "/healthz" && r.URL.Path != "/metrics" && !s.authorized(r) {
		writeError(w, control.Errorf(control.Denied, "a bearer token is needed: it is in control.token in the state directory"))
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.noCall(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// noCall answers for paths and methods that there are not.
func (s *server) noCall(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != "" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeStatus(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed here, only %s", r.Method, strings.Join(allowed, ", ")), "", "method_not_allowed")
		return
	}
	writeStatus(w, http.StatusNotFound, fmt.Sprintf("there is no call %s", r.URL.Path), "", "not_found")
}

func (s *server) authorized(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(given))
	return ok && subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

// localHost says whether a Host header names this machine.
func localHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if name == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

// ask serves a question. wrap, if not nil, puts the answer into its document.
func ask[T any](s *server, query func(*http.Request) (control.Query, error), wrap func(any) any) func(http.ResponseWriter, *http.Request) error {
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

func list(name string) func(any) any { return func(v any) any { return map[string]any{name: v} } }

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

// do serves a command whose fields are the body.
func do[C control.Command](s *server, empty func(*http.Request) C) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		cmd := empty(r)
		if err := s.send(r, cmd); err != nil {
			return err
		}
		snap, err := control.Get[*control.Snapshot](r.Context(), s.control, control.State{})
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, map[string]any{"revision": snap.Revision})
		return nil
	}
}

func (s *server) startDrill(w http.ResponseWriter, r *http.Request) error {
	cmd := new(control.StartDrill)
	if err := decode(r, cmd); err != nil {
		return err
	}
	if cmd.ID == "" {
		cmd.ID = control.NewDrillID(time.Now())
	}
	if err := s.carryOut(r.Context(), cmd); err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"id": cmd.ID})
	return nil
}

func (s *server) send(r *http.Request, cmd control.Command) error {
	if err := decode(r, cmd); err != nil {
		return err
	}
	return s.carryOut(r.Context(), cmd)
}

func (s *server) carryOut(ctx context.Context, cmd control.Command) error {
	control.Sender(cmd, "api")
	return s.control.Do(ctx, cmd)
}

const maxBody = 1 << 20

// decode reads a JSON object strictly; no body is an empty object.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, errEOF) {
		return nil
	}
	if err != nil {
		return badBody(err)
	}
	if d.More() {
		return control.Errorf(control.Invalid, "the body goes on after its JSON object")
	}
	return nil
}
