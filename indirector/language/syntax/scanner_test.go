package syntax

import "testing"

// Outside of heredocs tokens are in the order of the text, and in it.
func FuzzScan(f *testing.F) {
	for _, code := range []string{
		"class a::b($x = 1.5) inherits c { notice \"a${x}b$y\" }", "@(\"E\"/L)\n a\\\n ${b}\n |- E\n", "/re\\/x/ / 0x1F", "é\u00a0::x ::Y '\\''", "<%= $x -%>\n",
	} {
		f.Add(code, false)
		f.Add(code, true)
	}
	f.Fuzz(func(t *testing.T, code string, template bool) {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(failure); !ok {
					panic(r)
				}
			}
		}()
		s := &scanner{source: &Source{Text: code}, report: &Report{}, text: code}
		s.checkEncoding()
		if template {
			s.beginTemplate()
		}
		heredocs := false
		for last := int32(0); ; {
			tok := s.next()
			heredocs = heredocs || tok.kind == tHeredoc
			if tok.offset < 0 || int(tok.offset) > len(code) || tok.offset < last && !heredocs {
				t.Fatalf("%q: the token %v is at %d, behind one at %d", code, tok, tok.offset, last)
			}
			if last = tok.offset; tok.kind == tEOF {
				return
			}
		}
	})
}
