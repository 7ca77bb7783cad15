// Package sample has one of everything that a package can export.
package sample

import (
	"context"
	"io"
	"time"
)

type Level uint8

const (
	Low Level = iota
	Middle
	High
	hidden

	Name          = "a \"name\""
	Wait          = 3 * time.Second
	Fraction      = 0.25
	Last     rune = 'z'
)

var (
	ErrSome  error = some{}
	Inferred       = map[string][]time.Duration{}
	private        = hidden
)

type some struct{}

func (some) Error() string { return "some" }

func Plain(ctx context.Context, names ...string) (n int, err error) { return int(private), nil }

func Generic[K comparable, V any](m map[K]V, f func(K, V) bool) []V { return nil }

func unexported() {}

func (l Level) String() string { return "level" }

type Options struct {
	Base, Max time.Duration `json:"base"`
	Hook      func(context.Context) error
	inner     int
	io.Reader
}

type Bare struct{ A, B int }

type base struct{}

func (base) ByValue()     {}
func (*base) ByPointer()  {}
func (*base) unexported() {}

// Promoted has its methods from a field that cannot be named.
type Promoted struct{ base }

type PromotedPointer struct{ *base }

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

func (p Pair[A, B]) Swap(other Pair[A, B]) B  { return p.Value }
func (p *Pair[K, _]) Set(k K)                 { p.Key = k }
func (p Pair[K, V]) hidden()                  {}
func (o *Options) Apply(f func(*Options)) any { return nil }

type Sealed interface {
	io.Closer
	Do(n int) error
	sealed()
}

type Number interface{ ~int | ~float64 }

type Func func(d time.Duration) (time.Duration, bool)

type Other = Options

type Both[T any] = Pair[string, T]

type Chan <-chan struct{}
