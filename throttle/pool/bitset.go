package pool

import (
	"math/bits"
)

// bitset is a set of small numbers, for those of a list that have something in common: going through it takes a step for
// every 64 of the list.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

func (b *bitset) set(i int) {
	if missing := i>>6 + 1 - len(*b); missing > 0 {
		*b = append(*b, make(bitset, missing)...)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b bitset) clear(i int) {
	if i>>6 < len(b) {
		b[i>>6] &^= 1 << (i & 63)
	}
}

// from returns the first member that is not below i, else the first one; -1 if there is none.
func (b bitset) from(i int) int {
	if i>>6 < len(b) {
		if found := b.first(i>>6, b[i>>6]&(^uint64(0)<<(i&63))); found >= 0 {
			return found
		}
	}
	if len(b) == 0 {
		return -1
	}
	return b.first(0, b[0])
}

// first returns the first member in a word, of which only some may be wanted, or in those after it.
func (b bitset) first(word int, wanted uint64) int {
	for wanted == 0 {
		if word++; word == len(b) {
			return -1
		}
		wanted = b[word]
	}
	return word<<6 + bits.TrailingZeros64(wanted)
}

func (b bitset) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// nth returns the member that has n members before it; there must be one.
func (b bitset) nth(n int) int {
	word := 0
	for ; n >= bits.OnesCount64(b[word]); word++ {
		n -= bits.OnesCount64(b[word])
	}
	rest := b[word]
	for range n {
		rest &= rest - 1
	}
	return word<<6 + bits.TrailingZeros64(rest)
}

// drop takes i out of the list: those after it move up by one.
func (b bitset) drop(i int) {
	for k := i >> 6; k < len(b); k++ {
		low := uint64(1)<<(i&63) - 1
		if k > i>>6 {
			low = 0
		}
		b[k] = b[k]&low | b[k]>>1&^low
		if k+1 < len(b) {
			b[k] |= b[k+1] << 63
		}
	}
}
