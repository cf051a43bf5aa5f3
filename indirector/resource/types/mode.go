package types

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

var (
	octalMode    = regexp.MustCompile(`(?m)^0?[0-7]{1,4}$`)
	symbolicMode = regexp.MustCompile(`(?m)^([ugoa]*[-=+][-=+rstwxXugo]*)(,[ugoa]*[-=+][-=+rstwxXugo]*)*$`)
	modePart     = regexp.MustCompile(`^([ugoa]*)([-+=].*)$`)
)

// ValidMode reports whether a mode is octal digits or symbolic. Rule RES-FILE-16.
func ValidMode(mode string) bool {
	return octalMode.MatchString(mode) || symbolicMode.MatchString(mode)
}

// numericMode is an octal mode without zeros at its begin; others stay as they are.
func numericMode(mode string) string {
	if !octalMode.MatchString(mode) {
		return mode
	}
	n, _ := strconv.ParseUint(octalMode.FindString(mode), 8, 32)
	return strconv.FormatUint(n, 8)
}

// showMode gives an octal mode four digits.
func showMode(mode string) string {
	if !octalMode.MatchString(mode) {
		return mode
	}
	return padded(mode)
}

func padded(mode string) string { return strings.Repeat("0", max(0, 4-len(mode))) + mode }

// ApplyMode returns the permissions that a mode asks for, given those that are there:
// twelve bits. dir is whether they are a directory's. Rule RES-FILE-16.
func ApplyMode(mode string, current uint32, dir bool) (uint32, error) {
	if octalMode.MatchString(mode) && !strings.Contains(mode, "\n") {
		n, err := strconv.ParseUint(mode, 8, 32)
		return uint32(n), err
	}
	if mode == "" {
		return 0, refuse("An empty mode string is illegal")
	}
	m := modeBits{
		bits: map[byte]uint32{'s': current >> 9 & 7, 'u': current >> 6 & 7, 'g': current >> 3 & 7, 'o': current & 7},
		exec: dir || current&0o111 != 0,
	}
	for part := range strings.SplitSeq(mode, ",") {
		if err := m.apply(strings.TrimSpace(part)); err != nil {
			at := ""
			if part != mode {
				at = " at " + data.InspectString(part)
			}
			return 0, refuse("%s%s in symbolic mode %s", err, at, data.InspectString(mode))
		}
	}
	return m.bits['s']<<9 | m.bits['u']<<6 | m.bits['g']<<3 | m.bits['o'], nil
}

// modeBits are the bits of user, group and others, and the special ones ('s').
type modeBits struct {
	bits map[byte]uint32
	exec bool // X means x
}

// apply does one part of a symbolic mode, as "ug+rX". Each of those that it is for
// begins with the bits that were there before the part.
func (m *modeBits) apply(part string) error {
	p := modePart.FindStringSubmatch(part)
	if p == nil {
		return refuse("Missing action")
	}
	before := map[byte]uint32{'u': m.bits['u'], 'g': m.bits['g'], 'o': m.bits['o']}
	for _, who := range concerned(p[1]) {
		bits, op := before[who], byte('!')
		for i := range len(p[2]) {
			c := p[2][i]
			switch {
			case strings.IndexByte("-+=", c) >= 0:
				op = c
				if c == '=' {
					bits = 0
				}
			case c == 's' || c == 't':
				m.bits['s'] = change(op, m.bits['s'], special(c, who))
			case c == 'X' && op != '+':
				return refuse("X only works with the '+' operator")
			default:
				bits = change(op, bits, m.named(c, before))
			}
		}
		m.bits[who] = bits
	}
	return nil
}

// concerned are u, g and o in the order in which a part names them; a and nothing are all.
func concerned(who string) []byte {
	if who == "" {
		who = "a"
	}
	var all []byte
	for _, c := range []byte(strings.ReplaceAll(who, "a", "ugo")) {
		if strings.IndexByte(string(all), c) < 0 {
			all = append(all, c)
		}
	}
	return all
}

func (m *modeBits) named(c byte, before map[byte]uint32) uint32 {
	switch c {
	case 'r':
		return 4
	case 'w':
		return 2
	case 'x':
		return 1
	case 'X':
		if m.exec {
			return 1
		}
		return 0
	}
	return before[c]
}

func special(c, who byte) uint32 {
	if c == 's' && who == 'u' {
		return 4
	}
	if c == 's' && who == 'g' {
		return 2
	}
	return 1
}

func change(op byte, bits, by uint32) uint32 {
	if op == '-' {
		return bits &^ by
	}
	return bits | by
}
