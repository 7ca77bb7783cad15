package alibaba

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/seed-89b3229b/retry/throttle"
)

// Keys returns the keys under which c's cool-downs are kept in the Gate:
//
//	account  a hash of Account
//	api      the same hash::Product::Version::Action::Region
//
// for Gate.Check, Gate.Wait, Gate.Clear and the like. In place of Account stands the first half of its SHA-256 in
// hexadecimal digits, because keys appear in errors and logs. The other fields are written as in a URL's query, so that no
// two APIs share a key whatever characters they have.
//
// Without an Account there is no account to hold back: account is the empty Key, which never is, and the api key has
// "anonymous" in its place. Safe for concurrent use.
func (c Control) Keys() (account, api throttle.Key) {
	name := "anonymous"
	if c.Account != "" {
		sum := sha256.Sum256([]byte(c.Account))
		name = hex.EncodeToString(sum[:len(sum)/2])
		account = throttle.Key(name)
	}
	parts := []string{name}
	for _, part := range []string{c.Product, c.Version, c.Action, c.Region} {
		parts = append(parts, url.QueryEscape(part))
	}
	return account, throttle.Key(strings.Join(parts, "::"))
}
