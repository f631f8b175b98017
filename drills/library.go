package drills

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"baton/engine/config/strict"
)

//go:embed scenarios/*.toml
var builtin embed.FS

// Builtin returns the scenarios that come with baton, by name.
func Builtin() (map[string]*Scenario, error) {
	files, err := builtin.ReadDir("scenarios")
	if err != nil {
		return nil, fmt.Errorf("read the built-in scenarios: %w", err)
	}
	all := make(map[string]*Scenario, len(files))
	for _, f := range files {
		data, err := builtin.ReadFile("scenarios/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read the built-in scenario %s: %w", f.Name(), err)
		}
		s, err := Parse(f.Name(), data)
		if err != nil {
			return nil, fmt.Errorf("built-in scenario: %w", err)
		}
		all[s.Name] = s
	}
	return all, nil
}

// Own reads the scenarios in a directory; one without it has none. A file that
// is wrong is left out, and every mistake of it is in the errors.
func Own(dir string) (map[string]*Scenario, strict.Errors) {
	all := map[string]*Scenario{}
	if dir == "" {
		return all, nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		return all, strict.Errors{{File: dir, Rule: "cannot be read: " + err.Error()}}
	}
	var errs strict.Errors
	for _, f := range files {
		if f.IsDir() || !strings.HasSuffix(f.Name(), ".toml") {
			continue
		}
		path := filepath.Join(dir, f.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, strict.Mistake{File: path, Rule: "cannot be read: " + err.Error()})
			continue
		}
		s, err := Parse(path, data)
		var wrong strict.Errors
		switch {
		case errors.As(err, &wrong):
			errs = append(errs, wrong...)
		case err != nil:
			errs = append(errs, strict.Mistake{File: path, Rule: err.Error()})
		default:
			s.file = path
			all[s.Name] = s
		}
	}
	return all, errs
}

// OwnDir is where the user's own scenarios lie: beside the configuration file.
func OwnDir(config string) string {
	if config == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(config), "drills")
}

// library is all scenarios as their files are now: the user's own go before
// built-in ones of the same name. What is wrong with some does not keep the
// others from being run.
func (m *Machine) library() (map[string]*Scenario, strict.Errors) {
	m.mu.Lock()
	dir := OwnDir(m.terms.cfg.Path)
	m.mu.Unlock()
	all := maps.Clone(m.builtin)
	own, errs := Own(dir)
	maps.Copy(all, own)
	return all, errs
}

// tellLibrary says in the journal which of the user's own scenarios cannot be
// used.
func (m *Machine) tellLibrary() {
	_, errs := m.library()
	for _, e := range errs {
		m.warn("a scenario cannot be used: " + e.Error())
	}
	m.mu.Lock()
	lines := m.terms.rules.Schedule
	m.mu.Unlock()
	for i, l := range lines {
		if _, err := m.scenario(l.Scenario); err != nil {
			m.warn(fmt.Sprintf("drill.schedule[%d] cannot be followed: %v", i, err))
		}
	}
}

// scenario finds one by its name.
func (m *Machine) scenario(name string) (*Scenario, error) {
	all, errs := m.library()
	if s := all[name]; s != nil {
		return s, nil
	}
	for _, e := range errs {
		if filepath.Base(e.File) == name+".toml" {
			return nil, invalid("scenario", "%s is wrong: %v", name, errs.Err())
		}
	}
	return nil, noScenario(name, all)
}
