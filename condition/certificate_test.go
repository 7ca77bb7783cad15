package condition_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// CertificateInvalidError is named like crypto/x509's.
type CertificateInvalidError struct {
	Reason int
	Detail string
}

func (CertificateInvalidError) Error() string { return "invalid" }

// TestCertificateTimes: waiting cures a certificate that is not yet valid, and no other (RFC 5280, section 4.1.2.5).
func TestCertificateTimes(t *testing.T) {
	const early, late = "current time 2020-01-01T00:00:00Z is before 2024-01-01T00:00:00Z", "current time 2030-01-01T00:00:00Z is after 2024-01-01T00:00:00Z"
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"not yet valid", x509.CertificateInvalidError{Reason: x509.Expired, Detail: early}, unknown},
		{"expired", x509.CertificateInvalidError{Reason: x509.Expired, Detail: late}, stop},
		{"expired, no detail", x509.CertificateInvalidError{Reason: x509.Expired}, stop},
		{"another reason", x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign, Detail: early}, stop},
		{"another type of that name", CertificateInvalidError{int(x509.Expired), early}, stop},
		{"nothing", nil, stop},
		{"wrong host", x509.HostnameError{Certificate: &x509.Certificate{}, Host: early}, stop},
		{"unknown authority", x509.UnknownAuthorityError{}, stop},
		{"and more", errors.Join(x509.CertificateInvalidError{Reason: x509.Expired, Detail: early}, x509.UnknownAuthorityError{}), stop},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := error(&tls.CertificateVerificationError{Err: tt.err})
			require.Equal(t, tt.want, condition.Hopeless().Check(err))
			require.Equal(t, tt.want, condition.Hopeless().Check(fmt.Errorf("outer: %w", err)))
			require.Equal(t, unknown, condition.Network().Check(err))
		})
	}
	require.Equal(t, unknown, condition.Hopeless().Check(x509.CertificateInvalidError{Reason: x509.Expired, Detail: early}))
}
