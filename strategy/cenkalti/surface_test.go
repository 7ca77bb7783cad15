package cenkalti_test

import (
	"context"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// The types are v4's own: each of these lines compiles only if they are identical.
var (
	_ func(cenkalti.BackOff)                   = func(backoff.BackOff) {}
	_ func(cenkalti.BackOffContext)            = func(backoff.BackOffContext) {}
	_ func(cenkalti.ExponentialBackOff)        = func(backoff.ExponentialBackOff) {}
	_ func(cenkalti.ExponentialBackOffOpts)    = func(backoff.ExponentialBackOffOpts) {}
	_ func(cenkalti.ConstantBackOff)           = func(backoff.ConstantBackOff) {}
	_ func(cenkalti.ZeroBackOff)               = func(backoff.ZeroBackOff) {}
	_ func(cenkalti.StopBackOff)               = func(backoff.StopBackOff) {}
	_ func(cenkalti.Clock)                     = func(backoff.Clock) {}
	_ func(cenkalti.Timer)                     = func(backoff.Timer) {}
	_ func(cenkalti.Notify)                    = func(backoff.Notify) {}
	_ func(cenkalti.Operation)                 = func(backoff.Operation) {}
	_ func(cenkalti.OperationWithData[string]) = func(backoff.OperationWithData[string]) {}
	_ func(cenkalti.PermanentError)            = func(backoff.PermanentError) {}
)

func TestSameSignatures(t *testing.T) {
	for name, pair := range map[string][2]any{
		"NewConstantBackOff":           {backoff.NewConstantBackOff, cenkalti.NewConstantBackOff},
		"NewExponentialBackOff":        {backoff.NewExponentialBackOff, cenkalti.NewExponentialBackOff},
		"Permanent":                    {backoff.Permanent, cenkalti.Permanent},
		"Retry":                        {backoff.Retry, cenkalti.Retry},
		"RetryNotify":                  {backoff.RetryNotify, cenkalti.RetryNotify},
		"RetryNotifyWithData":          {backoff.RetryNotifyWithData[string], cenkalti.RetryNotifyWithData[string]},
		"RetryNotifyWithTimer":         {backoff.RetryNotifyWithTimer, cenkalti.RetryNotifyWithTimer},
		"RetryNotifyWithTimerAndData":  {backoff.RetryNotifyWithTimerAndData[int], cenkalti.RetryNotifyWithTimerAndData[int]},
		"RetryWithData":                {backoff.RetryWithData[error], cenkalti.RetryWithData[error]},
		"SystemClock":                  {backoff.SystemClock, cenkalti.SystemClock},
		"WithClockProvider":            {backoff.WithClockProvider, cenkalti.WithClockProvider},
		"WithContext":                  {backoff.WithContext, cenkalti.WithContext},
		"WithInitialInterval":          {backoff.WithInitialInterval, cenkalti.WithInitialInterval},
		"WithMaxElapsedTime":           {backoff.WithMaxElapsedTime, cenkalti.WithMaxElapsedTime},
		"WithMaxInterval":              {backoff.WithMaxInterval, cenkalti.WithMaxInterval},
		"WithMaxRetries":               {backoff.WithMaxRetries, cenkalti.WithMaxRetries},
		"WithMultiplier":               {backoff.WithMultiplier, cenkalti.WithMultiplier},
		"WithRandomizationFactor":      {backoff.WithRandomizationFactor, cenkalti.WithRandomizationFactor},
		"WithRetryStopDuration":        {backoff.WithRetryStopDuration, cenkalti.WithRetryStopDuration},
		"Stop, a time.Duration":        {backoff.Stop, cenkalti.Stop},
		"DefaultRandomizationFactor":   {backoff.DefaultRandomizationFactor, cenkalti.DefaultRandomizationFactor},
		"DefaultMultiplier, a float64": {backoff.DefaultMultiplier, cenkalti.DefaultMultiplier},
	} {
		require.Equal(t, reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1]), name)
	}
	for i, pair := range [][2]any{
		{backoff.Stop, cenkalti.Stop},
		{backoff.DefaultInitialInterval, cenkalti.DefaultInitialInterval},
		{backoff.DefaultRandomizationFactor, cenkalti.DefaultRandomizationFactor},
		{backoff.DefaultMultiplier, cenkalti.DefaultMultiplier},
		{backoff.DefaultMaxInterval, cenkalti.DefaultMaxInterval},
		{backoff.DefaultMaxElapsedTime, cenkalti.DefaultMaxElapsedTime},
		{backoff.SystemClock, cenkalti.SystemClock},
	} {
		require.Equal(t, pair[0], pair[1], "value %d", i)
	}
	// Ticker is the one type of its own, because of what its Stop promises.
	var _ func(backoff.BackOff) *cenkalti.Ticker = cenkalti.NewTicker
	var _ func(backoff.BackOff, backoff.Timer) *cenkalti.Ticker = cenkalti.NewTickerWithTimer
	var _ <-chan time.Time = cenkalti.Ticker{}.C
	_ = (*cenkalti.Ticker).Stop
}

