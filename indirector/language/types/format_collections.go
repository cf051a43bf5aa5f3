package types

import (
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// A conversion is where a value stands within others.
type conversion struct {
	level    int
	later    bool // not the first of its collection
	indented bool // a collection around it breaks lines
}

func (c conversion) breaks() bool { return c.indented && c.level > 0 && c.later }

func (c conversion) padding() string { return strings.Repeat("  ", c.level) }

func (c conversion) inner(indented bool) conversion {
	return conversion{level: c.level + 1, indented: indented}
}

// begin returns a line feed and the indentation if the collection begins a line.
func (c conversion) begin() string {
	if c.breaks() {
		return "\n" + c.padding()
	}
	return ""
}

// element formats a part of a collection: a collection by the formats of all, another
// value by those for elements.
func (c conversion) element(v data.Value, f format, fs formats) (string, error) {
	if isCollection(v) {
		return c.text(v, fs)
	}
	if f.elements != nil {
		return c.text(v, f.elements)
	}
	return c.text(v, usualElements)
}

func (c conversion) list(l []data.Value, f format, fs formats) (string, error) {
	switch f.letter {
	case 'a', 's', 'p':
	default:
		return "", illegal("Array", f, "asp")
	}
	c.indented = c.indented || f.alt()
	first, last := f.delimiters("[]")
	inner := c.inner(f.alt())
	texts := make([]string, len(l))
	for i, v := range l {
		inner.later = true
		var err error
		if texts[i], err = inner.element(v, f, fs); err != nil {
			return "", err
		}
	}
	long := f.alt() && f.width >= 0 && widest(l, texts) > f.width
	separator := f.separator(0, ", ")
	text := c.begin() + first
	for i, v := range l {
		switch {
		case i == 0:
			if long && !isCollection(v) {
				text += " "
			}
		default:
			text += separator
			if !isCollection(v) && (long || f.alt() && isCollection(l[i-1])) {
				if !strings.HasSuffix(text, "\n") {
					text = strings.TrimRight(text, " \t\r\n\v\f\x00")
				}
				text += "\n" + inner.padding()
			}
		}
		if strings.HasSuffix(text, " ") && strings.HasPrefix(texts[i], "\n") {
			text = strings.TrimRight(text, " \t\r\n\v\f\x00")
		}
		text += texts[i]
	}
	return text + last, nil
}

// widest returns the length of the longest run of elements that are no collections.
func widest(l []data.Value, texts []string) int {
	most, run := 0, 0
	for i, v := range l {
		if isCollection(v) {
			run = 0
			continue
		}
		run += utf8.RuneCountInString(texts[i])
		most = max(most, run)
	}
	return most
}

func (c conversion) hash(v data.Value, f format, fs formats) (string, error) {
	switch f.letter {
	case 'a':
		return c.text(data.OfList(elements(v)), fs)
	case 'h', 's', 'p':
	default:
		return "", illegal("Hash", f, "hasp")
	}
	separator, arrow := f.separator(0, ", "), f.separator(1, " => ")
	c.indented = c.indented || f.alt()
	inner := c.inner(false)
	first, last := f.delimiters("{}")
	feed, padding := "", ""
	if f.alt() {
		if !strings.HasSuffix(separator, "\n") {
			separator = strings.TrimRight(separator, " \t\r\n\v\f\x00")
		}
		separator += "\n"
		feed, padding = "\n", inner.padding()
	}
	var parts []string
	for _, p := range v.Hash() {
		key, err := inner.element(p.Key, f, fs)
		if err != nil {
			return "", err
		}
		value, err := inner.element(p.Value, f, fs)
		if err != nil {
			return "", err
		}
		parts = append(parts, padding+key+arrow+value)
	}
	text := c.begin() + first + feed + strings.Join(parts, separator)
	if f.alt() {
		text += feed + c.padding()
	}
	return text + last, nil
}
