package condition

import (
	"reflect"
	"strings"
)

// notYetValid reports whether err itself says that a certificate will be valid later, as that of a server whose clock, or
// whose client's, is off by a little (RFC 5280, section 4.1.2.5). crypto/x509 has one reason for both ends of the time; which
// it was it tells in words only. Known by the type's name, for whose sake no package is imported.
func notYetValid(err error) bool {
	const expired = 1
	v, ok := structOf(err, "CertificateInvalidError")
	if !ok || v.Type().PkgPath() != "crypto/x509" {
		return false
	}
	reason, detail := field(v, "Reason"), field(v, "Detail")
	return reason.CanInt() && reason.Int() == expired && detail.Kind() == reflect.String && strings.Contains(detail.String(), " is before ")
}
