package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"baton/engine/control"
)

// Kind is what happened to a record.
type Kind string

// The kinds of problems.
const (
	Changed  Kind = "changed"  // a file is not as it was entered
	Removed  Kind = "removed"  // a file, or a line of the chain, is gone
	Inserted Kind = "inserted" // a record, or a line, was never entered
	Broken   Kind = "broken"   // a line of the chain was changed
)

// Problem is one thing that is not as it was entered.
type Problem struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"` // of the record, "" where it is not known
	Text string `json:"text"`
}

// String is one line for people.
func (p Problem) String() string {
	if p.ID == "" {
		return string(p.Kind) + ": " + p.Text
	}
	return p.ID + ": " + string(p.Kind) + ": " + p.Text
}

// Result is what Verify found. A record of a time before there was a chain is in
// Older: nothing vouches for it.
type Result struct {
	Links    []Link    `json:"links"`
	Head     string    `json:"head"` // the digest of the last line, "" for an empty chain: to be kept elsewhere
	Problems []Problem `json:"problems"`
	Older    []string  `json:"older"` // ids
}

// Of is the last link of a record and what is wrong with the record; nil: it is
// not in the chain.
func (r *Result) Of(id string) (*Link, []Problem) {
	var link *Link
	for i := range r.Links {
		if r.Links[i].ID == id {
			link = &r.Links[i]
		}
	}
	var out []Problem
	for _, p := range r.Problems {
		if p.ID == id {
			out = append(out, p)
		}
	}
	return link, out
}

// Knows says whether a head that was kept elsewhere is still in the chain: if
// not, its end was cut off or it was made anew.
func (r *Result) Knows(head string) bool {
	return slices.ContainsFunc(r.Links, func(l Link) bool { return l.Link == head })
}

// Verify holds every record in dir against the chain. An error is one of
// reading; what does not fit is in the Result.
func Verify(dir string) (*Result, error) {
	lines, _, err := read(dir)
	if err != nil {
		return nil, err
	}
	r := &Result{Links: []Link{}, Problems: []Problem{}, Older: []string{}}
	last := map[string]int{} // the line that counts for a record
	for i, l := range lines {
		r.Links = append(r.Links, l.Link)
		if l.ID != "" {
			last[l.ID] = i
		}
		r.joint(lines, i)
	}
	if n := len(lines); n > 0 {
		r.Head = lines[n-1].Link.Link
	}
	for i, l := range lines {
		if last[l.ID] == i && l.problem == "" {
			if err := r.record(dir, lines, i); err != nil {
				return nil, err
			}
		}
	}
	return r, r.strangers(dir, last)
}

func (r *Result) problem(k Kind, id, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Kind: k, ID: id, Text: fmt.Sprintf(format, args...)})
}

// joint looks at one line and whether it continues the one before it.
func (r *Result) joint(lines []line, i int) {
	l := lines[i]
	if l.problem != "" {
		r.problem(Broken, l.ID, "line %d of %s: %s", i+1, File, l.problem)
		return
	}
	before, n, name := "", 0, "the beginning"
	if i > 0 {
		if lines[i-1].problem != "" {
			return // said already
		}
		before, n, name = lines[i-1].Link.Link, lines[i-1].N, lines[i-1].ID
	}
	switch {
	case l.Previous == before && l.N == n+1:
	case l.N > n+1:
		r.problem(Removed, "", "%d lines between %s and %s are gone from %s", l.N-n-1, name, l.ID, File)
	default:
		r.problem(Inserted, l.ID, "line %d of %s does not continue the line before it (%s)", i+1, File, name)
	}
}

// record holds a record's files against its line.
func (r *Result) record(dir string, lines []line, i int) error {
	l := lines[i]
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if name != filepath.Base(name) {
			r.problem(Broken, l.ID, "line %d of %s names a file elsewhere", i+1, File)
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.problem(Removed, l.ID, "%s is gone", name)
		case err != nil:
			return fmt.Errorf("read a file of the record %s: %w", l.ID, err)
		case sum(b) != l.Files[name]:
			r.problem(Changed, l.ID, "%s is not as it was written", name)
		case name == l.ID+".json":
			r.place(b, lines, i)
		}
	}
	return nil
}

// place holds what a record says of its place against its line.
func (r *Result) place(doc []byte, lines []line, i int) {
	l := lines[i]
	before := ""
	if i > 0 {
		if lines[i-1].problem != "" || lines[i-1].N != l.N-1 {
			return // said already
		}
		before = lines[i-1].Record
	}
	var rep struct{ Chain control.Chain }
	d, err := Digest(doc)
	if err == nil {
		err = json.Unmarshal(doc, &rep)
	}
	if err != nil || d != l.Record || rep.Chain.SHA256 != l.Record || rep.Chain.Previous != before {
		r.problem(Changed, l.ID, "its own digest, or the one of the record before it, does not fit")
	}
}

// strangers are closed records that the chain does not know.
func (r *Result) strangers(dir string, known map[string]int) error {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the records: %w", err)
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if _, entered := known[id]; !ok || entered {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return fmt.Errorf("read the record %s: %w", id, err)
		}
		var rep control.Report
		switch err := json.Unmarshal(b, &rep); {
		case err != nil:
			r.problem(Inserted, id, "it is not in the chain, and it cannot be read")
		case rep.Ended == nil: // open: it runs
		case rep.Chain.SHA256 == "" && (len(r.Links) == 0 || rep.Started.Before(r.Links[0].Time)):
			r.Older = append(r.Older, id)
		default:
			r.problem(Inserted, id, "it is not in the chain")
		}
	}
	return nil
}
