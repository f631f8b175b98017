package vendors

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// base is a vendor's base URL, taken apart. Paths and queries are as they stand on
// the wire, escapes and all.
type base struct {
	scheme, host string
	path         string // without a slash at its end
	query        string
	fixed        url.Values // of query: parameters that no client changes
}

// parseBase takes a base URL apart. Its error never quotes a password.
func parseBase(raw string) (base, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return base{}, errors.New("base_url: not a URL")
	}
	if u.User != nil {
		return base{}, errors.New("base_url: must hold no user or password; keys belong in api_keys")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return base{}, fmt.Errorf("base_url %q: must begin with http:// or https:// and a host", raw)
	}
	b := base{
		scheme: u.Scheme, host: u.Host,
		path: strings.TrimRight(u.EscapedPath(), "/"), query: u.RawQuery,
	}
	if b.query != "" {
		b.fixed = u.Query()
	}
	return b, nil
}

// at returns the base with another path, or itself for an empty one.
func (b base) at(path string) base {
	if path != "" {
		b.path = strings.TrimRight(path, "/")
	}
	return b
}

// origin is scheme and host.
func (b base) origin() string { return b.scheme + "://" + b.host }

// loopback says whether the vendor is on this machine.
func (b base) loopback() bool {
	host := (&url.URL{Host: b.host}).Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// PathError is a path that a vendor is not asked for.
type PathError struct {
	Path string
	Rule string
}

// Error quotes the path and names the rule.
func (e *PathError) Error() string { return fmt.Sprintf("path %q: %s", e.Path, e.Rule) }

// join returns the URL of path, escaped as on the wire, beneath the base. Escapes
// and double slashes stay as they are.
func (b base) join(path, query string) (*url.URL, error) {
	full := b.path + path
	plain := full
	if strings.IndexByte(full, '%') >= 0 {
		var err error
		if plain, err = url.PathUnescape(full); err != nil {
			return nil, &PathError{path, "is not escaped rightly"}
		}
	}
	if climbs(plain) {
		return nil, &PathError{path, "must not hold .. or ."}
	}
	return &url.URL{
		Scheme: b.scheme, Host: b.host, Path: plain, RawPath: full, RawQuery: b.merge(query),
	}, nil
}

// climbs says whether a path has a segment that would lead out of the base.
func climbs(path string) bool {
	if !strings.Contains(path, "/.") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == ".." || segment == "." {
			return true
		}
	}
	return false
}

// merge adds a client's query to the base's; what the base fixes is taken out of
// the client's.
func (b base) merge(query string) string {
	switch {
	case b.query == "":
		return query
	case query == "":
		return b.query
	}
	merged := []string{b.query}
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && b.fixed.Has(plain) {
			continue
		}
		merged = append(merged, part)
	}
	return strings.Join(merged, "&")
}
