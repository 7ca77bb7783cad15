// Package hint reads what a server's answer says about trying again: Retry-After, rate limit fields, and what vendors send in
// their own fields and bodies.
//
//	resp, err := client.Do(req)
//	if err != nil {
//		return err
//	}
//	if resp.StatusCode >= 400 {
//		told, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, time.Now())
//		return told.Wrap(&StatusError{resp.StatusCode}) // the policy waits as long as the server asked for
//	}
//
// # Which one
//
//   - A server of any kind, or of several: [Standard].
//   - One that is known: its own, such as [GitHub], [OpenAI] or [AWS]. It reads less, and mistakes no number for another.
//   - Fields that none of them knows: [FieldParser]. In addition to others: [Parsers].
//   - Nothing in the header, but a Google API: [RetryInfo] reads the body.
//   - Only Retry-After, without the rest: [ParseRetryAfter].
//
// Package retryhttp does all this for an HTTP client.
package hint
