package store

import (
	"bytes"
	"strings"
)

// A Session is what a recording is shipped as. Its parts have it, too.
type Session struct {
	ID       string `json:"session"`  // of this run of the program; "" if it is not shipped
	Instance string `json:"instance"` // the name of the program in its fleet
	To       string `json:"to"`       // the database, without user and password
}

// A Copied is what who copies a recording needs of a line. Exactly one of the
// four is set; all are zero for other kinds of lines.
type Copied struct {
	Header *Header
	Head   *Head  // of a request
	Body   string // of a value: its digest
	End    bool   // the part is complete

	// Of a request: the digests of its values, its traceparent as in the header,
	// and the numbers of the spans that went over the network.
	Digests     []string
	Traceparent string
	Sent        []int
}

// A Header is the first line of a part of a recording.
type Header struct {
	Session
	Version int
	Part    int
	Source  string
	Started string // RFC 3339
}

// ReadCopied reads a line as far as a copy needs it. The error is that of a line
// which is damaged.
func ReadCopied(b []byte) (c Copied, err error) {
	var l line
	if err := parseShort(b, &l); err != nil {
		return c, err
	}
	switch {
	case l.Version != 0:
		c.Header = &Header{l.Session, l.Version, l.Part, l.Source, l.Started.Format("2006-01-02T15:04:05.999999999Z07:00")}
	case l.Body != "":
		c.Body = l.Body
	case l.Trace != 0:
		c.Head = &l.Head
		rest := b[max(bytes.Index(b, []byte(beginSteps)), 0):]
		c.Digests = textsAfter(rest, `"digest":"`)
		for _, t := range textsAfter(rest, `,"traceparent":"`) {
			c.Traceparent = t
		}
		if bytes.Contains(rest, []byte(`"kind":"network"`)) {
			c.Sent, err = sentSpans(b)
		}
	default:
		c.End = l.End != nil
	}
	return c, err
}

// textsAfter returns what stands between a name and the next quote. A quote of a
// text is escaped, so that no text has such a name.
func textsAfter(b []byte, name string) (all []string) {
	for {
		_, after, ok := bytes.Cut(b, []byte(name))
		if !ok {
			return all
		}
		text, rest, _ := bytes.Cut(after, []byte{'"'})
		all, b = append(all, strings.Clone(string(text))), rest
	}
}

func sentSpans(b []byte) (ids []int, err error) {
	l, err := parse(b)
	if err != nil {
		return nil, err
	}
	for _, s := range l.Spans {
		if s.Kind == "network" {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}
