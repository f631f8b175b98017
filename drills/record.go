package drills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"baton/engine/control"
)

// newReport is the report of a drill that begins.
func newReport(m *Machine, r *run, now time.Time) control.Report {
	return control.Report{
		ID: r.id, Scenario: r.scenario.Name, Vendor: r.vendor, Fault: r.spec, Who: r.start.Who(), Environment: m.o.Environment,
		Started: now, ConfigDigest: m.o.Digest, TargetS: m.o.Rules.Target.Seconds(), Phases: []control.Moment{},
		Hypothesis: []control.Bound{}, Requests: control.DrillRequests{Lost: []string{}}, Latency: map[string]control.Latency{},
		Series: []control.Point{}, Weights: []control.WeightsAt{}, Note: r.start.Note, Ticket: r.start.Ticket, Files: map[string]string{},
		Exercised:    []string{"detection by the engine, failover of requests, the shift of weights, service without the vendor"},
		NotExercised: []string{"the vendor's own endpoint, its network and its account: the fault sits inside this process"},
		Previous:     m.previous(r.scenario.Name, r.vendor),
	}
}

// announce says the cutover in the journal and writes the record.
func (r *run) announce() {
	r.mu.Lock()
	st := r.st
	r.mu.Unlock()
	level, word := control.Info, "passed"
	if *st.Verdict != control.Passed {
		level, word = control.Crit, *st.Verdict+": "+st.Reason
	}
	r.keep()
	r.m.o.Log(control.Event{Level: level, Kind: "drill", Vendor: r.vendor, Who: "drill:" + r.id,
		Text: fmt.Sprintf("cutover %s against %s, %s; clients failed: %d of %d. R restores %s", clock(*st.CutoverS), clock(st.TargetS), word,
			st.Requests.Failed, st.Requests.OK+st.Requests.Failed, r.label),
		Data: map[string]any{"id": r.id, "cutover_s": *st.CutoverS, "verdict": *st.Verdict, "phase": control.PhaseVerified}})
}

// finish ends the drill; with no verdict the one it has stays.
func (r *run) finish(verdict, reason string, crit bool) {
	r.mu.Lock()
	if verdict != "" && r.st.Verdict == nil {
		r.st.Verdict, r.st.Reason = &verdict, reason
	}
	now := time.Now().UTC()
	r.st.Until = nil
	switch {
	case r.t0.IsZero():
		r.st.Phase = verdict
	case verdict == "":
		r.reach(control.PhaseDone, now)
	default:
		r.reach(verdict, now)
	}
	r.report.Ended = &now
	r.ended = true
	got := *r.st.Verdict
	text := fmt.Sprintf("drill %s of %s ended: %s", r.scenario.Name, r.label, got)
	if r.st.Reason != "" {
		text += ": " + r.st.Reason
	}
	r.mu.Unlock()
	r.keep()
	level := control.Info
	if crit || got == control.Failed {
		level = control.Crit
	}
	r.m.o.Log(control.Event{Level: level, Kind: "drill", Vendor: r.vendor, Who: "drill:" + r.id, Text: text, Data: map[string]any{"id": r.id, "verdict": got}})
}

// keep writes the record as it is now, and says so if it cannot.
func (r *run) keep() {
	if err := r.save(); err != nil {
		r.m.o.Log(control.Event{Level: control.Warn, Kind: "store", Vendor: r.vendor, Who: "drill:" + r.id, Text: "the drill's record cannot be written: " + err.Error()})
	}
}

// save writes the record, synced, as JSON and Markdown.
func (r *run) save() error {
	r.mu.Lock()
	rep := r.snapshotReport()
	r.mu.Unlock()
	if err := os.MkdirAll(r.m.o.Dir, 0o700); err != nil {
		return err
	}
	base := filepath.Join(r.m.o.Dir, r.id)
	rep.Files = map[string]string{"json": base + ".json", "markdown": base + ".md"}
	if err := write(base+".json", rep); err != nil {
		return err
	}
	if err := renameio.WriteFile(base+".md", []byte(markdown(rep)), 0o600); err != nil {
		return err
	}
	r.mu.Lock()
	r.st.Record = base + ".md"
	r.mu.Unlock()
	return nil
}

