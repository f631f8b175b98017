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
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"baton/drills/chain"
	"baton/drills/page"
	"baton/engine/control"
)

// memoryKept bounds the records that could not be written.
const memoryKept = 20

// records are the reports of drills: a JSON and a Markdown file each. Those
// that cannot be written are kept in memory.
type records struct {
	dir string

	mu     sync.Mutex // guards what follows
	memory []*control.Report
	failed string           // why the last one could not be written
	known  []control.Report // of the files, as read at the time that readAt stands for
	readAt time.Time
	files  map[string]filed // by id
}

// filed is a record as it was in its file, without its series.
type filed struct {
	info   fs.FileInfo
	report control.Report
}

// is says whether the file is still that one.
func (f *filed) is(now fs.FileInfo) bool {
	return f.info != nil && os.SameFile(f.info, now) && f.info.Size() == now.Size() && f.info.ModTime().Equal(now.ModTime())
}

// paths are the files of a record.
func (s *records) paths(id string) map[string]string {
	base := filepath.Join(s.dir, id)
	return map[string]string{"json": base + ".json", "markdown": base + ".md", "html": base + ".html"}
}

// save writes a record and returns once it is on the disk.
func (s *records) save(rep *control.Report) error {
	rep.Files = s.paths(rep.ID)
	err := s.write(rep)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = ""
	kept := s.memory[:0]
	for _, r := range s.memory {
		if r.ID != rep.ID {
			kept = append(kept, r)
		}
	}
	s.memory = kept
	if err != nil {
		rep.Files = map[string]string{}
		s.failed = fmt.Sprintf("records of drills cannot be written: %v", err)
		s.memory = append(s.memory[max(0, len(s.memory)-memoryKept+1):], rep)
	}
	return err
}

func (s *records) write(rep *control.Report) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if rep.Ended != nil {
		return chain.Append(s.dir, rep, render)
	}
	files, err := render(rep)
	if err != nil {
		return err
	}
	for name, b := range files {
		if err := renameio.WriteFile(filepath.Join(s.dir, name), b, 0o600); err != nil {
			return err
		}
	}
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync() // the names are on the disk, too
}

// render makes the files of a record, by their names.
func render(rep *control.Report) (map[string][]byte, error) {
	b, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode the record of drill %s: %w", rep.ID, err)
	}
	html, err := page.Render(rep)
	if err != nil {
		return nil, fmt.Errorf("draw the page of drill %s: %w", rep.ID, err)
	}
	return map[string][]byte{rep.ID + ".json": append(b, '\n'), rep.ID + ".md": []byte(markdown(rep)), rep.ID + ".html": html}, nil
}

func (s *records) alert() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// has says whether there is a record of that id.
func (s *records) has(id string) bool {
	if s.inMemory(id) != nil {
		return true
	}
	_, err := os.Stat(s.paths(id)["json"])
	return err == nil
}

func (s *records) inMemory(id string) *control.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.memory {
		if r.ID == id {
			c := *r
			return &c
		}
	}
	return nil
}

// read reads one record.
func (s *records) read(id string) (*control.Report, error) {
	unknown := control.Errorf(control.NotFound, "there is no drill %q", id)
	if !drillID.MatchString(id) {
		return nil, unknown
	}
	if r := s.inMemory(id); r != nil {
		return r, nil
	}
	b, err := os.ReadFile(s.paths(id)["json"])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown
	}
	if err != nil {
		return nil, control.Errorf(control.Internal, "read the record of drill %s: %v", id, err)
	}
	r := new(control.Report)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, control.Errorf(control.Internal, "the record of drill %s cannot be read: %v", id, err)
	}
	r.ID, r.Files = id, s.paths(id) // where it is now
	return r, nil
}

// history is all records that can be read, newest first, without their series. The
// directory is looked at again when it has changed, and of its files those are read
// that have: a drill that runs writes its record every few seconds.
func (s *records) history() ([]control.Report, error) {
	at := s.stamp()
	s.mu.Lock()
	if !at.IsZero() && at.Equal(s.readAt) && len(s.memory) == 0 {
		defer s.mu.Unlock()
		return append([]control.Report{}, s.known...), nil
	}
	s.mu.Unlock()
	all, err := s.readAll()
	if err == nil && time.Since(at) > settled {
		s.mu.Lock()
		s.known, s.readAt = append([]control.Report{}, all...), at
		s.mu.Unlock()
	}
	return all, err
}

