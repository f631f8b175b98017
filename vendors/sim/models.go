package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
)

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// modelsCreated is the date on every model: none has one of its own.
const modelsCreated = 1735689600

// serveModels lists the models, or shows the one with the id, which may hold slashes, also a leading one.
func (x *exchange) serveModels(id string) {
	switch {
	case x.r.Method != http.MethodGet:
		x.refuse(refusal{status: http.StatusMethodNotAllowed, body: openAIError("Not allowed to "+x.r.Method+" models.", "invalid_request_error", "", "method_not_supported")})
	case !x.authorized():
		x.refuse(invalidKey)
	case id == "":
		list := []model{}
		for _, name := range x.modelNames() {
			list = append(list, x.model(name))
		}
		x.json(struct {
			Object string  `json:"object"`
			Data   []model `json:"data"`
		}{"list", list})
	case len(x.o.Models) > 0 && !x.v.faulty && !slices.Contains(x.o.Models, id):
		x.refuse(modelNotFound(id))
	default:
		x.json(x.model(id))
	}
}

func (x *exchange) model(id string) model {
	return model{ID: id, Object: "model", Created: modelsCreated, OwnedBy: x.o.Name}
}

// modelNames are the configured ones; in the profile "faults" those that pick a fault; else one that stands for any.
func (x *exchange) modelNames() []string {
	switch {
	case len(x.o.Models) > 0:
		return x.o.Models
	case x.v.faulty:
		names := []string{"ok"}
		for _, f := range Faults() {
			names = append(names, f.Name)
		}
		return names
	}
	return []string{"simulated"}
}

func (x *exchange) json(v any) {
	body := marshal(v)
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.status, x.outcome = http.StatusOK, Answered
	if _, err := x.w.Write(body); err != nil {
		x.outcome = Left
	}
}

// serveAdmin answers /sim/: the log, the totals, the list of faults and the options.
func (v *Vendor) serveAdmin(w http.ResponseWriter, r *http.Request, path string) {
	var out any
	switch r.Method + " " + path {
	case "GET log":
		out = v.Log()
	case "DELETE log":
		v.Clear()
		w.WriteHeader(http.StatusNoContent)
		return
	case "GET stats":
		out = v.Stats()
	case "GET faults":
		out = Faults()
	case "GET options":
		out = v.Options().settings()
	case "PUT options":
		if err := v.put(r); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(openAIError(err.Error(), "invalid_request_error", "", "")) // a client that left hears nothing
			return
		}
		out = v.Options().settings()
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(openAIError("Unknown: try GET or DELETE /sim/log, GET /sim/stats, GET /sim/faults, GET or PUT /sim/options.", "invalid_request_error", "", "")) // a client that left hears nothing
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // a client that left hears nothing
}

// put turns the knobs that a body names.
func (v *Vendor) put(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err != nil {
		return err
	}
	k, err := ParseKnobs(body)
	if err != nil {
		return err
	}
	return v.Set(k)
}
