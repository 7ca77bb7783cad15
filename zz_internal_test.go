package retry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

var zzErr = errors.New("x")

func BenchmarkZZ(b *testing.B) {
	b.Run("traits", func(b *testing.B) {
		for b.Loop() {
			traitsOf(zzErr)
		}
	})
	b.Run("signal", func(b *testing.B) {
		for b.Loop() {
			throttle.FromError(zzErr)
		}
	})
	b.Run("hopeless", func(b *testing.B) {
		for b.Loop() {
			hopeless.Check(zzErr)
		}
	})
	b.Run("flow", func(b *testing.B) {
		p := MustNew()
		ctx := context.Background()
		now := time.Now()
		o := throttle.Outcome{Err: zzErr}
		for b.Loop() {
			f := p.Begin(now, time.Time{}, nil)
			f.Next(ctx, now)
			f.Report(ctx, now, o)
			f.Next(ctx, now)
			f.Report(ctx, now, o)
			f.Next(ctx, now)
			f.Report(ctx, now, o)
			f.Next(ctx, now)
		}
	})
	b.Run("classify", func(b *testing.B) {
		p := MustNew()
		ctx := context.Background()
		now := time.Now()
		f := p.Begin(now, time.Time{}, nil)
		for b.Loop() {
			o := throttle.Outcome{Err: zzErr}
			classify(ctx, &p.config, &o, new(verdict))
			_ = f
		}
	})
}
