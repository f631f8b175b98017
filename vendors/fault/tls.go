package fault

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"time"
)

// expired is a vendor that forgot to renew its certificate.
type expired struct{}

func (expired) strike(a *attempt) (*http.Response, error) {
	now := time.Now()
	end := a.lease.start.Truncate(time.Second).Add(-time.Second)
	cert := &x509.Certificate{
		Subject: pkix.Name{CommonName: a.host()}, DNSNames: []string{a.host()},
		NotBefore: end.AddDate(0, -3, 0), NotAfter: end,
	}
	return a.fail(&tls.CertificateVerificationError{
		UnverifiedCertificates: []*x509.Certificate{cert},
		Err: x509.CertificateInvalidError{
			Cert: cert, Reason: x509.Expired,
			Detail: "current time " + now.UTC().Format(time.RFC3339) + " is after " + end.UTC().Format(time.RFC3339),
		},
	})
}
