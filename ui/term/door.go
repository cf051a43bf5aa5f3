package term

import (
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
)

// Lip returns a style for components that draw by themselves. What they draw
// comes in by [Theme.Drawn].
func (th *Theme) Lip(s Style) lipgloss.Style {
	return style(renderers[th.Palette](), th.Palette, s, th.Bar)
}

// Drawn takes what a component has drawn with styles of [Theme.Lip]. Nothing else
// is known: what a terminal might obey besides is written out, as by [Clean].
func (th *Theme) Drawn(text string) Lines {
	var out Lines
	for s := range strings.SplitSeq(text, "\n") {
		out = append(out, th.drawn(s))
	}
	return out
}

// drawn takes one line. A style ends where the next one begins.
func (th *Theme) drawn(s string) Line {
	const begin = "\x1b["
	opened := th.opened()
	var l Line
	now := Plain
	for {
		at := strings.Index(s, begin)
		if at < 0 {
			l.Put(now, s)
			return l
		}
		end := strings.IndexByte(s[at:], 'm')
		if end < 0 {
			l.Put(now, s)
			return l
		}
		next, known := opened[s[at:at+end+1]]
		if !known {
			l.Put(now, s[:at+len(begin)])
			s = s[at+len(begin):]
			continue
		}
		l.Put(now, s[:at])
		now, s = next, s[at+end+1:]
	}
}

// opened finds the styles of a palette by what begins them. What ends one begins
// plain text.
func (th *Theme) opened() map[string]Style {
	bar := 0
	if th.Bar {
		bar = 1
	}
	return doors[th.Palette][bar]()
}

var renderers = perPalette(func(p Palette) *lipgloss.Renderer { return renderer(p) })

func perPalette[T any](of func(Palette) T) (all [NoStyle + 1]func() T) {
	for p := range all {
		all[p] = sync.OnceValue(func() T { return of(Palette(p)) })
	}
	return all
}

var doors = func() (all [NoStyle + 1][2]func() map[string]Style) {
	for p := range all {
		for bar := range all[p] {
			all[p][bar] = sync.OnceValue(func() map[string]Style {
				found := make(map[string]Style)
				for s, e := range looks[p][bar]() {
					if _, has := found[e.open]; !has && e.open != "" {
						found[e.open], found[e.close] = Style(s), Plain
					}
				}
				return found
			})
		}
	}
	return all
}()
