package strategy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func levels() map[string]leveled {
	return map[string]leveled{
		"LILD": &strategy.LILD{Max: time.Minute}, "LIMD": &strategy.LIMD{Max: time.Minute},
		"MILD": &strategy.MILD{Max: time.Minute}, "MIMD": &strategy.MIMD{Max: time.Minute},
	}
}

func TestLevelsDoNotAllocate(t *testing.T) {
	s := strategy.State{Number: 5, Began: time.Now(), Now: time.Now(), Limit: time.Hour}
	for name, l := range levels() {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			l.Next(s)
			l.Failed(s)
			l.Succeed()
			l.Level()
		}), name)
	}
}

func TestPacerDoesNotAllocate(t *testing.T) {
	at := time.Now()
	for name, s := range map[string]strategy.Strategy{
		"LIMD": &strategy.LIMD{}, "Exponential": strategy.Exponential{Max: time.Minute}, "FullJitter": strategy.FullJitter{Max: time.Minute}, "nil": nil,
	} {
		p := &strategy.Pacer{Strategy: s, JitterFactor: 0.1, MaxDuration: time.Hour, TimeoutShare: 0.5, ConsiderActualDelay: true}
		require.Zero(t, testing.AllocsPerRun(100, func() {
			p.Failure(at)
			p.Success(at)
			p.Timeout()
		}), name)
	}
}

func BenchmarkLevel(b *testing.B) {
	for name, l := range levels() {
		s := strategy.State{Number: 5, Limit: time.Hour, Began: time.Now(), Now: time.Now().Add(time.Second)}
		b.Run(name+"/Next", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Next(s)
			}
		})
		// Each failure comes after the last increase, so it counts.
		b.Run(name+"/Failed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Began, s.Now = s.Began.Add(2*time.Second), s.Now.Add(2*time.Second)
				l.Failed(s)
			}
		})
		b.Run(name+"/Succeed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Succeed()
			}
		})
		b.Run(name+"/Next/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					l.Next(s)
				}
			})
		})
	}
}

func BenchmarkPacer(b *testing.B) {
	p, at := &strategy.Pacer{Strategy: &strategy.LIMD{}, JitterFactor: 0.1}, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		p.Failure(at)
	}
}
