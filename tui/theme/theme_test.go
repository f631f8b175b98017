package theme

import (
	"math"
	"testing"
)

func TestDarkBackground_IsDecidedWithoutTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name, baton, fgbg string
		want              bool
	}{
		{"nothing known", "", "", true},
		{"theme says light", "light", "15;0", false},
		{"theme says dark", "dark", "0;15", true},
		{"white ground", "", "0;15", false},
		{"black ground", "", "15;0", true},
		{"three fields", "", "0;default;15", false},
		{"nonsense", "", "x", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{"BATON_THEME": c.baton, "COLORFGBG": c.fgbg}
			if got := darkBackground(func(k string) string { return env[k] }); got != c.want {
				t.Errorf("dark = %v, want %v", got, c.want)
			}
		})
	}
}

func TestSGR_SpellsEveryDepth(t *testing.T) {
	c := shade{1, 2, 3, 204, 9}
	for _, x := range []struct {
		d    Depth
		want Style
	}{{True, "\x1b[1;38;2;1;2;3m"}, {Ansi256, "\x1b[1;38;5;204m"}, {Ansi16, "\x1b[1;91m"}} {
		if got := sgr(x.d, &c, nil, true); got != x.want {
			t.Errorf("depth %d: %q, want %q", x.d, got, x.want)
		}
	}
	if got := sgr(Ansi16, nil, &c, false); got != "\x1b[101m" {
		t.Errorf("ground: %q", got)
	}
}

// Text below 4.5 to 1 cannot be read by many; terminals' grounds are black or
// nearly so, or white. The formula is WCAG's.
func TestText_CanBeReadOnItsGround(t *testing.T) {
	linear := func(v float64) float64 {
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	luminance := func(r, g, b uint8) float64 {
		return 0.2126*linear(float64(r)/255) + 0.7152*linear(float64(g)/255) + 0.0722*linear(float64(b)/255)
	}
	cube := func(c uint8) (r, g, b uint8) {
		if c >= 232 {
			v := 8 + 10*(c-232)
			return v, v, v
		}
		step := func(n uint8) uint8 {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		c -= 16
		return step(c / 36), step(c / 6 % 6), step(c % 6)
	}
	for name, x := range map[string]struct {
		p      *palette
		ground uint8
	}{"dark": {&darkPalette, 0x1e}, "light": {&lightPalette, 0xff}} {
		behind := luminance(x.ground, x.ground, x.ground)
		for what, c := range map[string]shade{
			"dim": x.p.dim, "faint": x.p.faint, "accent": x.p.accent, "ok": x.p.ok, "warn": x.p.warn, "crit": x.p.crit, "note": x.p.note, "p90": x.p.p90, "p99": x.p.p99, "staged": x.p.staged,
		} {
			r, g, b := cube(c.c256)
			for depth, l := range map[string]float64{"24 bit": luminance(c.r, c.g, c.b), "256": luminance(r, g, b)} {
				if ratio := (max(l, behind) + 0.05) / (min(l, behind) + 0.05); ratio < 4.5 {
					t.Errorf("%s, %s at %s colours: %.1f to 1", name, what, depth, ratio)
				}
			}
		}
	}
}

func TestNew_WithoutColoursIsMonoAndPlainHasNoEscapes(t *testing.T) {
	if n := New(Dark, false, Mono).Name; n != MonoName {
		t.Errorf("a terminal without colours got the theme %q", n)
	}
	p := New(Auto, true, Plain)
	for _, s := range []Style{p.Strong, p.Faint, p.Crit, p.BadgeCrit, p.Staged} {
		if s != "" {
			t.Errorf("a plain theme has the escape %q", s)
		}
	}
}
