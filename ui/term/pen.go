package term

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A pen is how a terminal writes: what SGR has set since the last reset.
type pen struct {
	set    uint16 // bit N is code N, from 1 to 9
	hue    string // the codes of the colour of letters
	ground string // the codes of the colour behind them
	others string // codes that are not known
}

// The codes that a blank shows: underline, reverse, crossed out.
const onBlanks = 1<<4 | 1<<7 | 1<<9

// solid reports whether a blank may look different from an erased one.
func (p *pen) solid() bool { return p.set&onBlanks != 0 || p.ground != "" || p.others != "" }

// take sets what the parameters of SGR set.
func (p *pen) take(codes string) {
	for rest := codes; ; {
		code, more, found := strings.Cut(rest, ";")
		n, err := strconv.Atoi("0" + code)
		switch {
		case err == nil && n == 0:
			*p = pen{}
		case err == nil && n <= 9:
			p.set |= 1 << n
		case n == 38 || n == 48:
			size := colour(rest)
			code, more = rest[:size], strings.TrimPrefix(rest[size:], ";")
			found = size < len(rest)
			if n == 38 {
				p.hue = code
			} else {
				p.ground = code
			}
		case 30 <= n && n <= 37, 90 <= n && n <= 97:
			p.hue = code
		case 40 <= n && n <= 47, 100 <= n && n <= 107:
			p.ground = code
		default:
			p.others += code + ";"
		}
		if !found {
			return
		}
		rest = more
	}
}

// colour is how long the codes of a colour are that begin with 38 or 48.
func colour(codes string) int {
	parts := strings.SplitN(codes, ";", 6)
	n := 3 // 38;5;N
	if len(parts) > 1 && parts[1] == "2" {
		n = 5 // 38;2;R;G;B
	}
	return len(strings.Join(parts[:min(n, len(parts))], ";"))
}

// after returns what makes p of was.
func (p *pen) after(was *pen) (change ansi.Style) {
	if *p == (pen{}) {
		return nil
	}
	if was.set&^p.set != 0 || was.hue != "" && p.hue == "" || was.ground != "" && p.ground == "" || was.others != p.others {
		was, change = new(pen), ansi.Style{"0"}
	}
	for n := range 10 {
		if (p.set&^was.set)>>n&1 != 0 {
			change = append(change, strconv.Itoa(n))
		}
	}
	if p.hue != was.hue {
		change = append(change, p.hue)
	}
	if p.ground != was.ground {
		change = append(change, p.ground)
	}
	if p.others != was.others {
		change = append(change, strings.TrimSuffix(p.others, ";"))
	}
	return change
}
