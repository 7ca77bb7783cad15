// Package alibaba is the throttling control of Alibaba Cloud's SDKs: calls that the gateway would turn away wait on this
// side instead, together with all others that use up the same quota.
//
// The gateway counts an account's calls of each API, and all its calls. When a quota is used up it says in a header field
// of the answer how much of the quota's window is left, X-RateLimit-User-API for the one and X-RateLimit-User for the
// other. A Control keeps both as cool-downs in a throttle.Gate, under two keys, and makes a policy that heeds them:
//
//	var gate throttle.Gate // one per process
//
//	func describeInstances(ctx context.Context) (*Instances, error) {
//		control := alibaba.Control{
//			Gate: &gate, Account: accessKeyID,
//			Product: "Ecs", Version: "2014-05-26", Action: "DescribeInstances", Region: "cn-hangzhou",
//		}
//		return retry.Do(ctx, func(ctx context.Context) (*Instances, error) {
//			return send(ctx, control) // control.SetHeader(req.Header), and alibaba.ErrorFrom(resp, …) for a failure
//		}, control.Options()...)
//	}
//
// Options takes a few microseconds (BenchmarkOptions); where that matters, retry.New makes a policy of them once.
//
// # Decision
//
// After a failure, in this order: what the answer said is recorded, whatever becomes of the call. Not worth a retry
// (condition.Alibaba; a quota that is used up always is worth one): the call ends. No attempt left: it ends. The wait is
// the longest of the curve's draw, the account's cool-down and the API's; longer than MaxDelay: it ends with a
// *throttle.Error, and the cool-down stays. Before a first attempt both cool-downs are heeded in the same way.
//
// A cool-down ends the Slack (100 ms) after the window. A later observation replaces it, shorter or longer. A Remain of -1
// means no limit. An answer whose quota is used up and that says no time is repeated by the curve, and nothing is recorded.
//
// # Where no answer is visible
//
// The SDKs for Go hide the answer. What their errors carry is understood: GetCode and GetRetryAfter of darabonba-openapi's
// ThrottlingError, which a client returns whose DisableSDKError is set, and the field Code of the *tea.SDKError that it
// returns otherwise. The former says how long but not which quota it was, so only the API cools down. The latter says
// neither, and its retries follow the curve.
//
// To have both dimensions, give the client an HttpClient that looks at the answers on their way:
//
//	func (w watcher) Call(req *http.Request, transport *http.Transport) (*http.Response, error) {
//		control := w.control
//		control.Action = strings.Join(req.Header["x-acs-action"], "") // as the SDK spells it
//		control.SetRequest(req)
//		resp, err := (&http.Client{Transport: transport}).Do(req)
//		if err == nil {
//			now := time.Now()
//			signal, _ := hint.Alibaba().Parse(resp.Header, resp.StatusCode, now)
//			control.Observe(now, signal, nil)
//		}
//		return resp, err
//	}
//
// The SDK's own retries (RetryOptions, Autoretry) are best left off: attempts would multiply.
//
// # Other ways
//
// A hook Results.Classify that puts the Signal of hint.Alibaba into the Outcome of a successful attempt serves
// OnSuccess. For a failure the Signal belongs into the error, as ErrorFrom and Signal.Wrap put it: a Signal beside the
// error is recorded too, but whether a retry is worth it is read off the error.
//
// Without the executor: Gate.Wait(ctx, keys...) with both Keys before a call, Observe after it.
//
// # Differences from the SDK for Java
//
// Cool-downs count down, and end for all; they are kept for the account and the API apart, per Gate and not per process,
// and only for those who asked for it; what the last attempt was told counts; an old answer never stands for a new
// failure; the curve keeps MaxDelay; those who waited are released one after another; a malformed header is no header.
// Source: aliyun-java-sdk-core 4.6.0 and later (RetryPolicy, ThrottlingPool), Alibaba Cloud's "Advanced backoff mechanism
// based on the throttling policy".
package alibaba
