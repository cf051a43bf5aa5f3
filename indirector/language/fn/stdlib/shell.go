package stdlib

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// shell are functions of words of a shell.
func shell() map[string]older {
	return map[string]older{
		"shell_join":  {least: 1, most: 1, wrong: "shell_join(): Wrong number of arguments given (%d for 1)", do: shellJoin},
		"shell_split": {least: 1, most: 1, wrong: "shell_split(): Wrong number of arguments given (%d for 1)", do: shellSplit},
	}
}

func shellJoin(c *call) (data.Value, error) {
	if !isList(c.Args[0]) {
		return undef, refusef("First argument is not an Array: %s", c.Args[0].Inspect())
	}
	words := make([]string, c.Args[0].Len())
	for i, v := range c.Args[0].List() {
		words[i] = shellEscape(eval.RubyText(v))
	}
	return str(strings.Join(words, " ")), nil
}

// shellEscape puts a backslash before each character that a shell could take for its
// own, and line breaks into quotes.
func shellEscape(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("'\n'")
			continue
		case r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("_-.,:+/@", r)):
		default:
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func batchEscape(s string) string {
	return `"` + strings.NewReplacer(`"`, `""`, `$`, `\$`, `\`, `\\`).Replace(s) + `"`
}

func powershellEscape(s string) string {
	return strings.NewReplacer(" ", "` ", "'", "`'", "`", "``", "|", "`|", "\n", "`\n", "$", "`$", `"`, "\\`\"").Replace(s)
}

const shellBlanks = " \t\n\v\f\r"

// shellSplit splits a line into words, whose quotes and backslashes it removes.
func shellSplit(c *call) (data.Value, error) {
	line := eval.RubyText(c.Args[0])
	var words []data.Value
	var word strings.Builder
	for rest := strings.TrimLeft(line, shellBlanks); rest != ""; {
		n, part := shellPart(rest)
		if n == 0 {
			return undef, eval.Errorf("Unmatched quote: %s", rest)
		}
		word.WriteString(part)
		rest = rest[n:]
		if rest == "" || strings.IndexByte(shellBlanks, rest[0]) >= 0 {
			words = append(words, str(word.String()))
			word.Reset()
			rest = strings.TrimLeft(rest, shellBlanks)
		}
	}
	return data.OfList(words), nil
}

// shellPart returns how long the quotation, the escape or the plain text is that a line
// begins with, and what it means. The length is 0 if a quote has no end.
func shellPart(s string) (n int, meaning string) {
	switch s[0] {
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 {
			return 0, ""
		}
		return end + 2, s[1 : end+1]
	case '"':
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '"':
				return i + 1, meaning
			case s[i] == '\\' && i+1 < len(s):
				i++
				if strings.IndexByte("$`\"\\\n", s[i]) < 0 {
					meaning += `\`
				}
				meaning += s[i : i+1]
			default:
				meaning += s[i : i+1]
			}
		}
		return 0, ""
	case '\\':
		if len(s) == 1 {
			return 1, `\`
		}
		return 2, s[1:2]
	}
	if end := strings.IndexAny(s, shellBlanks+`\'"`); end >= 0 {
		return end, s[:end]
	}
	return len(s), s
}
