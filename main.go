// Command baton drives two paid model vendors as one, and rehearses losing
// either.
package main

import (
	_ "embed"
	"os"

	"baton/cli"
)

//go:embed config.toml
var builtin []byte

func main() {
	os.Exit(cli.Main(builtin))
}
