package errtree_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	node   struct{ name string } // panics if it is a nil pointer
	nilFn  func()
	opaque struct{ error }
	tree   []error // its own inner node
	table  map[string]error
	ends   struct{}
)

func (n *node) Error() string   { return n.name }
func (n *node) Unwrap() error   { return errors.New("below " + n.name) }
func (f nilFn) Error() string   { f(); return "" }
func (f nilFn) Unwrap() []error { f(); return nil }
func (o opaque) Unwrap() error  { return o.error }
func (o opaque) OpaqueRetry()   {}
func (o opaque) Error() string  { return "opaque" }
func (t tree) Error() string    { return "tree" }
func (t tree) Unwrap() []error  { return t }
func (t table) Error() string   { return "table" }
func (e ends) Error() string    { return "ends" }
func (e ends) Unwrap() error    { return nil }

var (
	a, b, c  = errors.New("a"), errors.New("b"), errors.New("c")
	nilNode  = error((*node)(nil))
	nilFunc  = error(nilFn(nil))
	nilTable = error(table(nil))
)

func texts(err error) (seen []string) {
	errtree.Walk(err, func(e error) bool { seen = append(seen, e.Error()); return true })
	return seen
}

func TestWalkOrder(t *testing.T) {
	for name, x := range map[string]struct {
		err  error
		want []string
	}{
		"nil":                {nil, nil},
		"one":                {a, []string{"a"}},
		"wrapped":            {fmt.Errorf("x: %w", a), []string{"x: a", "a"}},
		"two wrapped":        {fmt.Errorf("%w+%w", a, b), []string{"a+b", "a", "b"}},
		"depth first":        {tree{fmt.Errorf("x: %w", a), b, tree{c}}, []string{"tree", "x: a", "a", "b", "tree", "c"}},
		"nil elements":       {tree{nil, a, nil}, []string{"tree", "a"}},
		"no elements":        {tree{}, []string{"tree"}},
		"nil list":           {tree(nil), []string{"tree"}},
		"unwraps to nil":     {ends{}, []string{"ends"}},
		"opaque":             {opaque{a}, []string{"opaque"}},
		"opaque in between":  {tree{opaque{a}, b}, []string{"tree", "opaque", "b"}},
		"nil pointer":        {nilNode, nil},
		"nil function":       {nilFunc, nil},
		"nil map is a value": {nilTable, []string{"table"}},
		"nil ones below":     {tree{nilNode, nilFunc, tree{nilNode}, a}, []string{"tree", "tree", "a"}},
		"pointer":            {&node{"n"}, []string{"n", "below n"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, x.want, texts(x.err)) })
	}
}

func TestWalkStops(t *testing.T) {
	err := tree{fmt.Errorf("x: %w", a), tree{b}, opaque{c}, c}
	all := texts(err)
	for i := range all {
		var seen []string
		done := errtree.Walk(err, func(e error) bool { seen = append(seen, e.Error()); return len(seen) <= i })
		require.False(t, done)
		require.Equal(t, all[:i+1], seen)
	}
	assert.True(t, errtree.Walk(err, func(error) bool { return true }))
	assert.True(t, errtree.Walk(nil, func(error) bool { return false }))
	assert.True(t, errtree.Walk(nilNode, func(error) bool { return false }), "nobody was asked")
}

func TestWalkIsIterativeDownAChain(t *testing.T) {
	err := a
	for range 100_000 {
		err = opaqueLess{err}
	}
	n := 0
	errtree.Walk(err, func(error) bool { n++; return true })
	assert.Equal(t, 100_001, n)
}

type opaqueLess struct{ error }

func (o opaqueLess) Unwrap() error { return o.error }

func TestWalkDoesNotAllocate(t *testing.T) {
	err := fmt.Errorf("x: %w", errors.Join(a, nilNode, opaque{b}, fmt.Errorf("y: %w", c)))
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		n, found := 0, false
		errtree.Walk(err, func(e error) bool { n++; found = e == c; return !found })
		if !found || n != 6 {
			t.Errorf("found %v after %d", found, n)
		}
	}))
}

func TestIsNil(t *testing.T) {
	var nothing any
	for _, v := range []any{nil, nothing, nilNode, nilFunc, (*int)(nil), (func())(nil)} {
		assert.True(t, errtree.IsNil(v), "%T", v)
	}
	for _, v := range []any{0, "", struct{}{}, new(int), func() {}, nilTable, tree(nil), (chan int)(nil), a} {
		assert.False(t, errtree.IsNil(v), "%T", v)
	}
}

// FuzzWalk builds a tree from a program and compares the walk with a plain recursion over what was built.
func FuzzWalk(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6}, uint8(3))
	f.Add([]byte{3, 3, 3, 0, 4, 1, 5, 2, 6}, uint8(200))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, program []byte, stop uint8) {
		if len(program) > 200 {
			program = program[:200]
		}
		var want []string
		err, _ := grow(program, 0, &want)
		require.Equal(t, want, texts(err))
		if int(stop) < len(want) {
			n := 0
			require.False(t, errtree.Walk(err, func(error) bool { n++; return n <= int(stop) }))
			require.Equal(t, int(stop)+1, n)
		}
	})
}

// grow builds the error that program describes, returns what it did not use, and adds to want what is to be visited.
func grow(program []byte, depth int, want *[]string) (error, []byte) {
	if len(program) == 0 || depth > 50 {
		return nil, nil
	}
	op, rest := program[0], program[1:]
	switch op % 7 {
	case 0:
		return nil, rest
	case 1:
		return nilNode, rest
	case 2:
		*want = append(*want, "a")
		return a, rest
	case 3:
		*want = append(*want, "tree")
		var t tree
		for range op/7%4 + 1 {
			var e error
			e, rest = grow(rest, depth+1, want)
			t = append(t, e)
		}
		return t, rest
	case 4:
		var hidden []string
		e, rest := grow(rest, depth+1, &hidden)
		*want = append(*want, "opaque")
		return opaque{e}, rest
	case 5:
		*want = append(*want, "wrap")
		e, rest := grow(rest, depth+1, want)
		return wrap{e}, rest
	}
	return nilFunc, rest
}

type wrap struct{ below error }

func (wrap) Error() string   { return "wrap" }
func (w wrap) Unwrap() error { return w.below }
