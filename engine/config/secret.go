package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"baton/engine/config/strict"
)

// variable is how the names of environment variables are written; a reference
// that does not look like one may be a key pasted by accident, and is not shown.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// nearReference is what people write when they mean a reference.
var nearReference = regexp.MustCompile(`^(?i:env|file|\$env):|^\$\{?[A-Za-z_][A-Za-z0-9_]*\}?$`)

// secrets resolves the references of all secrets.
func (v *validation) secrets(c *Config, dir string, env func(string) string) {
	for i := range c.Clients {
		if !v.doc.Has(clientPath(i) + ".key") {
			continue // its absence is a mistake of its own
		}
		v.secret(clientPath(i)+".key", &c.Clients[i].Key, dir, env)
	}
	if c.Control.Token.text != "" {
		v.secret("control.token", &c.Control.Token, dir, env)
	}
	for i := range c.Vendors {
		seen := map[string]bool{}
		for j := range c.Vendors[i].APIKeys {
			path, key := strict.Element(vendorPath(i)+".api_keys", j), &c.Vendors[i].APIKeys[j]
			v.secret(path, key, dir, env)
			if seen[key.text] && key.text != unresolved {
				v.fault(path, "", "must be another key than those before it")
			}
			seen[key.text] = true
		}
	}
}

// secret resolves one reference in place. A mistake never shows the secret.
func (v *validation) secret(path string, s *Secret, dir string, env func(string) string) {
	if v.doc.Wrong(path) {
		return
	}
	if name, ok := strings.CutPrefix(s.text, "env:"); ok {
		*s = Secret{text: env(name), source: s.text}
		if !variable.MatchString(name) {
			s.source = "env:****"
		}
		if s.text == "" {
			v.fault(path, "", s.source+" is not set or empty")
			s.text = unresolved
		}
	} else if file, ok := strings.CutPrefix(s.text, "file:"); ok {
		v.secretFile(path, s, file, dir)
	}
	switch {
	case strings.TrimSpace(s.text) == "":
		v.fault(path, "", "must not be empty; write env:NAME or file:PATH")
	case s.source == "" && nearReference.MatchString(s.text):
		v.fault(path, "", "looks like a reference; those are written env:NAME or file:PATH, in lower case")
	case strings.ContainsFunc(s.text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		v.fault(path, "", "must be one line without control characters")
	}
}

// unresolved stands for a secret whose mistake is reported already.
const unresolved = "unresolved"

// secretFile reads a secret from a file. Its path is shown only where it is
// plainly one.
func (v *validation) secretFile(path string, s *Secret, file, dir string) {
	*s = Secret{text: unresolved, source: "file:****"}
	if filepath.IsAbs(file) || strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		s.source = "file:" + file
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		why := "cannot be read"
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			why += ": " + pathErr.Err.Error()
		}
		v.fault(path, "", s.source+" "+why)
		return
	}
	s.text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if s.text == "" {
		v.fault(path, "", s.source+" is empty")
		s.text = unresolved
	}
}
