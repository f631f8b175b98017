package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Bytes is a size in bytes; "64MiB" in the file. MiB and its like are powers of
// 1024, MB and its like powers of 1000.
type Bytes int64

var byteUnits = []struct {
	suffix string
	size   Bytes
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
}

// SetTOML reads a size with a unit, or a whole number of bytes.
func (b *Bytes) SetTOML(v any) error {
	wrong := errors.New(`a size such as "64MiB"`)
	if n, ok := v.(int64); ok {
		*b = Bytes(n)
		return nil
	}
	s, _ := v.(string)
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n > math.MaxInt64/int64(u.size) || n < math.MinInt64/int64(u.size) {
			return wrong
		}
		*b = Bytes(n) * u.size
		return nil
	}
	return wrong
}

// String writes the size in the largest unit that divides it.
func (b Bytes) String() string {
	for i := 2; i >= 0; i-- {
		if u := byteUnits[i]; b != 0 && b%u.size == 0 {
			return fmt.Sprintf("%d%s", b/u.size, u.suffix)
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// Secret is a key or token. It prints as stars wherever it is formatted; Reveal
// gives the text.
type Secret struct {
	text   string
	source string // env:NAME, file:PATH or "" for a literal
}

// NewSecret makes a secret of a literal text.
func NewSecret(text string) Secret { return Secret{text: text} }

// SetTOML takes a string; references are resolved later.
func (s *Secret) SetTOML(v any) error {
	text, ok := v.(string)
	if !ok {
		return errors.New("a string in quotes")
	}
	*s = Secret{text: text}
	return nil
}

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
	return loopbackHost(u.Hostname())
}

func loopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
