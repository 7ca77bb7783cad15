package retryhttp

import (
	"net/http"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// Why a request is not sent again, whatever the policy's conditions say.
const (
	vetoBody   = "body cannot be sent again"
	vetoServer = "server says not to"
	vetoCustom = "Transport.Idempotent does not allow it"
	vetoNoKey  = " without a key" // behind the method
)

// NotRepeated says why the request was not sent again although its failure was worth that, such as "POST without a key" or
// "body cannot be sent again". It is empty where that was for the policy to decide. The log line of a failure that is not
// retried has it too (retry.WithLogger, at Debug).
func (f *Failure) NotRepeated() string {
	if f == nil {
		return ""
	}
	return f.veto
}

// forbid is the outcome of a failure after which the request must not be sent again; body says that its body cannot be.
// Where the failure itself or the end of the call is reason enough, no other is named.
func (f *flight) forbid(o *throttle.Outcome, fail *Failure, body bool) {
	o.Decided, o.Class = throttle.No, f.classOf(fail)
	switch {
	case o.Class == throttle.Unset, o.Class == throttle.Canceled, fail.verdict == condition.Stop:
	case body:
		fail.veto = vetoBody
	case f.t.Idempotent != nil:
		fail.veto = vetoCustom
	default:
		fail.veto = f.request.Method + vetoNoKey
		if f.request.Method == "" {
			fail.veto = http.MethodGet + vetoNoKey
		}
	}
}
