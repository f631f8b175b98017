package stress

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// History is the reports that are kept in a directory: for each a JSON file, and its
// samples beside it for comparisons.
type History struct{ Dir string }

var reportID = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// samplesOf is the file of a report's samples.
func samplesOf(path string) string { return strings.TrimSuffix(path, ".json") + ".samples.gz" }

// Save keeps a report and returns the path of its JSON.
func (h History) Save(rep *Report) (string, error) {
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the report: %w", err)
	}
	path := filepath.Join(h.Dir, rep.ID+".json")
	return path, rep.save(path)
}

// save writes a report's JSON, and its samples beside it.
func (rep *Report) save(path string) error {
	var b bytes.Buffer
	if err := rep.JSON(&b); err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := renameio.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep the report: %w", err)
	}
	b.Reset()
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(rep.pack()); err != nil {
		return fmt.Errorf("encode the samples: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("encode the samples: %w", err)
	}
	if err := renameio.WriteFile(samplesOf(path), b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep the samples: %w", err)
	}
	return nil
}

// packed is one level's samples: those that were answered well, each [second, first
// token, per token, total] in ms; a figure that does not exist is -1.
type packed struct {
	Vendor      string       `json:"vendor"`
	Arrivals    string       `json:"arrivals"`
	Concurrency int          `json:"concurrency"`
	Rate        *float64     `json:"rate"`
	Samples     [][4]float64 `json:"samples"`
}

func (rep *Report) pack() []packed {
	out := []packed{}
	for i := range rep.Runs {
		for k := range rep.Runs[i].Levels {
			l := &rep.Runs[i].Levels[k]
			p := packed{Vendor: rep.Runs[i].Vendor, Arrivals: l.Arrivals, Concurrency: l.Concurrency, Rate: l.Rate}
			for n := range l.samples {
				s := &l.samples[n]
				if !s.ok() {
					continue
				}
				row := [4]float64{float64(s.second), -1, -1, -1}
				for j, m := range []metric{firstToken, (*sample).perToken, total} {
					if v, ok := m(s); ok {
						row[j+1] = float64(int(v*1e3)) / 1e3
					}
				}
				p.Samples = append(p.Samples, row)
			}
			out = append(out, p)
		}
	}
	return out
}

// Read reads a report by its ID, or by the path of its JSON file.
func (h History) Read(name string) (*Report, error) {
	path := name
	if reportID.MatchString(name) {
		path = filepath.Join(h.Dir, name+".json")
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no report %q, neither of that ID nor a file", name)
	case err != nil:
		return nil, fmt.Errorf("read the report %q: %w", name, err)
	}
	rep := new(Report)
	if err := json.Unmarshal(b, rep); err != nil {
		return nil, fmt.Errorf("the report %q cannot be read: %w", name, err)
	}
	return rep, nil
}

// samples are those kept beside a report; none where there are none.
func (h History) samples(name string) []packed {
	path := name
	if reportID.MatchString(name) {
		path = filepath.Join(h.Dir, name+".json")
	}
	b, err := os.ReadFile(samplesOf(path))
	if err != nil {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	var out []packed
	if json.NewDecoder(io.LimitReader(z, 1<<30)).Decode(&out) != nil {
		return nil
	}
	return out
}

// List is the reports that can be read, newest first.
func (h History) List() ([]*Report, error) {
	files, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the reports: %w", err)
	}
	var out []*Report
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !reportID.MatchString(id) {
			continue
		}
		if rep, err := h.Read(id); err == nil {
			out = append(out, rep)
		}
	}
	slices.SortFunc(out, func(a, b *Report) int { return b.Started.Compare(a.Started) })
	return out, nil
}
