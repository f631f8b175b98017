package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"baton/engine/scan"
	"baton/vendors"
)

const (
	modelsPath   = "/models"
	unionFor     = time.Minute     // how long what vendors list is believed
	unionFails   = 5 * time.Second // until a vendor that did not answer is asked again
	listTimeout  = 5 * time.Second
	maxModelList = 8 << 20
)

// modelUnion is what the vendors list, where no models are configured.
type modelUnion struct {
	mu    sync.Mutex
	until time.Time
	of    *state
	list  []modelEntry
}

// modelEntry is a model as it is listed: its name and the object.
type modelEntry struct {
	id     string
	object []byte
}

// models answers GET /v1/models and /v1/models/{id}; false if it is another request.
func (q *request) models() bool {
	rest, ok := strings.CutPrefix(q.path, modelsPath)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		if rest != "" {
			return false // deleting one's own, say: the account's affair
		}
		e := wrongMethod(q.r.Method, q.r.URL.Path)
		e.allow = "GET, HEAD"
		writeError(q.w, e)
		return true
	}
	list := q.g.listModels(q.r.Context(), q.st)
	if rest == "" {
		q.writeModels(list)
		return true
	}
	// Names may begin with a slash, and hold some: all that follows is the name.
	name, err := url.PathUnescape(rest[1:])
	if err != nil {
		writeError(q.w, badRequest("the model's name %.200q is not escaped rightly", rest[1:]))
		return true
	}
	for i := range list {
		if list[i].id == name {
			writeJSON(q.w, list[i].object)
			return true
		}
	}
	writeError(q.w, unknownModel(name))
	return true
}

func (q *request) writeModels(list []modelEntry) {
	out := []byte(`{"object":"list","data":[`)
	for i := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, list[i].object...)
	}
	writeJSON(q.w, append(out, "]}"...))
}

func writeJSON(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// listModels is the configured models, or the union of what the vendors list.
func (g *Gateway) listModels(ctx context.Context, s *state) []modelEntry {
	if len(s.cfg.Models) > 0 {
		list := make([]modelEntry, 0, len(s.cfg.Models))
		for i := range s.cfg.Models {
			name := s.cfg.Models[i].Name
			object := append(scan.AppendString([]byte(`{"id":`), name), `,"object":"model","created":0,"owned_by":"baton"}`...)
			list = append(list, modelEntry{name, object})
		}
		return list
	}
	u := &g.union
	u.mu.Lock() // one asks, the others wait for it
	defer u.mu.Unlock()
	now := time.Now()
	if u.of == s && now.Before(u.until) {
		return u.list
	}
	list, complete := g.askModels(ctx, s)
	u.of, u.list, u.until = s, list, now.Add(unionFor)
	if !complete {
		u.until = now.Add(unionFails)
	}
	return list
}

// askModels asks every vendor that takes part for its models. Of two with one name the first vendor's counts.
func (g *Gateway) askModels(ctx context.Context, s *state) (list []modelEntry, complete bool) {
	seen := map[string]bool{}
	complete = true
	for _, live := range g.engine.Vendors() {
		v := s.set.Vendor(live.Name)
		if v == nil {
			continue
		}
		theirs, err := modelsOf(ctx, v)
		if err != nil {
			complete = false
			g.log.Warn("a vendor did not list its models", "vendor", v.Name, "error", err)
		}
		for _, m := range theirs {
			if !seen[m.id] {
				seen[m.id] = true
				list = append(list, m)
			}
		}
	}
	return list, complete
}

// modelsOf asks one vendor.
func modelsOf(ctx context.Context, v *vendors.Vendor) ([]modelEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	r, err := v.NewRequest(ctx, http.MethodGet, "/v1"+modelsPath, "", nil, nil, 0, v.Keys.Any())
	if err != nil {
		return nil, err
	}
	answer, err := v.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxModelList))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", answer.StatusCode)
	}
	return readModels(body)
}

// readModels takes the entries out of a list of models.
func readModels(body []byte) ([]modelEntry, error) {
	var list []modelEntry
	if !scan.Valid(body) {
		return nil, fmt.Errorf("the list of models is not JSON")
	}
	c := scan.NewCursor(scan.Get(body, "data"))
	if !c.Enter('[') {
		return nil, fmt.Errorf("the list of models has no data")
	}
	for c.More() {
		object := c.Skip()
		if id, err := scan.String(scan.Get(object, "id")); err == nil && id != "" {
			list = append(list, modelEntry{id, object})
		}
	}
	return list, nil
}
