package theme

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// dark is whether the terminal's background is taken to be dark.
var dark = darkBackground(os.Getenv)

func init() {
	lipgloss.SetHasDarkBackground(dark)
}

// darkBackground decides without asking the terminal: BATON_THEME, then
// COLORFGBG ("15;0": the last number is the background), then dark.
func darkBackground(getenv func(string) string) bool {
	switch getenv("BATON_THEME") {
	case Light:
		return false
	case Dark:
		return true
	}
	v := getenv("COLORFGBG")
	if i := strings.LastIndexByte(v, ';'); i >= 0 {
		switch v[i+1:] {
		case "7", "9", "10", "11", "12", "13", "14", "15":
			return false
		}
	}
	return true
}

// DepthOf is how many colours the terminal behind w shows, by its environment
// (TERM, COLORTERM, NO_COLOR). A terminal without colours still gets bold and
// reverse, except a dumb one.
func DepthOf(w io.Writer) Depth {
	if os.Getenv("TERM") == "dumb" {
		return Plain
	}
	switch lipgloss.NewRenderer(w).ColorProfile().Name() {
	case "TrueColor":
		return True
	case "ANSI256":
		return Ansi256
	case "ANSI":
		return Ansi16
	}
	return Mono
}
