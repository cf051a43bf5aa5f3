// Svg turns what a terminal showed, as tmux captures it (capture-pane -e -p),
// into a picture.
//
//	tmux capture-pane -e -p | go run ./docs/svg -size 80x24 -title 'indirtui --demo' >docs/requests.svg
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "svg:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet("svg", flag.ContinueOnError)
	size := f.String("size", "80x24", "columns x rows of the screen; 0 rows are as many as there are")
	title := f.String("title", "indirtui", "what stands above the screen")
	light := f.Bool("light", false, "of a light terminal")
	if err := f.Parse(args); err != nil {
		return err
	}
	var columns, lines int
	if _, err := fmt.Sscanf(*size, "%dx%d", &columns, &lines); err != nil || columns < 1 || lines < 0 || columns > 1000 || lines > 1000 {
		return fmt.Errorf("size %q: want columns x rows, as in 80x24", *size)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	rows := read(string(text))
	if lines == 0 {
		lines = len(rows)
	}
	picture := draw(rows, columns, lines, *title)
	if *light {
		picture = lit.Replace(picture)
	}
	_, err = io.WriteString(out, picture)
	return err
}
