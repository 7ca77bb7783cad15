package benchmarks_test

import (
	"context"
	"testing"

	"github.com/seed-89b3229b/retry/benchmarks/roundtrip"
	"github.com/seed-89b3229b/retry/benchmarks/speed"
)

func Benchmark(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for _, c := range speed.Cases() {
		b.Run(c.Name(), func(b *testing.B) {
			call := c.Make(ctx, c.Row.Op())
			b.ReportAllocs()
			if c.Row.Goroutines > 1 {
				speed.Run(call, c.Row.Goroutines, b.N)
				return
			}
			for b.Loop() {
				_, _ = call()
			}
		})
	}
}

func BenchmarkHTTP(b *testing.B) {
	cases, err := roundtrip.Cases(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		b.Run(c.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = c.Call()
			}
		})
	}
}
