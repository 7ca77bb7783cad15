package retrysim

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// What random numbers are for. Each purpose has streams of its own, so that one more draw for one of them changes no other.
const (
	forArrivals = iota + 1
	forCall
	forJitter
	forClient
	forTrial
	forLayer
)

// stream is a sequence of random numbers. The same seeds give the same numbers on every platform.
type stream struct{ pcg rand.PCG }

// newStream makes the stream of one purpose, one index and one seed.
func newStream(seed, purpose, index uint64) (s stream) {
	s.seed(seed, purpose, index)
	return s
}

func (s *stream) seed(seed, purpose, index uint64) {
	high := scramble(seed + scramble(purpose))
	s.pcg.Seed(high, scramble(high^scramble(index+1)))
}

// scramble spreads seeds that lie close together over all 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
func scramble(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// float draws from [0, 1).
func (s *stream) float() float64 { return float64(s.pcg.Uint64()>>11) * 0x1p-53 }

// below draws from 0 … n-1.
func (s *stream) below(n int) int {
	high, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(high)
}

// exponential draws from the exponential distribution of mean 1, by inversion.
func (s *stream) exponential() float64 { return -logarithm(1 - s.float()) }

// normal draws from the standard normal distribution, by Marsaglia's polar method.
func (s *stream) normal() float64 {
	for {
		x, y := 2*s.float()-1, 2*s.float()-1
		if r := float64(x*x) + float64(y*y); r > 0 && r < 1 {
			return x * math.Sqrt(-2*logarithm(r)/r)
		}
	}
}

// The functions below stand in for math.Log and math.Exp, whose last bit is not the same on all platforms: some have them in
// assembly, and a compiler may fuse a multiplication with an addition. An explicit conversion forbids the latter.

func mulAdd(a, b, c float64) float64 { return float64(a*b) + c }

const (
	ln2High = 0x1.62e42feep-1 // with zeros at its end, so that a multiple of it is exact
	ln2Low  = 0x1.a39ef35793c76p-33
)

// logarithm returns ln x for a positive, normal, finite x. With m·2ᵉ = x and m in [√½, √2), and s = (m-1)/(m+1), it is
// e·ln 2 + 2·artanh s.
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	e := int(b>>52) - 1022
	m := math.Float64frombits(b&(1<<52-1) | 1022<<52) // in [½, 1)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	z := s * s
	z2, z4 := z*z, float64(z*z)*float64(z*z)
	// artanh s / s = 1 + z/3 + z²/5 + …, in pairs, so that a processor can work on several at a time.
	low := mulAdd(z2, mulAdd(z, 1.0/9, 1.0/7), mulAdd(z, 1.0/5, 1.0/3))
	mid := mulAdd(z2, mulAdd(z, 1.0/17, 1.0/15), mulAdd(z, 1.0/13, 1.0/11))
	high := mulAdd(z2, mulAdd(z, 1.0/25, 1.0/23), mulAdd(z, 1.0/21, 1.0/19))
	tail := float64(2*s) * float64(z*mulAdd(z4, mulAdd(z4, high, mid), low))
	k := float64(e)
	return float64(k*ln2High) + (2*s + mulAdd(k, ln2Low, tail))
}

// exponent returns eˣ, 0 where that is too small for a float64 and +Inf where it is too large.
func exponent(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709:
		return math.Inf(1)
	case x < -700:
		return 0
	}
	k := math.Floor(mulAdd(x, 1/math.Ln2, 0.5))
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	sum := 1.0
	for n := 13; n > 0; n-- { // Taylor's series; |r| is below 0.35
		sum = mulAdd(sum, r/float64(n), 1)
	}
	return math.Ldexp(sum, int(k))
}
