package main

import (
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

// A style is how a cell looks. Colours are CSS colours; "" is the default.
type style struct {
	fore, back                 string
	bold, faint, italic        bool
	underline, strike, reverse bool
}

// A cell is one place on the screen.
type cell struct {
	text  string // one character with what combines with it; "" is empty, or the right half of a wide one
	wide  bool
	style style
}

// palette is the sixteen colours of the pictures.
var palette = [16]string{
	"#3b4252", "#f07178", "#a5d6a7", "#ffcb6b", "#82aaff", "#d7a1ff", "#7fdbe6", "#d8dee9",
	"#8a94a8", "#ff8b92", "#c3e88d", "#ffe08a", "#a3c1ff", "#e4bdff", "#a6ecf3", "#ffffff",
}

// read reads what a terminal shows, as tmux captures it: lines of text with SGR
// sequences. Other sequences are dropped, and styles last only as far as the
// text sets them.
func read(text string) [][]cell {
	var rows [][]cell
	var row []cell
	var now style
	for text != "" {
		switch {
		case text[0] == '\n':
			rows, row, text = append(rows, row), nil, text[1:]
		case text[0] == 0x1b:
			text = escape(text[1:], &now)
		case text[0] < ' ':
			text = text[1:]
		default:
			end := strings.IndexFunc(text, func(r rune) bool { return r < ' ' })
			if end < 0 {
				end = len(text)
			}
			row, text = put(row, text[:end], now), text[end:]
		}
	}
	if row != nil {
		rows = append(rows, row)
	}
	return rows
}

// put appends text in one style.
func put(row []cell, text string, now style) []cell {
	for _, r := range text {
		switch width := runewidth.RuneWidth(r); {
		case width > 0:
			row = append(row, cell{string(r), width == 2, now})
			if width == 2 {
				row = append(row, cell{style: now})
			}
		case len(row) == 0:
		case row[len(row)-1].text == "" && len(row) > 1: // the right half of a wide one
			row[len(row)-2].text += string(r)
		default:
			row[len(row)-1].text += string(r)
		}
	}
	return row
}

// escape reads one sequence behind its ESC, and returns what follows it.
func escape(text string, now *style) string {
	switch {
	case strings.HasPrefix(text, "["):
		end := strings.IndexFunc(text[1:], func(r rune) bool { return '@' <= r && r <= '~' }) + 1
		if end == 0 {
			return ""
		}
		if text[end] == 'm' {
			now.set(text[1:end])
		}
		return text[end+1:]
	case strings.HasPrefix(text, "]"): // up to BEL or ESC \
		if end := strings.IndexAny(text, "\a\x1b"); end >= 0 {
			return strings.TrimPrefix(text[end:], "\a")
		}
		return ""
	case text == "":
		return ""
	}
	return text[1:]
}

// set changes the style by the parameters of an SGR sequence.
func (s *style) set(parameters string) {
	codes := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		*s = style{}
	}
	for i := 0; i < len(codes); i++ {
		switch n := number(codes[i]); {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = true
		case n == 7:
			s.reverse = true
		case n == 9:
			s.strike = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n == 27:
			s.reverse = false
		case n == 29:
			s.strike = false
		case 30 <= n && n <= 37:
			s.fore = palette[n-30]
		case 90 <= n && n <= 97:
			s.fore = palette[n-90+8]
		case 40 <= n && n <= 47:
			s.back = palette[n-40]
		case 100 <= n && n <= 107:
			s.back = palette[n-100+8]
		case n == 39:
			s.fore = ""
		case n == 49:
			s.back = ""
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			i += used
			if n == 38 {
				s.fore = colour
			} else {
				s.back = colour
			}
		}
	}
}

// extended returns the colour behind 38 or 48, and the number of codes read.
func extended(codes []string) (colour string, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == "5":
		return indexed(number(codes[1])), 2
	case len(codes) >= 4 && codes[0] == "2":
		return rgb(number(codes[1]), number(codes[2]), number(codes[3])), 4
	}
	return "", len(codes)
}

// indexed returns one of the 256 colours.
func indexed(n int) string {
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	switch {
	case n < 16:
		return palette[n]
	case n < 232:
		n -= 16
		return rgb(level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(n-232)
	return rgb(grey, grey, grey)
}

func rgb(r, g, b int) string {
	const digits = "0123456789abcdef"
	out := []byte{'#'}
	for _, v := range [...]int{r, g, b} {
		v = min(max(v, 0), 255)
		out = append(out, digits[v>>4], digits[v&15])
	}
	return string(out)
}

// number is a parameter; what is none is 0, and nothing is over 255.
func number(s string) int {
	n, _ := strconv.ParseUint(s, 10, 8)
	return int(n)
}
