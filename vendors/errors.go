package vendors

import (
	"crypto/tls"
	"errors"
	"net"
)

// NothingSent says whether err, of RoundTrip, means that no connection was made,
// so that the vendor has seen nothing of the request: name, dial, proxy or TLS
// handshake failed. False means that it may have seen some.
func NothingSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var (
		name   *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	if errors.As(err, &name) || errors.As(err, &cert) || errors.As(err, &record) {
		return true
	}
	return err != nil && err.Error() == "net/http: TLS handshake timeout" // its type is not exported
}
