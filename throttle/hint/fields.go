package hint

import (
	"net/http"
	"strings"
)

// field is a header field that the parsers know.
type field uint8

const (
	unknown field = iota
	shouldRetry
	stripeShouldRetry
	pushback
	retryAfterMS
	azureRetryAfterMS
	awsRetryAfter
	retryAfter
	xRetryAfter
	rateLimit
	rateLimitPolicy
	alibabaUser
	alibabaUserAPI
	xResetAfter
	xReset
	xRemaining
	xLimit
	xResource
	xBucket
	hyphenReset
	hyphenRemaining
	hyphenLimit
	plainReset
	plainRemaining
	plainLimit
	plainName
	shopifyCalls
	// The fields below stand for families of names; see dimension.
	xDimension
	anthropicDimension
	fieldCount
)

// fieldNames are the whole names in lower case. They are also what Signal.Source says.
var fieldNames = [xDimension]string{
	shouldRetry:       "x-should-retry",
	stripeShouldRetry: "stripe-should-retry",
	pushback:          "grpc-retry-pushback-ms",
	retryAfterMS:      "retry-after-ms",
	azureRetryAfterMS: "x-ms-retry-after-ms",
	awsRetryAfter:     "x-amz-retry-after",
	retryAfter:        "retry-after",
	xRetryAfter:       "x-retry-after",
	rateLimit:         "ratelimit",
	rateLimitPolicy:   "ratelimit-policy",
	alibabaUser:       "x-ratelimit-user",
	alibabaUserAPI:    "x-ratelimit-user-api",
	xResetAfter:       "x-ratelimit-reset-after",
	xReset:            "x-ratelimit-reset",
	xRemaining:        "x-ratelimit-remaining",
	xLimit:            "x-ratelimit-limit",
	xResource:         "x-ratelimit-resource",
	xBucket:           "x-ratelimit-bucket",
	hyphenReset:       "x-rate-limit-reset",
	hyphenRemaining:   "x-rate-limit-remaining",
	hyphenLimit:       "x-rate-limit-limit",
	plainReset:        "ratelimit-reset",
	plainRemaining:    "ratelimit-remaining",
	plainLimit:        "ratelimit-limit",
	plainName:         "ratelimit-name",
	shopifyCalls:      "x-shopify-shop-api-call-limit",
}

// known is a name in lower case and its field.
type known struct {
	field field
	name  string
}

// knownNames holds fieldNames, and the names of the families that servers are known to use: finding one of these costs
// no allocation, and they are found in a header with too many names to look at each.
var knownNames = func() map[string]known {
	names := map[string]known{}
	for f, name := range fieldNames {
		if name != "" {
			names[name] = known{field(f), name}
		}
	}
	for _, part := range partNames {
		for _, dim := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
			x := xPrefix + part + "-" + dim
			names[x] = known{xDimension, x}
			anthropic := anthropicPrefix + dim + "-" + part
			names[anthropic] = known{anthropicDimension, anthropic}
		}
	}
	return names
}()

// canonicalNames are knownNames as net/http stores them.
var canonicalNames = func() map[string]known {
	names := make(map[string]known, len(knownNames))
	for name, k := range knownNames {
		names[http.CanonicalHeaderKey(name)] = k
	}
	return names
}()

// maxName is longer than any name that is looked for.
const maxName = 64

// lookUp returns which field a name in any case is. Nearly all names are none, and must cost next to nothing.
func lookUp(name string) (known, bool) {
	if !plausible(name) {
		return known{}, false
	}
	var buf [maxName]byte
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	lower := buf[:len(name)]
	if k, ok := knownNames[string(lower)]; ok {
		return k, true
	}
	var f field
	switch {
	case hasPrefix(lower, xPrefix):
		f = xDimension
	case hasPrefix(lower, anthropicPrefix):
		f = anthropicDimension
	default:
		return known{}, false
	}
	if _, _, ok := dissect(f, string(lower)); !ok {
		return known{}, false
	}
	return known{f, string(lower)}, true
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// plausible lets every name pass that lookUp can find, and few others, by its first and third letter.
func plausible(name string) bool {
	if len(name) < len("ratelimit") || len(name) > maxName {
		return false
	}
	third := name[2] | 0x20
	switch name[0] | 0x20 {
	case 'r', 'a': // retry-after, ratelimit, anthropic
		return third == 't'
	case 'x': // x-ratelimit, x-amz, x-ms, x-should, x-shopify
		return third == 'r' || third == 'a' || third == 'm' || third == 's'
	case 'g': // grpc
		return third == 'p'
	case 's': // stripe
		return third == 'r'
	}
	return false
}

// part is which of a dimension's three fields a name is.
type part uint8

const (
	limitPart part = iota
	remainingPart
	resetPart
)

var partNames = [...]string{limitPart: "limit", remainingPart: "remaining", resetPart: "reset"}

const (
	xPrefix         = "x-ratelimit-"
	anthropicPrefix = "anthropic-ratelimit-"
)

// dissect takes a name in lower case of one of the families apart: x-ratelimit-reset-tokens and
// anthropic-ratelimit-tokens-reset are the dimension tokens and the part reset.
func dissect(f field, name string) (dim string, p part, ok bool) {
	for p, text := range partNames {
		if f == xDimension {
			dim, ok = strings.CutPrefix(name[len(xPrefix):], text+"-")
		} else {
			dim, ok = strings.CutSuffix(name[len(anthropicPrefix):], "-"+text)
		}
		if ok && dim != "" {
			return dim, part(p), true
		}
	}
	return "", 0, false
}
