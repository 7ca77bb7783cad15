package retrygrpc

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// DefaultBufferBytes is the BufferBytes of a zero field, as in gRPC.
const DefaultBufferBytes = 256 << 10

// Interceptor retries calls. The zero Interceptor is ready for use, with the default policy. Set the fields before the first call,
// and do not change or copy it after that. It is then safe for concurrent use, and for any number of connections at once. A field
// that cannot be used makes every call fail with a *retry.ConfigError, whose code is INTERNAL.
type Interceptor struct {
	// Policy says how often and how long: attempts, waits, attempt timeout, told waits, throttles, observers. Nil: the default
	// policy. Its conditions see a *Failure for every failed attempt; what they leave open is decided by the table in docs/grpc.md.
	// What is not safe to repeat is not put to them. Results of the policy are not used, and a fallback cannot be. Its name gives
	// way to the method's, such as "pkg.Service/Method".
	Policy *retry.Policy
	// Methods is what differs for single methods: by "/pkg.Service/Method", or "/pkg.Service/" for all methods of a service. The
	// full name wins, and nothing is then taken from the service's entry.
	Methods map[string]Method
	// Codes says which failures are repeated, beside or instead of the defaults (Repeat). Entries of a Method win.
	Codes map[codes.Code]Repeat
	// Parser reads what the server says in its trailers. Nil: hint.GRPC(). hint.Standard() reads Retry-After of proxies too.
	Parser hint.Parser
	// Gate remembers the waits that servers ask for, and holds all calls with the same keys back until they are over: first
	// attempts too, and those of every Interceptor with the same Gate. It is asked after the throttles of the policy. Nil: none.
	Gate *throttle.Gate
	// Keys appends the keys in Gate of a method. It is called once for a method and remembered. Nil: one key, which is target and
	// method, such as "dns:///orders/pkg.Orders/Place".
	Keys func(target, method string, keys []throttle.Key) []throttle.Key
	// Budget makes the budget of a target, which the calls to it share. It is called once for each target, and again only if there
	// were a thousand others since the last call. A nil Budget of a target is none. Nil: that of the policy.
	// throttle.NewFailureBudget is gRPC's retryThrottling.
	Budget func(target string) throttle.Budget
	// BufferBytes is how much of the request messages of a client or bidirectional stream is kept, to be sent again. With the
	// message that does not fit any more, the running attempt is the last. grpc.MaxRetryRPCBufferSize of a call wins over it. 0:
	// DefaultBufferBytes; below 0: nothing is kept.
	BufferBytes int
	// Logger is for one warning: that gRPC itself retries too. Nil: slog.Default() at that time.
	Logger *slog.Logger

	err     error // of New's options
	methods recent[methodKey, *method]
	budgets recent[string, throttle.Budget]
	warned  recent[string, *atomic.Bool]
}

// Method is what differs for one method. Zero fields are as the Interceptor has them.
type Method struct {
	// Policy takes the place of the Interceptor's.
	Policy *retry.Policy
	// Idempotent says whether a request that the server may have seen can be sent again. Undecided: as the method's option
	// idempotency_level says.
	Idempotent throttle.Tri
	// Codes go before the Interceptor's.
	Codes map[codes.Code]Repeat
	// BufferBytes takes the place of the Interceptor's.
	BufferBytes int
}

// New returns an Interceptor with a policy. Options that cannot be used are the *retry.ConfigError of every call, and of Validate.
// For more than that set the fields of the result, or write an Interceptor.
func New(opts ...retry.Option) *Interceptor {
	i := new(Interceptor)
	if len(opts) == 1 {
		if p, ok := opts[0].(*retry.Policy); ok && p != nil {
			i.Policy = p
			return i
		}
	}
	i.Policy, i.err = retry.New(opts...)
	return i
}

// DialOptions returns all that a connection needs: both interceptors, chained behind those given before, and
// grpc.WithDisableRetry, because the attempts of gRPC's own retries would multiply with these. Interceptors given after them run
// once for each attempt, those before once for each call.
func (i *Interceptor) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(i.Unary),
		grpc.WithChainStreamInterceptor(i.Stream),
		grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(dialled{}),
	}
}

// Validate returns a *retry.ConfigError that names the first field which cannot be used; nil if there is none. Every call fails
// with the same error. Only the type of a fallback in a policy is not looked at before a call.
func (i *Interceptor) Validate() error {
	switch {
	case i == nil:
		return &retry.ConfigError{Option: "Interceptor", Problem: "must not be nil"}
	case i.err != nil:
		return i.err
	}
	if err := validCodes("Interceptor.Codes", i.Codes); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(i.Methods)) {
		m := i.Methods[name]
		service, _, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		switch {
		case !ok || service == "" || strings.Count(name, "/") != 2 || name[0] != '/':
			return &retry.ConfigError{Option: "Interceptor.Methods", Value: name, Problem: `must be of the form "/pkg.Service/Method", or "/pkg.Service/" for all methods`}
		case m.Idempotent > throttle.No:
			return &retry.ConfigError{Option: "Method.Idempotent", Value: m.Idempotent, Problem: "must be Undecided, Yes or No (" + name + ")"}
		}
		if err := validCodes("Method.Codes", m.Codes); err != nil {
			return err
		}
	}
	if err := validPart("Interceptor.Gate", i.Gate); err != nil {
		return err
	}
	return validPart("Interceptor.Parser", i.Parser)
}

func validCodes(field string, list map[codes.Code]Repeat) error {
	for _, c := range slices.Sorted(maps.Keys(list)) {
		switch {
		case c == codes.OK:
			return &retry.ConfigError{Option: field, Value: c, Problem: "is no failure"}
		case c >= codeCount:
			return &retry.ConfigError{Option: field, Value: c, Problem: "is no code of gRPC"}
		case list[c] > RepeatAlways:
			return &retry.ConfigError{Option: field, Value: list[c], Problem: "is no Repeat"}
		}
	}
	return nil
}

// validPart asks a field's value for what is wrong with it, if it can tell.
func validPart(field string, part any) error {
	v, ok := part.(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := v.Validate(); err != nil {
		return &retry.ConfigError{Option: field, Value: part, Problem: err.Error()}
	}
	return nil
}