func write(path string, rep *control.Report) error {
	b, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(b, '\n'), 0o600)
}

// snapshotReport is the report as things stand. r.mu is held.
func (r *run) snapshotReport() *control.Report {
	rep := r.report
	rep.Phases = append([]control.Moment{}, r.st.Phases...)
	rep.Requests, rep.CutoverS, rep.HurtS, rep.Reason = r.st.Requests, r.st.CutoverS, r.st.HurtS, r.st.Reason
	if r.st.Verdict != nil {
		rep.Verdict = *r.st.Verdict
	}
	rep.Latency = map[string]control.Latency{"before": {Count: r.before.Service.Count, P50ms: r.before.Service.P50ms, P90ms: r.before.Service.P90ms, P99ms: r.before.Service.P99ms}}
	if n := len(r.samples); n > 1 {
		from, to := r.samples[0], r.samples[n-1]
		rep.Latency["during"] = control.Latency{Count: between(from, to).Count(), P50ms: quantile(from, to, 0.5), P90ms: quantile(from, to, 0.9), P99ms: quantile(from, to, 0.99)}
	}
	rep.Series, rep.Weights = r.series()
	return &rep
}

// series is the drill second by second, and the weights where they changed.
// r.mu is held.
func (r *run) series() ([]control.Point, []control.WeightsAt) {
	points, weights := []control.Point{}, []control.WeightsAt{}
	for k := 0; (k+1)*perSecond < len(r.samples); k++ {
		from, to := r.samples[k*perSecond], r.samples[(k+1)*perSecond]
		p := control.Point{TS: float64(k), Requests: to.Totals.Requests - from.Totals.Requests, Failed: to.Totals.Failed - from.Totals.Failed,
			Attempts: map[string]int64{}, Share: map[string]float64{}}
		w := map[string]float64{}
		for _, v := range to.Vendors {
			all, its := begun(from, to, v.Name)
			p.Attempts[v.Name] = its
			if all > 0 {
				p.Share[v.Name] = round1000(100 * float64(its) / float64(all))
			}
			w[v.Name] = v.Weight
		}
		points = append(points, p)
		if n := len(weights); n == 0 || !same(weights[n-1].Weights, w) {
			weights = append(weights, control.WeightsAt{TS: float64(k + 1), Weights: w})
		}
	}
	return points, weights
}

