// Indirtui shows who answered a Puppet request, who was asked or not asked and
// why, and who decided that. See README.md.
package main

import (
	_ "earlier" // or Bubble Tea asks the terminal before main
	"os"

	"indirtui/termini"
	"indirtui/ui/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, termini.Specs(), termini.All()))
}
