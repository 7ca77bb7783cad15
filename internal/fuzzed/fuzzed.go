// Package fuzzed lets fuzz targets try a fixed sequence of changed seeds, in an ordinary test run: the same inputs on every
// machine, so that a change fails only for what it does. The search at random is go test -fuzz.
//
//	func FuzzParse(tf *testing.F) {
//		f := fuzzed.New(tf)
//		f.Add("1s")
//		f.Fuzz(func(t *testing.T, text string) { … })
//	}
package fuzzed

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// Variable names the environment variable that says how many changed seeds each target tries. Not set: none.
const Variable = "RETRY_FUZZED"

// F is a *testing.F that remembers its seeds.
type F struct {
	*testing.F
	seeds [][]any
}

// New returns f as an F.
func New(f *testing.F) *F { return &F{F: f} }

// Add is testing.F.Add.
func (f *F) Add(args ...any) {
	f.Helper()
	f.seeds = append(f.seeds, args)
	f.F.Add(args...)
}

// Fuzz is testing.F.Fuzz, after the changed seeds have been added to the others.
func (f *F) Fuzz(target any) {
	f.Helper()
	n, err := 0, error(nil)
	if text := os.Getenv(Variable); text != "" {
		n, err = strconv.Atoi(text)
	}
	if err != nil || n < 0 {
		f.Fatalf("%s=%q: must be a number, 0 or more", Variable, os.Getenv(Variable))
	}
	if fuzzing := flag.Lookup("test.fuzz"); n > 0 && fuzzing != nil && fuzzing.Value.String() == "" {
		for args := range Changed(f.seeds, n) {
			f.F.Add(args...)
		}
		target = telling(target)
	}
	f.F.Fuzz(target)
}

// telling is a target that logs its input where it fails: go test names the input of an added seed by its number only.
func telling(target any) any {
	fn := reflect.ValueOf(target)
	return reflect.MakeFunc(fn.Type(), func(args []reflect.Value) []reflect.Value {
		t := args[0].Interface().(*testing.T)
		t.Cleanup(func() {
			if t.Failed() {
				for i, arg := range args[1:] {
					t.Logf("argument %d: %#v", i+1, arg.Interface())
				}
			}
		})
		return fn.Call(args)
	}).Interface()
}

// Changed yields n inputs, each a seed with one to eight changes. The same seeds give the same inputs; they are not modified.
func Changed(seeds [][]any, n int) func(yield func([]any) bool) {
	return func(yield func([]any) bool) {
		draw := rand.New(rand.NewPCG(1, 2))
		for range n {
			if len(seeds) == 0 {
				return
			}
			args := slices.Clone(seeds[draw.IntN(len(seeds))])
			if len(args) == 0 {
				return
			}
			for range 1 << draw.IntN(4) {
				i := draw.IntN(len(args))
				args[i] = change(draw, args[i], seeds[draw.IntN(len(seeds))][i])
			}
			if !yield(args) {
				return
			}
		}
	}
}

// change returns v changed in one place, or joined with other, which is the same argument of some seed.
func change(draw *rand.Rand, v, other any) any {
	switch v := v.(type) {
	case []byte:
		return changeBytes(draw, v, other.([]byte))
	case string:
		return string(changeBytes(draw, []byte(v), []byte(other.(string))))
	case bool:
		return !v
	}
	changed := reflect.New(reflect.TypeOf(v)).Elem()
	changed.Set(reflect.ValueOf(v))
	switch {
	case changed.CanInt():
		changed.SetInt(changeInteger(draw, changed.Int(), reflect.ValueOf(other).Int()))
	case changed.CanUint():
		changed.SetUint(uint64(changeInteger(draw, int64(changed.Uint()), int64(reflect.ValueOf(other).Uint()))))
	case changed.CanFloat():
		few := [...]float64{0, 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1 - 0x1p-53,
			draw.Float64(), -changed.Float(), changed.Float() * 2, math.Nextafter(changed.Float(), math.Inf(1)), reflect.ValueOf(other).Float()}
		changed.SetFloat(few[draw.IntN(len(few))])
	}
	return changed.Interface()
}

func changeInteger(draw *rand.Rand, v, other int64) int64 {
	few := [...]int64{0, 1, -1, math.MaxInt64, math.MinInt64, v + 1, v - 1, -v, v * 2, v / 2, v + other, v ^ 1<<draw.IntN(64), int64(draw.Uint64()),
		v + draw.Int64N(64) - 32, other}
	return few[draw.IntN(len(few))]
}

func changeBytes(draw *rand.Rand, v, other []byte) []byte {
	from := draw.IntN(len(v) + 1)
	to := min(from+1+draw.IntN(8), len(v))
	of := draw.IntN(len(other) + 1)
	random := make([]byte, 1+draw.IntN(4))
	for i := range random {
		random[i] = byte(draw.Uint32())
	}
	few := [...][]byte{
		slices.Concat(v[:from], v[to:]),                                                    // without a part
		slices.Concat(v[:to], v[from:to], v[to:]),                                          // with a part twice
		slices.Concat(v[:from], random, v[from:]),                                          // with something in between
		slices.Concat(v[:from], random, v[to:]),                                            // with something in place of a part
		slices.Concat(v[:from], other[of:]),                                                // going on as another
		slices.Concat(v[:from], v[from:to], other, v[to:]),                                 // with another in it
		slices.Concat(v[to:], v[:from]),                                                    // in another order
		slices.Concat(v, random[:1], other[:of]),                                           // longer
		slices.Concat(v[:from], []byte{"\x00\xff\x80\x7f09-+ ,;:"[draw.IntN(12)]}, v[to:]), // with an edge in place of a part
	}
	return few[draw.IntN(len(few))]
}
