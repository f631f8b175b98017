// Package theme holds the console's colours and glyphs.
//
// Use: [New] makes a [Theme] from a name, a [Depth] and whether only ASCII may
// be drawn; renderers paint with its styles, which are SGR prefixes ended by
// [Off], and draw with its [Glyphs].
//
// The package imports lipgloss and nothing else from outside, because its
// init has to run before bubbletea's: that one asks the terminal for its
// background and waits up to five seconds where nobody answers. Initialisation
// goes by import path among packages whose imports are ready, and
// baton/tui/theme sorts before github.com/charmbracelet/bubbletea.
//
// It is no layout and knows nothing of vendors.
package theme
