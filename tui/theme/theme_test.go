package theme

import "testing"

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
