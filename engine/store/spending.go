package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"baton/engine/ledger"
)

const (
	spendingDir  = "spending"
	spendingMax  = 64 << 20 // bytes of one file
	lookEvery    = 5 * time.Second
	spendingPart = ".json"
)

var spendingName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// WriteSpending leaves attempts that went to vendors past the engine, those of a
// stress test, in the state directory. The engine that runs there, or the next one
// to do so, takes them into the ledger, once for each name; until then whoever
// reads the directory finds them.
func WriteSpending(stateDir, name string, attempts []ledger.Attempt) error {
	if !spendingName.MatchString(name) {
		return fmt.Errorf("record what was spent: %q is not up to 64 letters, digits, - and _", name)
	}
	b, err := json.Marshal(attempts)
	if err != nil {
		return fmt.Errorf("record what was spent: %w", err)
	}
	if len(b) > spendingMax {
		return fmt.Errorf("record what was spent: %d attempts are more than %d bytes", len(attempts), spendingMax)
	}
	dir := filepath.Join(stateDir, spendingDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record what was spent: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, name+spendingPart), b, 0o600); err != nil {
		return fmt.Errorf("record what was spent: %w", err)
	}
	return nil
}

// spending lists the names of the files that wait, and reads them.
type spending struct{ dir string }

func spendingOf(path string) spending {
	return spending{filepath.Join(filepath.Dir(path), spendingDir)}
}

func (p spending) names() []string {
	var names []string
	files, _ := os.ReadDir(p.dir) // none, as a rule
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), spendingPart); ok && spendingName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

func (p spending) path(name string) string { return filepath.Join(p.dir, name+spendingPart) }

func (p spending) read(name string) ([]ledger.Attempt, error) {
	info, err := os.Stat(p.path(name))
	if err != nil {
		return nil, err
	}
	if info.Size() > spendingMax {
		return nil, fmt.Errorf("%s is larger than %d bytes", p.path(name), spendingMax)
	}
	b, err := os.ReadFile(p.path(name))
	if err != nil {
		return nil, err
	}
	var list []ledger.Attempt
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", p.path(name), err)
	}
	for i := range list {
		list[i].Source = ledger.Stress // nothing else goes past the engine
	}
	return list, nil
}

// look takes what was left in the state directory into the next batch. Files that
// cannot be read are put aside. Store.disk is held, and the file open.
func (s *Store) look(ctx context.Context, now time.Time) error {
	s.books.mu.Lock()
	ready := s.books.ready
	s.books.mu.Unlock()
	if !ready || s.books.batch != nil || now.Sub(s.looked) < lookEvery {
		return nil
	}
	s.looked = now
	p := spendingOf(s.path)
	for _, name := range p.names() {
		taken := 0
		if err := s.file.conn.QueryRowContext(ctx, "SELECT count(*) FROM taken WHERE name = ?", name).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			_ = os.Remove(p.path(name))
			continue
		}
		list, err := p.read(name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				_ = os.Rename(p.path(name), p.path(name)+".unreadable")
			}
			continue
		}
		s.books.mu.Lock()
		for i := range list {
			s.books.enter(&list[i])
		}
		s.books.taken = append(s.books.taken, name)
		s.books.mu.Unlock()
	}
	return nil
}

// forget removes the files of a batch that is written.
func (s *Store) forget(b *batch) {
	if b == nil {
		return
	}
	for _, name := range b.taken {
		_ = os.Remove(spendingOf(s.path).path(name))
	}
}
