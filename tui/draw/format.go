package draw

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const unknown = "--"

// Millis writes milliseconds in at most five cells: 471ms, 1.84s, 12.4s, 124s.
func Millis(v *float64) string {
	if v == nil {
		return unknown
	}
	return millis(*v)
}

func millis(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
		return unknown
	case v < 999.5:
		return strconv.Itoa(int(v+0.5)) + "ms"
	case v < 9995:
		return strconv.FormatFloat(v/1000, 'f', 2, 64) + "s"
	case v < 99950:
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + "s"
	case v < 9999500:
		return strconv.Itoa(int(v/1000+0.5)) + "s"
	}
	return ">2h"
}

// Percent writes a rate of 0-1 as a percentage with one decimal.
func Percent(rate *float64) string {
	if rate == nil || math.IsNaN(*rate) {
		return unknown
	}
	v := *rate * 100
	switch {
	case v > 99.95 || v < 0:
		return strconv.Itoa(int(math.Round(v))) + "%"
	case v > 0 && v < 0.05:
		return "<0.1%"
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + "%"
}

// Whole writes a percentage of 0-100 without decimals.
func Whole(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return strconv.Itoa(int(math.Round(v))) + "%"
}

// Rate writes a number per second: 0.4, 39.0, 1,800.
func Rate(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return unknown
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Count(int64(math.Round(v)))
}

// Count writes a number with commas.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	if n < 1000 && n > -1000 {
		return s
	}
	neg := ""
	if s[0] == '-' {
		neg, s = "-", s[1:]
	}
	var b strings.Builder
	b.WriteString(neg)
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// short writes a count in at most four cells: 812, 1.8k, 18k.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 9950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 999500:
		return strconv.Itoa((n+500)/1000) + "k"
	}
	return strconv.Itoa((n+500000)/1000000) + "M"
}

// Clock writes the seconds of a clock that runs as m:ss.t, cut and not rounded:
// it never runs ahead.
func Clock(s float64) string { return minSecTenths(tenthsOf(s, 0)) }

// Took writes the seconds that something took as m:ss.t, rounded half up: a
// result is not cut in anybody's favour.
func Took(s float64) string { return minSecTenths(tenthsOf(s, 0.5)) }

// tenths writes the seconds that something took as s.t, rounded as Took does.
func tenths(s float64) string {
	t := tenthsOf(s, 0.5)
	return strconv.FormatInt(t/10, 10) + "." + strconv.FormatInt(t%10, 10)
}

func tenthsOf(s, up float64) int64 {
	if !(s > 0) {
		s = 0
	}
	return int64(min(s, 1e9)*10 + up + 1e-6)
}

func minSecTenths(t int64) string {
	return MinSec(float64(t/10)) + "." + strconv.FormatInt(t%10, 10)
}

// MinSec writes seconds as m:ss, or h:mm:ss from one hour on.
func MinSec(s float64) string {
	if math.IsNaN(s) || s < 0 {
		s = 0
	}
	n := int64(min(s, 1e9))
	b := make([]byte, 0, 12)
	two := func(v int64) { b = append(b, byte('0'+v/10), byte('0'+v%10)) }
	if n >= 3600 {
		b = strconv.AppendInt(b, n/3600, 10)
		b = append(b, ':')
		two(n / 60 % 60)
	} else {
		b = strconv.AppendInt(b, n/60, 10)
	}
	b = append(b, ':')
	two(n % 60)
	return string(b)
}

// since is how long ago t was at now, as m:ss.
func since(t, now time.Time) string { return MinSec(now.Sub(t).Seconds()) }
