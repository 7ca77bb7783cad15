package retryhttp

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/throttle"
)

// classify judges an attempt. What it decides is final and holds against any condition: that a request must not be sent
// again, for safety or because it makes no sense. Whether one that may be sent again should be is left to the policy's
// conditions, and after them to the Failure's verdict.
func (f *flight) classify(err error) throttle.Outcome {
	if f.settled != nil {
		return *f.settled
	}
	if err == nil && f.response != nil && f.expired() {
		// The timeout passed while Base returned: the body would break off.
		f.t.shut(f.response.Body)
		f.response, err = nil, context.Cause(f.attempt)
	}
	switch {
	case f.unready:
		return throttle.Outcome{Err: err, Decided: throttle.No, Class: throttle.Skipped}
	case err != nil:
		return f.failed(err)
	case f.response == nil:
		return throttle.Outcome{Err: errNoResponse, Decided: throttle.No}
	case !f.failing():
		return throttle.Outcome{}
	}
	return f.answered()
}

// failed judges an attempt without an answer.
func (f *flight) failed(err error) throttle.Outcome {
	http2 := http2EndOf(err)
	fail := &Failure{Request: f.request, Sent: f.sent(err) && !http2.undone, Err: err}
	f.failure = fail
	o := throttle.Outcome{Err: fail}
	f.unknown = f.unknown || fail.Sent
	hopeless := hopeless(f.request, err) || http2.hopeless()
	switch {
	case canceled(f.request), hopeless && (!f.repeatable() || fail.Sent && !f.safe):
		o.Decided = throttle.No
	case hopeless:
		fail.verdict = condition.Stop // but a condition may know better
	case !f.repeatable():
		f.forbid(&o, fail, !fail.Sent || f.safe)
		if (!fail.Sent || f.safe) && o.Class != throttle.Unset && o.Class != throttle.Canceled {
			fail.Err = &bodyError{err} // nothing else speaks against another attempt
		}
	case fail.Sent && !f.safe:
		f.forbid(&o, fail, false)
	case http2.code == enhanceYourCalm:
		fail.verdict = condition.Throttled
	case unknownHost(err):
		fail.verdict = condition.Stop
	}
	return o
}

// answered judges an answer that is a failure.
func (f *flight) answered() throttle.Outcome {
	answer, t := f.response, f.t
	code := answer.StatusCode
	fail := &Failure{Request: f.request, Response: answer, Sent: true}
	f.failure = fail
	// The time of day in a header is that of the clock the server lives by too.
	fail.signal, _ = t.parser().Parse(answer.Header, code, clock.Now(carry.From(f).Clock))
	s := &fail.signal
	o := throttle.Outcome{Err: fail, Signal: *s}
	repeat := t.repeat(code, s)
	if f.keyInUse(code) {
		repeat = RepeatAlways
	}
	f.unknown = f.unknown || repeat == RepeatIdempotent
	switch {
	case repeat == RepeatNever:
		fail.verdict = condition.Stop
	case turnedAway(code, s):
		fail.verdict = condition.Throttled
	default:
		fail.verdict = condition.Retry
	}
	switch {
	case s.Retry == throttle.No: // the executor takes it from the signal
		fail.veto = vetoServer
	case !f.repeatable():
		f.forbid(&o, fail, f.safe || repeat == RepeatAlways)
	case f.safe || f.hops == 0 && (s.Retry == throttle.Yes || repeat == RepeatAlways):
	case repeat == RepeatIdempotent || code >= 500 || f.hops > 0:
		f.forbid(&o, fail, false)
	}
	return o
}

// classOf is the class of a failure after which the request can't be sent again: for those who count failures it is one
// like any other. The end of the call's context is the executor's to class.
func (f *flight) classOf(fail *Failure) throttle.Class {
	code := fail.HTTPStatusCode()
	switch {
	case f.Err() != nil:
		return throttle.Unset
	case errors.Is(fail.Err, context.Canceled) && !f.expired():
		return throttle.Canceled
	case code == 0 && fail.Timeout():
		return throttle.Timeout
	case code == 0:
		return throttle.Transient
	case turnedAway(code, &fail.signal):
		return throttle.Throttled
	case code >= 500 && fail.verdict == condition.Retry, code == http.StatusRequestTimeout:
		return throttle.Transient
	}
	return throttle.Permanent
}

// sent reports whether the server may have seen the request of an attempt that failed with err.
func (f *flight) sent(err error) bool {
	if f.hops > 0 {
		return true // what led to the redirect was
	}
	if f.traced() {
		return f.probe.sent(f.attempt.Err() != nil)
	}
	return notSent.Check(err) != condition.Retry
}

// traced reports whether whoever made the attempt knows of traces. A *http.Transport does, but not all that may be
// registered with it for a scheme (RegisterProtocol).
func (f *flight) traced() bool {
	if f.probe.closely {
		return f.probe.asked.Load() || f.probe.connected.Load()
	}
	_, ok := f.t.base().(*http.Transport)
	return ok
}

var (
	notSent     = condition.NotSent()
	neverPasses = condition.Hopeless()
)

// hopeless reports whether no attempt can do better: certificates, a server that speaks another protocol, a request that
// net/http refuses to send.
func hopeless(r *http.Request, err error) bool {
	return r.URL == nil || neverPasses.Check(err) == condition.Stop
}

// unknownHost reports whether the name service has answered that there is no such host.
func unknownHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
