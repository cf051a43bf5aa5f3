package syntax

// A kind is what a token is to the grammar.
type kind uint8

const (
	tEOF   kind = iota
	tOther      // a character that begins no token; it fails in the grammar

	// Literals and names. What a double-quoted string interpolates stands
	// between tTextBegin and tTextEnd, with tTextMiddle between two of them.
	tString
	tWord
	tTextBegin
	tTextMiddle
	tTextEnd
	tHeredoc // its text follows
	tNumber
	tName
	tTypeName
	tVariable
	tRegexp

	// Keywords. Rule LANG-LEX-03.
	tAnd
	tAttr
	tBoolean
	tCase
	tClass
	tDefault
	tDefine
	tElse
	tElsif
	tFunction
	tIf
	tIn
	tInherits
	tNode
	tOr
	tPrivate
	tType
	tUndef
	tUnless

	// Brackets. Some are two tokens, by what stands before them. Rule
	// LANG-LEX-07.
	tListBegin   // [ that begins a list
	tBracket     // [ directly after something
	tBracketEnd  // ]
	tBrace       // {
	tSelectBrace // { after ?
	tBraceEnd    // }
	tLineParen   // ( as the first thing on a line
	tParen       // (
	tParenEnd    // )
	tCollect     // <|
	tCollectEnd  // |>
	tExported    // <<|
	tExportedEnd // |>>
	tPipe        // |
	tAt          // @
	tAtAt        // @@
	tEppBegin    // the beginning of a template
	tEppText     // text between tags
	tEppExpr     // <%=
	tEppEnd      // %> of a <%=
	tComma
	tColon
	tSemicolon
	tDot
	tQuestion
	tTilde // no operator, so it fails

	tAssign
	tAppend
	tDelete
	tArrow     // =>
	tPlusArrow // +>
	tEdge      // -> ~> <- <~
	tEqual
	tNotEqual
	tMatch
	tNoMatch
	tLess
	tLessEqual
	tGreater
	tGreaterEqual
	tShiftLeft
	tShiftRight
	tPlus
	tMinus
	tTimes
	tDivide
	tModulo
	tNot
	kinds
)

// A token is a piece of source. Offset is one in the source, also if the token
// stands in the text of a heredoc.
type token struct {
	kind           kind
	offset, length int32
	text           string // what a message calls it; of a string what it stands for
}

var keywords = map[string]kind{
	"and": tAnd, "attr": tAttr, "case": tCase, "class": tClass, "default": tDefault, "define": tDefine, "else": tElse,
	"elsif": tElsif, "false": tBoolean, "function": tFunction, "if": tIf, "in": tIn, "inherits": tInherits, "node": tNode,
	"or": tOr, "private": tPrivate, "true": tBoolean, "type": tType, "undef": tUndef, "unless": tUnless,
}

// isKeyword reports whether a kind is that of a keyword.
func (k kind) isKeyword() bool { return k >= tAnd && k <= tUnless }

// isAttribute reports whether a token may be the name of an attribute. Rule
// LANG-GRAM-07. Booleans are the only keywords that may not.
func (k kind) isAttribute() bool { return k == tName || k.isKeyword() && k != tBoolean }

// An operator is a token that is always written in the same way.
type operator struct {
	text string
	kind kind
}

// operators are those that begin with the same character, the longest first.
// Rule LANG-LEX-14. What depends on more than its own characters is not here.
var operators = [128][]operator{
	'.': {{".", tDot}},
	',': {{",", tComma}},
	']': {{"]", tBracketEnd}},
	')': {{")", tParenEnd}},
	';': {{";", tSemicolon}},
	'?': {{"?", tQuestion}},
	'*': {{"*", tTimes}},
	'%': {{"%", tModulo}},
	'@': {{"@@", tAtAt}, {"@", tAt}},
	'|': {{"|>>", tExportedEnd}, {"|>", tCollectEnd}, {"|", tPipe}},
	'=': {{"==", tEqual}, {"=>", tArrow}, {"=~", tMatch}, {"=", tAssign}},
	'+': {{"+=", tAppend}, {"+>", tPlusArrow}, {"+", tPlus}},
	'-': {{"->", tEdge}, {"-=", tDelete}, {"-", tMinus}},
	'!': {{"!=", tNotEqual}, {"!~", tNoMatch}, {"!", tNot}},
	'~': {{"~>", tEdge}, {"~", tTilde}},
	'<': {{"<<|", tExported}, {"<<", tShiftLeft}, {"<=", tLessEqual}, {"<|", tCollect}, {"<-", tEdge}, {"<~", tEdge}, {"<", tLess}},
	'>': {{">>", tShiftRight}, {">=", tGreaterEqual}, {">", tGreater}},
}
