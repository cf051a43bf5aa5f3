package ruby

// A Kind is a kind of token.
type Kind uint8

// Kinds of tokens.
const (
	EOF     Kind = iota
	Newline      // or a semicolon
	Ident        // a name that begins with a small letter
	Constant
	Instance // a variable with its sign: @x @@x $x
	Keyword
	SymbolText
	Label // x: in front of the value of an option
	String
	Words // %w or %i: each part is a word
	Regular
	Numeral
	Operator
)

// A Token is a piece of a source, for readers that are not tolerant.
type Token struct {
	Kind    Kind
	Text    string  // of a string: ` if it is a command of the shell; of words: i if they are symbols
	Parts   []Piece // of texts, symbols, labels, words and regular expressions
	Options int     // of regular expressions, as [Regexp] has them
	Line    int     // from 1
	Spaced  bool    // there is blank space in front of it
	Glued   bool    // there is none behind it
	Open    bool    // of EOF: a text has no end
}

// A Piece is a part of a text: literal, or code whose value is interpolated.
type Piece struct {
	Text string
	Code []Token // nil if the piece is literal; the last is EOF
}

// Tokens returns the tokens of a source; the last is EOF. Of a source above [MaxBytes]
// there are none.
func Tokens(src string) []Token {
	if len(src) > MaxBytes {
		return nil
	}
	s := &scanner{src: src, line: 1}
	s.lines()
	s.run("")
	out := exported(s.tokens)
	out[len(out)-1].Open = s.unclosed || len(s.waiting) > 0
	return out
}

func exported(all []token) []Token {
	out := make([]Token, len(all))
	for i, t := range all {
		out[i] = Token{Kind: Kind(t.kind), Text: t.text, Options: t.options, Line: t.line, Spaced: t.spaced, Glued: t.glued}
		for _, p := range t.parts {
			piece := Piece{Text: p.Text}
			if p.code != nil {
				piece.Code = exported(*p.code)
			}
			out[i].Parts = append(out[i].Parts, piece)
		}
	}
	return out
}