// exported are the names that the files of a folder declare for all to use.
func exported(t *testing.T, dir string, files []string) map[string]bool {
	names := map[string]bool{}
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names[id.Name] = true
		}
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id)
						}
					}
				}
			}
		}
	}
	return names
}

func TestNothingIsMissing(t *testing.T) {
	theirs, err := build.Import("github.com/cenkalti/backoff/v4", ".", 0)
	require.NoError(t, err)
	ours, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	names := exported(t, theirs.Dir, theirs.GoFiles)
	require.Len(t, names, 41)
	mine := exported(t, ours.Dir, ours.GoFiles)
	for name := range names {
		require.True(t, mine[name], name)
		delete(mine, name)
	}
	require.Equal(t, map[string]bool{"Policy": true, "Condition": true}, mine, "beyond v4")
}

// TestEveryPromiseOfV4 holds that each of v4's own tests has a counterpart here, by its name.
func TestEveryPromiseOfV4(t *testing.T) {
	theirs, err := build.Import("github.com/cenkalti/backoff/v4", ".", 0)
	require.NoError(t, err)
	ours, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	here, tests := exported(t, ours.Dir, ours.XTestGoFiles), 0
	for name := range exported(t, theirs.Dir, theirs.TestGoFiles) {
		if name, is := strings.CutPrefix(name, "Test"); is && name != "Clock" { // that is a type
			tests++
			require.True(t, here["TestV4"+name], name)
		}
	}
	require.Equal(t, 20, tests)
}

func TestV4NewExponentialBackOff(t *testing.T) {
	b := cenkalti.NewExponentialBackOff(
		cenkalti.WithInitialInterval(1), cenkalti.WithRandomizationFactor(0.25), cenkalti.WithMultiplier(3), cenkalti.WithMaxInterval(9),
		cenkalti.WithMaxElapsedTime(7), cenkalti.WithRetryStopDuration(8), cenkalti.WithClockProvider(fixedClock{}),
	)
	want := backoff.NewExponentialBackOff()
	want.InitialInterval, want.RandomizationFactor, want.Multiplier, want.MaxInterval = 1, 0.25, 3, 9
	want.MaxElapsedTime, want.Stop, want.Clock = 7, 8, fixedClock{}
	want.Reset()
	require.Equal(t, want, b)

	require.Equal(t, backoff.NewConstantBackOff(5), cenkalti.NewConstantBackOff(5))
	require.Equal(t, backoff.WithMaxRetries(b, 3), cenkalti.WithMaxRetries(b, 3))
	require.Equal(t, backoff.WithContext(b, context.Background()), cenkalti.WithContext(b, context.Background()))
	require.Equal(t, backoff.Permanent(errDown), cenkalti.Permanent(errDown))
	require.NoError(t, cenkalti.Permanent(nil))
}

type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Unix(1e9, 0) }
