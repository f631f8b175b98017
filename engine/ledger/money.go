package ledger

import (
	"math"
	"math/bits"
)

const (
	micro = 1_000_000 // micro-units in one unit of currency; pico-units in a micro-unit
	// MaxPico is the largest cost of one attempt or row, 9.2 million units.
	MaxPico = math.MaxInt64
)

// Money is a sum of money, exactly: whole micro-units and the pico-units that are
// left, 0 to 999,999. The zero value is no money.
type Money struct{ Micro, Pico int64 }

// Pico makes Money of pico-units.
func Pico(p int64) Money { return Money{}.Plus(Money{Pico: p}) }

// Plus returns m + o.
func (m Money) Plus(o Money) Money {
	m.Micro += o.Micro
	m.Pico += o.Pico % micro
	m.Micro += o.Pico / micro
	if m.Pico >= micro {
		m.Pico -= micro
		m.Micro++
	}
	if m.Pico < 0 {
		m.Pico += micro
		m.Micro--
	}
	return m
}

// Minus returns m - o.
func (m Money) Minus(o Money) Money { return m.Plus(Money{Micro: -o.Micro, Pico: -o.Pico}) }

// Float is the sum in units of the currency.
func (m Money) Float() float64 { return float64(m.Micro)/micro + float64(m.Pico)/(micro*micro) }

// Zero says whether it is nothing.
func (m Money) Zero() bool { return m == Money{} }

// times is tokens at a price in micro-units per million of them, in pico-units:
// n/10^6 x p/10^6 units are n x p x 10^-12. What is larger than MaxPico is that.
func times(n int, p int64) int64 {
	if n <= 0 || p <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(p))
	if hi > 0 || lo > MaxPico {
		return MaxPico
	}
	return int64(lo)
}

func plus(a, b int64) int64 {
	if a > MaxPico-b {
		return MaxPico
	}
	return a + b
}

// perMillion is a price of the configuration in whole micro-units per million tokens.
func perMillion(price float64) int64 {
	v := math.Round(price * micro)
	if !(v < math.MaxInt64) { // also of what is no number
		return math.MaxInt64
	}
	return int64(max(v, 0))
}
