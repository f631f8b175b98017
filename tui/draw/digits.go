package draw

import (
	"strings"

	"baton/tui/theme"
)

// font is the clock's digits on five rows, one bit a cell.
var font = map[byte][5]string{
	'0': {"#####", "#   #", "#   #", "#   #", "#####"},
	'1': {"  #  ", " ##  ", "  #  ", "  #  ", " ### "},
	'2': {"#####", "    #", "#####", "#    ", "#####"},
	'3': {"#####", "    #", " ####", "    #", "#####"},
	'4': {"#   #", "#   #", "#####", "    #", "    #"},
	'5': {"#####", "#    ", "#####", "    #", "#####"},
	'6': {"#####", "#    ", "#####", "#   #", "#####"},
	'7': {"#####", "    #", "   # ", "  #  ", "  #  "},
	'8': {"#####", "#   #", "#####", "#   #", "#####"},
	'9': {"#####", "#   #", "#####", "    #", "#####"},
	':': {" ", "#", " ", "#", " "},
	'.': {" ", " ", " ", " ", "#"},
}

// halves are digits on three rows of half blocks.
var halves = map[byte][3]string{
	'0': {"█▀█", "█ █", "▀▀▀"}, '1': {"▀█ ", " █ ", "▀▀▀"}, '2': {"▀▀█", "█▀▀", "▀▀▀"}, '3': {"▀▀█", " ▀█", "▀▀▀"}, '4': {"█ █", "▀▀█", "  ▀"},
	'5': {"█▀▀", "▀▀█", "▀▀▀"}, '6': {"█▀▀", "█▀█", "▀▀▀"}, '7': {"▀▀█", "  █", "  ▀"}, '8': {"█▀█", "█▀█", "▀▀▀"}, '9': {"█▀█", "▀▀█", "▀▀▀"},
	':': {"▄", "▄", " "}, '.': {" ", " ", "▀"},
}

// segments are the same without blocks, as on a calculator.
var segments = map[byte][3]string{
	'0': {" _ ", "| |", "|_|"}, '1': {"   ", "  |", "  |"}, '2': {" _ ", " _|", "|_ "}, '3': {" _ ", " _|", " _|"}, '4': {"   ", "|_|", "  |"},
	'5': {" _ ", "|_ ", " _|"}, '6': {" _ ", "|_ ", "|_|"}, '7': {" _ ", "  |", "  |"}, '8': {" _ ", "|_|", "|_|"}, '9': {" _ ", "|_|", " _|"},
	':': {" ", ".", "."}, '.': {" ", " ", "."},
}

// bigWidth is how wide s is in big digits, each cell sx wide.
func bigWidth(s string, sx int) int {
	n := 0
	for i := range len(s) {
		n += (len(font[s[i]][0]) + 1) * sx
	}
	return max(0, n-sx)
}

// big writes s (digits, colon, dot) on 5 x sy rows; each cell of the font is
// sx wide.
func big(s string, sx, sy int, st theme.Style, k Look) []string {
	w := bigWidth(s, sx)
	out := make([]string, 0, 5*sy)
	for y := range 5 {
		r := NewRow(w, k)
		for i := range len(s) {
			if i > 0 {
				r.Fill("", " ", sx)
			}
			for _, c := range font[s[i]][y] {
				if c == '#' {
					r.Fill(st, k.Full, sx)
				} else {
					r.Fill("", " ", sx)
				}
			}
		}
		line := r.String()
		for range sy {
			out = append(out, line)
		}
	}
	return out
}

// small writes s on three rows and gives their width.
func small(s string, st theme.Style, k Look) ([]string, int) {
	set := halves
	if k.ASCII {
		set = segments
	}
	var rows [3]strings.Builder
	w := 0
	for i := range len(s) {
		d := set[s[i]]
		for y := range d {
			if i > 0 {
				rows[y].WriteByte(' ')
			}
			rows[y].WriteString(d[y])
		}
		w += Width(d[0])
		if i > 0 {
			w++
		}
	}
	out := make([]string, 3)
	for y := range rows {
		out[y] = NewRow(w, k).Add(st, rows[y].String()).String()
	}
	return out, w
}
