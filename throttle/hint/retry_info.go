package hint

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// maxBody is the size of the largest body that is read.
const maxBody = 64 << 10

// RetryInfo returns the wait that a google.rpc.RetryInfo asks for in a JSON body, as Google's APIs send it with an error:
//
//	{"error": {"code": 429, "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}]}}
//
// The details may also be at the top, without "error", and the whole may be in an array, as streaming calls have it. Of
// several the longest counts. The wait is rounded up to whole milliseconds, and what does not fit is the largest
// Duration; a negative one is invalid. Its Source is "retryinfo", its Rule AtLeast: the curve of waits goes on from it.
//
// ok false: there is none, or the body is not JSON or longer than 64 KiB. A body in which the type is not named at all
// costs one search and no allocation. Headers come first: call it where the Parser found no Delay. Safe for concurrent
// use.
func RetryInfo(body []byte) (s throttle.Signal, ok bool) {
	if len(body) > maxBody || !bytes.Contains(body, []byte(retryInfoType)) {
		return throttle.Signal{}, false
	}
	var answers []googleAnswer
	if body = bytes.TrimSpace(body); body[0] == '[' {
		ok = decoded(json.Unmarshal(body, &answers))
	} else {
		answers = make([]googleAnswer, 1)
		ok = decoded(json.Unmarshal(body, &answers[0]))
	}
	if !ok {
		return throttle.Signal{}, false
	}
	var w wait
	for _, answer := range answers {
		for _, details := range [...][]googleDetail{answer.Details, answer.Error.Details} {
			for _, d := range details {
				if d.Type[strings.LastIndexByte(d.Type, '/')+1:] != retryInfoType {
					continue
				}
				if number, ok := strings.CutSuffix(d.Delay, "s"); ok {
					if n, ok := readDecimal(number); ok {
						w.longest(n.in(time.Second), "retryinfo")
					}
				}
			}
		}
	}
	var a answer
	a.tell(w)
	return a.Signal, a.HasDelay
}

const retryInfoType = "google.rpc.RetryInfo"

type googleAnswer struct {
	googleStatus
	Error googleStatus `json:"error"`
}

type googleStatus struct {
	Details []googleDetail `json:"details"`
}

type googleDetail struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

// decoded reports whether JSON was read, perhaps without some value that is of another type than it should be.
func decoded(err error) bool {
	return err == nil || errors.As(err, new(*json.UnmarshalTypeError))
}