// settled is how old a directory's time has to be for a change after it to have
// another one.
const settled = 50 * time.Millisecond

func (s *records) readAll() ([]control.Report, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && s.alert() == "" {
		return nil, control.Errorf(control.Internal, "read the drills' records: %v", err)
	}
	out := []control.Report{}
	s.mu.Lock()
	for _, r := range s.memory {
		out = append(out, bare(r))
	}
	had := s.files
	s.mu.Unlock()
	have := make(map[string]filed, len(files))
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || s.inMemory(id) != nil {
			continue
		}
		info, err := f.Info()
		if err != nil {
			continue // it has just been removed
		}
		x := had[id]
		if !x.is(info) {
			r, err := s.read(id)
			if err != nil {
				continue
			}
			x = filed{info, bare(r)}
		}
		have[id] = x
		out = append(out, x.report)
	}
	s.mu.Lock()
	s.files = have
	s.mu.Unlock()
	sort.Slice(out, func(i, j int) bool {
		if !out[i].Started.Equal(out[j].Started) {
			return out[i].Started.After(out[j].Started)
		}
		return out[i].ID > out[j].ID
	})
	return out, nil
}

// bare is a copy without the series.
func bare(r *control.Report) control.Report {
	c := *r
	c.Series, c.Weights = []control.Point{}, []control.WeightsAt{}
	return c
}

// closeOpen closes records of drills that a crash cut short: their faults
// ended with the process that held them.
func (m *Machine) closeOpen() {
	all, err := m.records.history()
	if err != nil {
		m.log(control.Event{Level: control.Crit, Kind: "store", Text: err.Error()})
		return
	}
	for i := range all {
		if all[i].Ended != nil {
			continue
		}
		r, err := m.records.read(all[i].ID) // with its series
		if err != nil {
			continue
		}
		cutShort(r)
		e := control.Event{
			Level: control.Warn, Kind: "drill", Vendor: r.Vendor, Who: "drill:" + r.ID,
			Text: "drill " + r.ID + " was cut short, recorded as " + r.Verdict + ": " + r.Reason, Data: map[string]any{"id": r.ID, "verdict": r.Verdict},
		}
		if err := m.records.save(r); err != nil {
			e.Level, e.Kind, e.Text = control.Crit, "store", m.records.alert()
		}
		m.log(e)
	}
}

// Render makes the files of a record, by their names: its JSON, Markdown and HTML.
func Render(r *control.Report) (map[string][]byte, error) { return render(r) }

// Markdown is a record for people.
func Markdown(r *control.Report) string { return markdown(r) }

// cutShort closes the report of a drill that a crash interrupted: as aborted,
// if its fault was still in. When it ended is not known; that it has, is.
func cutShort(r *control.Report) {
	now := time.Now().UTC()
	r.Ended = &now
	for _, p := range r.Phases {
		if p.Name == control.PhaseRestored && r.Verdict != "" {
			r.Hypothesis = append(r.Hypothesis, failbackBound("", "not seen: baton ended before it"))
			return
		}
	}
	r.Reason = "baton ended while the drill ran, and the fault with it"
	if !faulted(r) {
		r.Reason = "baton ended before the fault"
	}
	if r.CutoverS != nil {
		r.Reason += "; the cutover " + clock(*r.CutoverS) + " was proven before that"
	}
	r.Verdict = control.Aborted
}

// History reads the records in a directory, newest first, without a machine.
func History(dir string) ([]control.Report, error) { return (&records{dir: dir}).history() }

// Read reads one record in a directory, without a machine.
func Read(dir, id string) (*control.Report, error) { return (&records{dir: dir}).read(id) }

// Keep writes the record of something that was played without a machine, at its
// place in the chain. It sets rep.Files.
func Keep(dir string, rep *control.Report) error { return (&records{dir: dir}).save(rep) }
