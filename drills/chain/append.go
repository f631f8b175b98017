package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"baton/engine/control"
)

// Append makes r the next record of the chain in dir: it sets r.Chain, has the
// files rendered, enters them into the chain and writes them, and returns once
// all of it is on the disk. render gives the files' contents by name; ID.json
// has to be one of them, and be r in JSON.
//
// The line is written before the files: a crash between the two leaves the open
// version of the record, which whoever closes it appends anew. An error leaves
// the chain as it was, and r.Chain empty.
func Append(dir string, r *control.Report, render func(*control.Report) (map[string][]byte, error)) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, File)
	lock := flock.New(path, flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the chain of records: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	lines, whole, err := read(dir)
	if err != nil {
		return err
	}
	files, link, err := seal(r, lines, render)
	if err != nil {
		r.Chain = control.Chain{}
		return err
	}
	if err := enter(path, whole, link); err != nil {
		r.Chain = control.Chain{}
		return err
	}
	if err := store(dir, files); err != nil {
		r.Chain = control.Chain{}
		return errors.Join(err, os.Truncate(path, whole))
	}
	return nil
}

// seal gives r its place after the lines, and makes its files and its line.
func seal(r *control.Report, lines []line, render func(*control.Report) (map[string][]byte, error)) (map[string][]byte, Link, error) {
	link := Link{N: 1, ID: r.ID, Time: time.Now().UTC(), Files: map[string]string{}}
	r.Chain = control.Chain{}
	if n := len(lines); n > 0 {
		last := lines[n-1]
		link.N, link.Previous = max(n, last.N)+1, last.Link.Link
		r.Chain.Previous = last.Record
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return nil, link, fmt.Errorf("encode the record %s: %w", r.ID, err)
	}
	if link.Record, err = Digest(doc); err != nil {
		return nil, link, err
	}
	r.Chain.SHA256 = link.Record
	files, err := render(r)
	if err != nil {
		return nil, link, err
	}
	for name, b := range files {
		if name != filepath.Base(name) || name == File {
			return nil, link, fmt.Errorf("%q is no name for a file of the record %s", name, r.ID)
		}
		link.Files[name] = sum(b)
	}
	if d, err := Digest(files[r.ID+".json"]); err != nil || d != link.Record {
		return nil, link, fmt.Errorf("%s.json is not the record %s", r.ID, r.ID)
	}
	link.Link = link.digest()
	return files, link, nil
}

// enter writes a line at the end of the whole ones.
func enter(path string, whole int64, l Link) (err error) {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode the link of %s: %w", l.ID, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Truncate(whole))
		}
		err = errors.Join(err, f.Close())
	}()
	if err := f.Truncate(whole); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(b, '\n'), whole); err != nil {
		return err
	}
	return f.Sync()
}

// store writes the files, the record itself last, and their names.
func store(dir string, files map[string][]byte) error {
	names := slices.Sorted(maps.Keys(files))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		if err := renameio.WriteFile(filepath.Join(dir, name), files[name], 0o600); err != nil {
			return err
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func rank(name string) int {
	if filepath.Ext(name) == ".json" {
		return 1
	}
	return 0
}
