package config

import (
	"net"
	"net/url"
)

// Bytes is a size in bytes; "64MiB" in the file.
type Bytes int64

// Secret is a key or token. It prints as stars wherever it is formatted; Reveal
// gives the text.
type Secret struct {
	text   string
	source string // env:NAME, file:PATH or "" for a literal
}

// NewSecret makes a secret of a literal text.
func NewSecret(text string) Secret { return Secret{text: text} }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return s.text }

// Literal says whether the secret stands in the file itself.
func (s Secret) Literal() bool { return s.source == "" && s.text != "" }

// String never shows the secret.
func (s Secret) String() string {
	if s.source != "" {
		return s.source
	}
	if s.text == "" {
		return ""
	}
	return "****"
}

// GoString never shows the secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText never shows the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// loopbackURL says whether a base URL points at this machine.
func loopbackURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
