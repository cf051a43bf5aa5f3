package syntax

import (
	"strconv"
	"strings"
)

// What keeps a text from being more than that.
var (
	escapesSingle  = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	escapesQuoted  = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "\n", `\n`)
	escapesHeredoc = strings.NewReplacer(`\`, `\\`, `$`, `\$`, "\r", `\r`)
	eppEscapes     = strings.NewReplacer("<%", "<%%", "%>", "%%>")
)

func (p *printer) quoted(text string) {
	if strings.Contains(text, "\n") {
		p.flush()
	}
	p.put("'", escapesSingle.Replace(text), "'")
}

// number writes a number in the base that it had.
func (p *printer) number(n Node) {
	if f, ok := n.(*Float); ok {
		p.put(strings.ReplaceAll(rubyFloat(f.Value), "e+", "e"))
		return
	}
	i := n.(*Integer)
	prefix := map[int]string{8: "0", 16: "0x"}[i.Radix]
	p.put(prefix + strconv.FormatInt(i.Value, i.Radix))
}

// segments writes the parts of a string that interpolates.
func (p *printer) segments(all []Node, escapes *strings.Replacer) {
	for _, n := range all {
		if t, ok := n.(*Text); ok {
			p.put("${", t.Expr)
			p.flush()
			p.put("}")
			continue
		}
		p.put(escapes.Replace(n.(*String).Value))
	}
}

// heredoc writes the tag, and lets the text wait. All escapes are on, so that the
// text can be anything; the hyphen takes away the line break before the tag.
func (p *printer) heredoc(n *Heredoc) {
	tag := p.tag()
	written := tag
	text := &printer{source: p.source, tags: p.tags, classes: p.classes}
	if c, ok := n.Text.(*Concat); ok {
		written = `"` + tag + `"`
		text.segments(c.Segments, escapesHeredoc)
		p.tags = text.tags
	} else {
		text.put(escapesHeredoc.Replace(n.Text.(*String).Value))
	}
	syntax := ""
	if n.Syntax != "" {
		syntax = ":" + n.Syntax
	}
	p.put("@(", written, syntax, "/)")
	p.waiting = append(p.waiting, text.b.String()+"\n- "+tag+"\n")
}

// tag returns a tag that stands nowhere in the source.
func (p *printer) tag() string {
	for {
		p.tags++
		if tag := "TEXT" + strconv.Itoa(p.tags); !strings.Contains(p.source, tag) {
			return tag
		}
	}
}