func same(a, b map[string]float64) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// markdown is the report for people.
func markdown(r *control.Report) string {
	var b strings.Builder
	verdict := r.Verdict
	if verdict == "" {
		verdict = "running"
	}
	fmt.Fprintf(&b, "# Drill %s: %s %s\n\n**%s**", r.ID, r.Scenario, r.Vendor, verdict)
	if r.Reason != "" {
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	if r.CutoverS != nil {
		fmt.Fprintf(&b, "\n\nCutover **%s** against %s; seconds in which clients were hurt: %.0f.", clock(*r.CutoverS), clock(r.TargetS), r.HurtS)
	}
	q := r.Requests
	fmt.Fprintf(&b, "\n\nCutover is the latest of detected, shifted and the start of the first window of good service, counted from the fault.\n\n")
	fmt.Fprintf(&b, "| | |\n| --- | --- |\n| fault | %s |\n| who | %s |\n| environment | %s |\n| started | %s |\n| configuration | %s |\n", r.Fault.Kind, r.Who, r.Environment, r.Started.Format(time.RFC3339), r.ConfigDigest)
	fmt.Fprintf(&b, "| requests | %d, failed %d, failed over %d, attempts %d, streams cut %d |\n", q.Total, q.Failed, q.FailedOver, q.Attempts, q.CutStreams)
	if p := r.Previous; p != nil && p.CutoverS != nil {
		fmt.Fprintf(&b, "| last run | %s: cutover %s |\n", p.ID, clock(*p.CutoverS))
	}
	for _, row := range [][2]string{{"note", r.Note}, {"ticket", r.Ticket}} {
		if row[1] != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", row[0], strings.ReplaceAll(row[1], "|", "\\|"))
		}
	}
	b.WriteString("\n## Phases\n\n| phase | from T0 | at |\n| --- | --- | --- |\n")
	for _, p := range r.Phases {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Name, clock(p.TS), p.Time.Format("15:04:05.000 MST"))
	}
	if len(r.Hypothesis) > 0 {
		b.WriteString("\n## Asked and got\n\n| | wanted | got | |\n| --- | --- | --- | --- |\n")
		for _, h := range r.Hypothesis {
			ok := "no"
			if h.OK {
				ok = "yes"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", h.Name, h.Want, h.Got, ok)
		}
	}
	b.WriteString("\n## First token of clients' streams, ms\n\n| | n | P50 | P90 | P99 |\n| --- | --- | --- | --- | --- |\n")
	for _, k := range []string{"before", "during"} {
		if l, ok := r.Latency[k]; ok {
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", k, l.Count, figure(l.P50ms), figure(l.P90ms), figure(l.P99ms))
		}
	}
	if len(q.Lost) > 0 {
		fmt.Fprintf(&b, "\n## Lost requests\n\n%s\n", strings.Join(q.Lost, "\n"))
	}
	fmt.Fprintf(&b, "\nExercised: %s.\nNot exercised: %s.\n", strings.Join(r.Exercised, "; "), strings.Join(r.NotExercised, "; "))
	return b.String()
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *v)
}

// history reads the records, newest first.
func (m *Machine) history() ([]control.Report, error) {
	files, err := os.ReadDir(m.o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []control.Report{}, nil
	}
	if err != nil {
		return nil, control.Errorf(control.Internal, "read the drills' records: %v", err)
	}
	out := []control.Report{}
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			if r, err := m.report(id); err == nil {
				out = append(out, *r)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID > out[j].ID })
	return out, nil
}

// report reads one record.
func (m *Machine) report(id string) (*control.Report, error) {
	unknown := control.Errorf(control.NotFound, "there is no drill %q", id)
	if id == "" || strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return nil, unknown
	}
	b, err := os.ReadFile(filepath.Join(m.o.Dir, id+".json"))
	if err != nil {
		return nil, unknown
	}
	r := new(control.Report)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, control.Errorf(control.Internal, "the record of drill %s cannot be read: %v", id, err)
	}
	return r, nil
}

// previous is the last run of the same scenario on the same vendor.
func (m *Machine) previous(scenario, vendor string) *control.Previous {
	all, err := m.history()
	if err != nil {
		return nil
	}
	for _, r := range all {
		if r.Scenario == scenario && r.Vendor == vendor && r.CutoverS != nil {
			return &control.Previous{ID: r.ID, CutoverS: r.CutoverS}
		}
	}
	return nil
}

// closeOpenRecords marks drills that a crash interrupted: their faults ended
// with the process that held them.
func (m *Machine) closeOpenRecords() {
	all, err := m.history()
	if err != nil {
		return
	}
	for i := range all {
		r := &all[i]
		if r.Ended != nil {
			continue
		}
		now := time.Now().UTC()
		r.Ended = &now
		if r.Verdict == "" {
			r.Verdict, r.Reason = control.Aborted, "baton ended while the drill ran; the fault ended with it"
		}
		if write(filepath.Join(m.o.Dir, r.ID+".json"), r) == nil {
			_ = renameio.WriteFile(filepath.Join(m.o.Dir, r.ID+".md"), []byte(markdown(r)), 0o600)
			m.o.Log(control.Event{Level: control.Warn, Kind: "drill", Vendor: r.Vendor, Who: "drill:" + r.ID, Text: "drill " + r.ID + " was cut short by a crash; recorded as " + r.Verdict})
		}
	}
}
