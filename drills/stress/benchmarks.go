package stress

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Benchmarks is the file in which imported figures are kept.
type Benchmarks struct{ Path string }

// Read returns the kept figures; none where there is no file yet.
func (b Benchmarks) Read() ([]Benchmark, error) {
	file, err := os.Open(b.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the benchmarks: %w", err)
	}
	defer file.Close()
	return ReadBenchmarks(file)
}

// Import adds figures to those that are kept. One that is there already, of the same
// source, vendor, model, metric, statistic and conditions, is replaced.
func (b Benchmarks) Import(more []Benchmark) (added, replaced int, err error) {
	all, err := b.Read()
	if err != nil {
		return 0, 0, err
	}
next:
	for i := range more {
		for k := range all {
			if all[k].same(&more[i]) {
				all[k] = more[i]
				replaced++
				continue next
			}
		}
		all = append(all, more[i])
		added++
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(Columns) // its error is Error's
	for i := range all {
		_ = w.Write(all[i].row())
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return 0, 0, fmt.Errorf("keep the benchmarks: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return 0, 0, fmt.Errorf("keep the benchmarks: %w", err)
	}
	if err := renameio.WriteFile(b.Path, out.Bytes(), 0o600); err != nil {
		return 0, 0, fmt.Errorf("keep the benchmarks: %w", err)
	}
	return added, replaced, nil
}
