package roundtrip

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

// Question is one thing that is looked at.
type Question struct {
	// ID is short. Title says in a few words what the cells of its line are.
	ID, Title string
	// Asks says what is done, and what a library should do.
	Asks string
	// Real says that it takes a server, so that it is asked in real time. The others are asked in virtual time.
	Real bool

	ask func(c *Client) Finding
}

// Finding is what was found.
type Finding struct {
	// Seen fits into a cell.
	Seen string
	// Wrong says that it is not what the library should do.
	Wrong bool
}

// absent is the finding where a library does not have what the question is about.
var absent = Finding{Seen: "n/a"}

// found is a finding that is right if ok.
func found(ok bool, format string, args ...any) Finding {
	return Finding{fmt.Sprintf(format, args...), !ok}
}

// failed is the finding where a library cannot be set up, or a question not be asked.
func failed(err error) Finding {
	if errors.Is(err, ErrAbsent) {
		return absent
	}
	return found(false, "failed: %v", err)
}

// Ask puts the question to one library.
func (q *Question) Ask(t *testing.T, c *Client) (f Finding) {
	if q.Real {
		return q.ask(c)
	}
	synctest.Test(t, func(*testing.T) { f = q.ask(c) })
	return f
}

// Questions are all questions, in their order.
var Questions = []Question{
	{ID: "1K", Title: "connections, errors of 1 KiB", Real: true, ask: connections(1 << 10),
		Asks: "four attempts, each answered by 503 with a body of 1 KiB: one connection is enough"},
	{ID: "8K", Title: "connections, errors of 8 KiB", Real: true, ask: connections(8 << 10),
		Asks: "the same with 8 KiB"},
	{ID: "64K", Title: "connections, errors of 64 KiB", Real: true, ask: connections(64 << 10),
		Asks: "the same with 64 KiB, in chunks"},
	{ID: "slow", Title: "read of a slow error", ask: slowBody,
		Asks: "503 with a body of a byte a second for two hours: the next attempt comes within a second of when it was due"},
	{ID: "last", Title: "after the last 503", Real: true, ask: lastAnswer,
		Asks: "four attempts, four times 503: as without retries, the answer is returned, its body open, and no error"},
	{ID: "open", Title: "bodies never closed", ask: leftOpen,
		Asks: "the bodies of answers that the caller does not get are closed"},
	{ID: "body", Title: "closes of a sent body", ask: bodyCloses,
		Asks: "a PUT with a body, with and without GetBody, answered by 200 or by 503 and then 200: its body is closed once each time"},
	{ID: "same", Title: "the caller's request", ask: callersRequest,
		Asks: "the same four requests: a RoundTripper does not modify the request, that is its header, its body field or its length"},
	{ID: "POST", Title: "sends of a POST", Real: true, ask: sendsOfPost,
		Asks: "a POST without a key, answered by 502, or by a connection that breaks once the server has read it: it may have been done, and is not sent again"},
	{ID: "TLS", Title: "handshakes, unknown CA", Real: true, ask: handshakes,
		Asks: "a certificate of an unknown authority: no attempt can do better, so there is one handshake"},
	{ID: "date", Title: "reads of Retry-After", ask: retryAfter,
		Asks: "503 with a Retry-After of 30 s, as a number and as a date in each of the three forms: no attempt before that"},
	{ID: "huge", Title: "Retry-After of 317 years", ask: hugeRetryAfter,
		Asks: "503 with a Retry-After of 9999999999: no second attempt within the hour that the context has"},
	{ID: "late", Title: "a wait past the deadline", ask: waitPastDeadline,
		Asks: "the deadline is in 1 s, the wait would be 10 s: the call ends at once"},
	{ID: "stop", Title: "cancelled in a wait", ask: cancelledInWait,
		Asks: "cancelled in a wait of 10 s: the call ends at once, by an error that matches context.Canceled"},
	{ID: "read", Title: "body under a timeout", ask: bodyUnderTimeout,
		Asks: "an attempt timeout of 1 s, a header at once, a body that takes 2 s: the body can be read, the timeout being one for getting an answer"},
}
