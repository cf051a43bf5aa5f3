package syntax

// What Puppet prints, letter by letter. Sections 1 to 3 of the specification of
// the language.
const (
	illegalBOM                = "Illegal %s Byte Order mark at beginning of input: [%s] - remove these from the puppet source"
	unclosedComment           = "Unclosed multiline comment"
	unclosedQuote             = "Unclosed quote after %s followed by '%s'"
	unrecognizedEscape        = `Unrecognized escape sequence '\`
	illegalUnicode            = `Unicode escape '\u' was not followed by 4 hex digits or 1-6 hex digits in {} or was > 10ffff`
	nestedHeredoc             = "undefined method `+' for nil:NilClass"
	invalidUnicode            = "invalid byte sequence in UTF-8"
	illegalClassReference     = "Illegal class reference"
	illegalFullClassReference = "Illegal fully qualified class reference"
	illegalFullName           = "Illegal fully qualified name"
	illegalNumber             = "Illegal number '%s'"
	invalidHex                = "Not a valid hex number %s"
	invalidOctal              = "Not a valid octal number %s"
	invalidDecimal            = "Not a valid decimal number %s"
	heredocUnclosed           = "Unclosed parenthesis after '@(' followed by '%s'"
	heredocInvalid            = "Invalid syntax in heredoc expected @(endtag[:syntax][/escapes])"
	heredocEmptyTag           = "Heredoc with an empty endtag"
	heredocTwice              = "An escape char for @() may only appear once. Got '%s'"
	heredocEscape             = "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got '%c'"
	heredocWithoutText        = "Heredoc without any following lines of text"
	heredocWithoutEnd         = "Heredoc without end-tagged line"
	eppUnbalanced             = "Unbalanced epp tag, reached <eof> without closing tag."
	eppUnbalancedComment      = "Reaching end after opening <%%# without seeing %%>"
	ambiguousTemplate         = "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove leading whitespace"
	eppUnbalancedExpression   = "Unbalanced embedded expression - opening <%% and reaching end of input"
)

// What only this program prints, of its own limits.
const (
	tooNested = "The source nests deeper than %d, which is the limit of this program"
	tooHigh   = "The expression is a chain of more than %d, which is the limit of this program"
	tooLarge  = "The source is larger than %d bytes, which is the limit of this program"
)
