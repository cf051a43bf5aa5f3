package types

import (
	"slices"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// A piece is a value that has been formatted: a text, or a collection of pieces, whose
// lines are broken only when it is known what they stand in.
type piece struct {
	text string

	collection  bool
	items       []piece // of a hash: keys and values in turn
	first, last string  // around the items
	separator   string
	arrow       string // between key and value; "" if it is a list
	tall        bool   // the alternative form, with broken lines
	width       int    // that a run of items in the alternative form may have; -1 is any
}

// pieceOf formats a value by the first format that fits its type.
func pieceOf(v data.Value, fs formats) (piece, error) {
	f := fs.find(Infer(v))
	if err := checkLetter(v, f); err != nil {
		return piece{}, err
	}
	switch {
	case v.Kind() == data.List:
		return f.collected(v.List(), "[]", ", ", "", fs)
	case v.Kind() == data.Hash && f.letter == 'a':
		return pieceOf(data.OfList(elements(v)), fs)
	case v.Kind() == data.Hash:
		items := make([]data.Value, 0, 2*v.Len())
		for _, p := range v.Hash() {
			items = append(items, p.Key, p.Value)
		}
		return f.collected(items, "{}", ", ", " => ", fs)
	}
	s, err := scalarText(v, f)
	return piece{text: s}, err
}

// collected formats the items of a collection: those that are collections by the formats
// of all, others by the formats for elements.
func (f format) collected(items []data.Value, delimiters, separator, arrow string, fs formats) (piece, error) {
	p := piece{collection: true, tall: f.alt(), width: f.width, separator: f.separator(0, separator), items: make([]piece, len(items))}
	p.first, p.last = f.delimiters(delimiters)
	if arrow != "" {
		p.arrow = f.separator(1, arrow)
	}
	scalars := f.elements
	if scalars == nil {
		scalars = usualElements
	}
	for i, v := range items {
		of := scalars
		if isCollection(v) {
			of = fs
		}
		var err error
		if p.items[i], err = pieceOf(v, of); err != nil {
			return p, err
		}
	}
	return p, nil
}

const blanks = " \t\r\n\v\f\x00"

// A page is the text that pieces are written to.
type page struct{ b []byte }

func (w *page) put(s string) { w.b = append(w.b, s...) }

// newLine begins a line that is indented so deep.
func (w *page) newLine(depth int) {
	w.put("\n")
	w.put(strings.Repeat("  ", depth))
}

// trim drops the blanks between two places.
func (w *page) trim(from, to int) {
	kept := strings.TrimRight(string(w.b[from:to]), blanks)
	w.b = slices.Delete(w.b, from+len(kept), to)
}

// write writes a piece that stands so deep in collections. A collection in a list that is
// tall, or that is tall itself, begins a line of its own.
func (w *page) write(p piece, depth int, inList, inTall bool) {
	if !p.collection {
		w.put(p.text)
		return
	}
	from := len(w.b)
	if inList && depth > 0 && (inTall || p.tall) {
		w.newLine(depth)
	}
	w.put(p.first)
	if p.arrow != "" {
		w.entries(p, depth)
	} else {
		w.elements(p, depth, from)
	}
	w.put(p.last)
}

// elements writes the items of a list. If it is tall, scalars begin a line behind a
// collection, and all of them do if a run of them is too long. No blanks stay in front of a
// line feed, as far back as the list goes.
func (w *page) elements(p piece, depth, from int) {
	long := p.tall && p.width >= 0 && p.longest() > p.width
	for i, item := range p.items {
		switch {
		case i == 0:
			if long && !item.collection {
				w.put(" ")
			}
		case item.collection, !long && !(p.tall && p.items[i-1].collection):
			w.put(p.separator)
		default:
			w.put(p.separator)
			if w.b[len(w.b)-1] != '\n' {
				w.trim(from, len(w.b))
			}
			w.newLine(depth + 1)
		}
		at := len(w.b)
		w.write(item, depth+1, true, p.tall)
		if len(w.b) > at && w.b[at] == '\n' && at > from && w.b[at-1] == ' ' {
			w.trim(from, at)
		}
	}
}

// longest returns the length of the longest run of scalars.
func (p piece) longest() int {
	most, run := 0, 0
	for _, item := range p.items {
		if run += utf8.RuneCountInString(item.text); item.collection {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

// entries writes the items of a hash. If it is tall, each entry has a line.
func (w *page) entries(p piece, depth int) {
	separator := p.separator
	if p.tall && !strings.HasSuffix(separator, "\n") {
		separator = strings.TrimRight(separator, blanks)
	}
	for i, item := range p.items {
		switch {
		case i%2 == 1:
			w.put(p.arrow)
		case i > 0:
			w.put(separator)
			fallthrough
		default:
			if p.tall {
				w.newLine(depth + 1)
			}
		}
		w.write(item, depth+1, false, false)
	}
	if p.tall {
		if len(p.items) == 0 {
			w.put("\n")
		}
		w.newLine(depth)
	}
}
