package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"baton/engine/config/strict"
)

// Mistake is one thing wrong in a configuration file.
type Mistake = strict.Mistake

// Errors are all mistakes of a configuration file, one line each.
type Errors = strict.Errors

// builtInName stands for the file where the built-in configuration is to blame.
const builtInName = "built-in config.toml"

// Options say where the configuration comes from.
type Options struct {
	Flag    string                   // --config; "" where it was not given
	BuiltIn []byte                   // the embedded config.toml
	Environ func(name string) string // nil: the process's environment
}

// Load reads the first of: the flag's file, $BATON_CONFIG, ./config.toml,
// $XDG_CONFIG_HOME/baton/config.toml, /etc/baton/config.toml, the built-in
// configuration. A file that the flag or the variable names must exist. The
// error is of type [Errors] where a file was read and is wrong.
func Load(opts Options) (*Config, error) {
	env := opts.Environ
	if env == nil {
		env = os.Getenv
	}
	path, data, err := find(opts.Flag, env)
	if err != nil {
		return nil, err
	}
	if path == "" {
		data = opts.BuiltIn
	}
	c, err := Parse(path, data, env)
	if err != nil {
		return nil, err
	}
	c.BuiltIn = path == "" || bytes.Equal(data, opts.BuiltIn)
	return c, nil
}

// find reads the first file of the search order; no file at all is "".
func find(flag string, env func(string) string) (path string, data []byte, err error) {
	for _, p := range searchOrder(flag, env) {
		data, err = os.ReadFile(p.path)
		if err == nil {
			return p.path, data, nil
		}
		if p.named || !errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("read the configuration: %w", err)
		}
	}
	return "", nil, nil
}

type place struct {
	path  string
	named bool // by a person: it must exist
}

func searchOrder(flag string, env func(string) string) []place {
	if flag != "" {
		return []place{{flag, true}}
	}
	if p := env("BATON_CONFIG"); p != "" {
		return []place{{p, true}}
	}
	places := []place{{path: "config.toml"}}
	if dir := env("XDG_CONFIG_HOME"); dir != "" {
		places = append(places, place{path: filepath.Join(dir, "baton", "config.toml")})
	} else if home := env("HOME"); home != "" {
		places = append(places, place{path: filepath.Join(home, ".config", "baton", "config.toml")})
	}
	return append(places, place{path: "/etc/baton/config.toml"})
}

// Parse reads a configuration text. The path is for messages and for `file:`
// references, which are relative to its folder; "" means the built-in text.
func Parse(path string, data []byte, env func(string) string) (*Config, error) {
	name := path
	if name == "" {
		name = builtInName
	}
	c := Default()
	doc, errs := strict.Decode(name, data, c)
	if doc == nil {
		return nil, errs // not TOML: nothing more can be said
	}
	c.Path = path
	sum := sha256.Sum256(data)
	c.Digest = hex.EncodeToString(sum[:])
	c.doc = doc

	v := &validation{doc: doc, errs: errs}
	v.secrets(c, filepath.Dir(path), env)
	v.complete(c)
	v.config(c)
	v.errs.Sort()
	if err := v.errs.Err(); err != nil {
		return nil, err
	}
	return c, nil
}
