package main

import (
	"fmt"
	"strings"
)

// The measures of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	baseline   = 13 // of the text within its cell
	margin     = 14
	titleBar   = 30
)

// The colours of a picture that are not the text's.
const (
	background = "#12161f"
	foreground = "#cdd6e4"
	bar        = "#1c2230"
	edge       = "#2d3648"
	dimmed     = "#8a94a8"
)

// lit makes a picture one of a light terminal: what surrounds the text has other
// colours, the text has those that the program chose.
var lit = strings.NewReplacer(background, "#ffffff", foreground, "#1f2430", bar, "#eceff4", edge, "#c4ccd8", dimmed, "#5c6675")

const fonts = "'JetBrains Mono','Cascadia Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// draw returns a picture of a screen of so many columns and rows. Missing cells
// stay empty; those beyond are not drawn.
func draw(rows [][]cell, columns, lines int, title string) string {
	var b strings.Builder
	width := float64(columns)*cellWidth + 2*margin
	height := float64(lines)*cellHeight + 2*margin + titleBar
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%s">`+"\n",
		px(width), px(height), escaped(title))
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="9" fill="%s" stroke="%s"/>`+"\n", px(width-1), px(height-1), background, edge)
	fmt.Fprintf(&b, `<path d="M0.5 %d.5V9.5a9 9 0 0 1 9-9H%sa9 9 0 0 1 9 9V%[1]d.5z" fill="%[3]s" stroke="%[4]s"/>`+"\n", titleBar, px(width-9.5), bar, edge)
	for i, colour := range []string{"#f07178", "#ffcb6b", "#a5d6a7"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="15.5" r="5" fill="%s"/>`+"\n", 18+17*i, colour)
	}
	fmt.Fprintf(&b, `<g font-family="%s" font-size="14" fill="%s" xml:space="preserve">`+"\n", fonts, foreground)
	fmt.Fprintf(&b, `<text x="%s" y="20" text-anchor="middle" font-size="12" fill="%s">%s</text>`+"\n", px(width/2), dimmed, escaped(title))
	for y, row := range rows[:min(len(rows), lines)] {
		row = row[:min(len(row), columns)]
		top := float64(titleBar + margin + y*cellHeight)
		each(row, func(a, c cell) bool { return a.style.paper() == c.style.paper() }, func(x int, run []cell) {
			if paper := run[0].style.paper(); paper != "" {
				fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%d" fill="%s"/>`+"\n", px(left(x)), px(top), px(float64(len(run))*cellWidth), cellHeight, paper)
			}
		})
		each(row, together, func(x int, run []cell) { b.WriteString(word(left(x), top, run)) })
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func left(x int) float64 { return margin + float64(x)*cellWidth }

// each calls f with every longest run of neighbours that are alike.
func each(row []cell, alike func(a, b cell) bool, f func(x int, run []cell)) {
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && alike(row[to-1], row[to]) {
			to++
		}
		f(from, row[from:to])
		from = to
	}
}

// together reports whether two cells are one text: a word in one style. Each word
// stands at its own cell, so that a font of another width cannot push columns
// apart. Lines of boxes are drawn, not written: see line.
func together(a, b cell) bool {
	return a.style == b.style && blank(a) == blank(b) && !a.wide && !b.wide && a.text != "" && b.text != "" && line(a.text) == line(b.text) &&
		(line(a.text) == "" || a.text == b.text)
}

func blank(c cell) bool { return strings.TrimSpace(c.text) == "" }

// word draws one run of cells.
func word(x, y float64, run []cell) string {
	s := run[0].style
	width := float64(len(run)) * cellWidth
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.text)
	}
	out := ""
	if path := line(run[0].text); path != "" {
		for i := range run {
			out += fmt.Sprintf(`<path transform="translate(%s %s)" %s/>`+"\n", px(x+float64(i)*cellWidth), px(y), strings.ReplaceAll(path, "ink", s.ink()))
		}
		return out
	}
	if !blank(run[0]) {
		if run[0].wide {
			width *= 2
		}
		out = fmt.Sprintf(`<text x="%s" y="%s" textLength="%s"%s>%s</text>`+"\n", px(x), px(y+baseline), px(width), s.attributes(), escaped(text.String()))
	}
	for _, under := range []struct {
		on bool
		at float64
	}{{s.underline, baseline + 2.5}, {s.strike, baseline - 4.5}} {
		if under.on {
			out += fmt.Sprintf(`<path d="M%s %sh%s" stroke="%s"/>`+"\n", px(x), px(y+under.at), px(width), s.ink())
		}
	}
	return out
}

// ink is the colour of the text.
func (s style) ink() string {
	if s.reverse {
		return or(s.back, background)
	}
	return or(s.fore, foreground)
}

// paper is the colour behind the text; "" is the picture's own.
func (s style) paper() string {
	if s.reverse {
		return or(s.fore, foreground)
	}
	return s.back
}

func (s style) attributes() string {
	var b strings.Builder
	if ink := s.ink(); ink != foreground {
		fmt.Fprintf(&b, ` fill="%s"`, ink)
	}
	if s.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if s.italic {
		b.WriteString(` font-style="italic"`)
	}
	if s.faint {
		b.WriteString(` opacity="0.6"`)
	}
	return b.String()
}

// line is the path of a sign that joins its neighbours, so that no font can
// leave gaps in it; "" if text is no such sign. The word ink stands for the
// colour.
func line(text string) string {
	const middle, half = cellHeight / 2, cellWidth / 2
	stroke := func(d string) string { return `d="` + d + `" stroke="ink" fill="none"` }
	fill := func(x, y, w, h float64) string {
		return fmt.Sprintf(`d="M%s %sh%sv%sh-%[3]sz" fill="ink"`, px(x), px(y), px(w), px(h))
	}
	switch text {
	case "─":
		return stroke(fmt.Sprintf("M0 %dh%s", middle, px(cellWidth)))
	case "│":
		return stroke(fmt.Sprintf("M%s 0v%d", px(half), cellHeight))
	case "┼":
		return stroke(fmt.Sprintf("M0 %dh%sM%s 0v%d", middle, px(cellWidth), px(half), cellHeight))
	case "╭":
		return stroke(fmt.Sprintf("M%s %dv-5a4 4 0 0 1 4-4h%s", px(half), cellHeight, px(half-4)))
	case "╮":
		return stroke(fmt.Sprintf("M0 %dh%sa4 4 0 0 1 4 4v5", middle, px(half-4)))
	case "╰":
		return stroke(fmt.Sprintf("M%s 0v5a4 4 0 0 0 4 4h%s", px(half), px(half-4)))
	case "╯":
		return stroke(fmt.Sprintf("M%s 0v5a4 4 0 0 1 -4 4h-%s", px(half), px(half-4)))
	case "━":
		return fill(0, middle-1.5, cellWidth, 3)
	case "▏":
		return fill(0, 2, 1.5, cellHeight-4)
	}
	if i := strings.Index("▁▂▃▄▅▆▇█", text); i >= 0 && text != "" {
		h := float64(i/len("▁")+1) * cellHeight / 8
		return fill(0, cellHeight-h, cellWidth, h)
	}
	return ""
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// px writes a number with as many digits as it needs.
func px(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// escaped is text as it may stand in XML.
func escaped(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean)
}
