package traces

import (
	"context"
	"encoding/hex"
)

// A Traceparent is the span of another program that sent a request, from the
// header of that name. Nested requests share it. It is not changed. Rule: W3C
// Trace Context, 3.2.
type Traceparent struct {
	Trace [16]byte // not zero
	Span  [8]byte  // not zero
	Flags byte     // 1 if the other side may have recorded it
}

// lenTraceparent is the length of version 00 of the header.
const lenTraceparent = 2 + 1 + 32 + 1 + 16 + 1 + 2

// ParseTraceparent reads the header traceparent. What is malformed is none, as
// the specification wants it: upper case, ids of zeros, version ff, and anything
// behind the flags of version 00. Of a version to come the known part is read.
func ParseTraceparent(header string) (p Traceparent, ok bool) {
	if len(header) < lenTraceparent || header[2] != '-' || header[35] != '-' || header[52] != '-' {
		return Traceparent{}, false
	}
	var version, flags [1]byte
	for _, part := range []struct {
		to   []byte
		text string
	}{{version[:], header[:2]}, {p.Trace[:], header[3:35]}, {p.Span[:], header[36:52]}, {flags[:], header[53:55]}} {
		if !decodeLower(part.to, part.text) {
			return Traceparent{}, false
		}
	}
	switch rest := header[lenTraceparent:]; {
	case version[0] == 0xff, version[0] == 0 && rest != "", rest != "" && rest[0] != '-',
		p.Trace == [16]byte{}, p.Span == [8]byte{}:
		return Traceparent{}, false
	}
	p.Flags = flags[0]
	return p, true
}

// decodeLower reads hexadecimal digits of lower case.
func decodeLower(to []byte, text string) bool {
	for i := range len(text) {
		if 'A' <= text[i] && text[i] <= 'F' {
			return false
		}
	}
	n, err := hex.Decode(to, []byte(text))
	return err == nil && n == len(to)
}

// String returns the header, in version 00. That of nil is "".
func (p *Traceparent) String() string {
	if p == nil {
		return ""
	}
	b := make([]byte, 0, lenTraceparent)
	b = append(hex.AppendEncode(append(b, "00-"...), p.Trace[:]), '-')
	b = append(hex.AppendEncode(b, p.Span[:]), '-')
	return string(hex.AppendEncode(b, []byte{p.Flags}))
}

// WithTraceparent returns the context of a request sent by p. Ctx must not be
// that of a request, which has its Traceparent already.
func WithTraceparent(ctx context.Context, p *Traceparent) context.Context {
	return context.WithValue(ctx, liveKey{}, p) // one look finds it or the request
}

// Within returns the request and the Traceparent that ctx belongs to; each may
// be nil.
func Within(ctx context.Context) (*Live, *Traceparent) {
	switch v := ctx.Value(liveKey{}).(type) {
	case *Live:
		return v, TraceparentOf(v.Context)
	case *Traceparent:
		return nil, v
	}
	return nil, nil
}

// TraceparentOf returns the Traceparent that ctx belongs to, or nil.
func TraceparentOf(ctx context.Context) *Traceparent {
	_, p := Within(ctx)
	return p
}
