package authconf

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An entry is an element of allow or deny.
type entry struct {
	deny    bool
	written string

	name       string         // in lower case; "" for other kinds
	exact      bool           // compared as it is with the lower-cased name of the client
	suffix     string         // ".example.com" of *.example.com
	pattern    *regexp.Regexp // of /…/
	anyone     bool           // *
	template   string         // with $1
	extensions []extension
}

// An extension is a required value in the certificate.
type extension struct {
	name   string // "pp_cli_auth", "subject-alt-name dns-name"
	values []string
	alt    []extension // of subject-alt-name: one of them is required
}

var (
	domain   = regexp.MustCompile(`^(\w[-\w]*\.)+[-\w]+$`)
	wildcard = regexp.MustCompile(`^\*(\.(\w[-\w]*))+$`)
	backref  = regexp.MustCompile(`\$(\d+)`)
	opaque   = regexp.MustCompile(`^\w[-.@\w]*$`)
	between  = regexp.MustCompile(`^/.*/$`)
)

// entries adds those of allow or deny to the rule, and returns them as written.
func (p *parser) entries(r *Rule, v *value, deny bool, where string) []string {
	if v == nil {
		return nil
	}
	field := "allow"
	if deny {
		field = "deny"
	}
	var written []string
	for _, one := range each(v) {
		e := entry{deny: deny}
		switch one.kind {
		case text:
			p.named(&e, r, one, field, where)
		case object:
			p.mapped(&e, r, one, field, where)
		default:
			p.fail(one.line, "%s of %s must be a name, a map, or a list of them, got %s", field, where, one.kind)
		}
		r.entries = append(r.entries, e)
		written = append(written, e.written)
	}
	return written
}

// named reads an entry that is a name.
func (p *parser) named(e *entry, r *Rule, v *value, field, where string) {
	e.written = v.text
	switch s := v.text; {
	case s == "*":
		e.anyone = true
	case domain.MatchString(s):
		e.name = strings.ToLower(s)
	case wildcard.MatchString(s):
		e.suffix = strings.ToLower(s[1:])
	case backref.MatchString(s):
		e.template = s
		groups := 0
		if r.pattern != nil {
			groups = r.pattern.NumSubexp()
		}
		for _, m := range backref.FindAllStringSubmatch(s, -1) {
			if n, err := strconv.Atoi(m[1]); err != nil || n < 1 || n > groups {
				p.fail(v.line, "%s of %s refers to $%s, and its path has %d groups", field, where, m[1], groups)
			}
		}
	case opaque.MatchString(s):
		e.name, e.exact = s, true
		if strings.ToLower(s) != s || strings.Contains(s, ".") {
			p.warn(v.line, "%s %q of %s fits nobody: names without a dot are compared in lower case, and a name with @ as a whole", field, s, where)
		}
	case between.MatchString(s):
		pattern, err := regexp.Compile(s[1 : len(s)-1])
		if err != nil {
			p.fail(v.line, "%s %q of %s: %s", field, s, where, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		e.pattern = pattern
	default:
		p.fail(v.line, "%s %q of %s is neither a name, *, *.domain, /pattern/ nor a $1", field, s, where)
	}
}

// mapped reads an entry that is a map: a certname, or extensions.
func (p *parser) mapped(e *entry, r *Rule, v *value, field, where string) {
	name, extensions, rbac := v.get("certname"), v.get("extensions"), v.get("rbac")
	switch {
	case rbac != nil:
		p.fail(rbac.line, "%s of %s: rbac needs Puppet Enterprise's service, which is not here", field, where)
	case name != nil && extensions == nil:
		p.want(name, text, "certname in "+field+" of "+where)
		p.named(e, r, name, field, where)
	case extensions != nil && name == nil:
		p.want(extensions, object, "extensions in "+field+" of "+where)
		e.extensions = p.extensions(extensions, field, where)
		if len(e.extensions) == 0 {
			p.fail(extensions.line, "extensions in %s of %s is empty, which would fit everybody", field, where)
		}
		var parts []string
		for _, x := range e.extensions {
			parts = append(parts, x.String())
		}
		e.written = "extensions " + strings.Join(parts, " and ")
	default:
		p.fail(v.line, "%s of %s must have exactly one of certname and extensions", field, where)
	}
}

func (p *parser) extensions(v *value, field, where string) []extension {
	var all []extension
	for _, at := range v.pairs {
		x := extension{name: at.key}
		if at.key == altName {
			p.want(&at.value, object, altName+" in "+field+" of "+where)
			x.alt = p.extensions(&at.value, field, where)
		} else {
			for _, one := range each(&at.value) {
				x.values = append(x.values, p.scalar(one, fmt.Sprintf("extension %q in %s of %s", at.key, field, where)))
			}
		}
		all = append(all, x)
	}
	return all
}

// altName is the one extension with parts.
const altName = "subject-alt-name"

func (x extension) String() string {
	if x.name != altName {
		return x.name + "=" + strings.Join(x.values, "|")
	}
	var parts []string
	for _, a := range x.alt {
		parts = append(parts, a.String())
	}
	return altName + " " + strings.Join(parts, " or ")
}

// matches reports whether the entry means the client. As in Puppet Server, a
// name may also be an alternative DNS name.
func (e *entry) matches(c Client, groups []string) bool {
	if len(e.extensions) > 0 {
		return !slices.ContainsFunc(e.extensions, func(x extension) bool { return !x.matches(c) })
	}
	if e.named(c.Name, groups) {
		return true
	}
	for _, name := range c.AltNames["dns-name"] {
		if e.named(name, groups) {
			return true
		}
	}
	return false
}

func (e *entry) named(name string, groups []string) bool {
	lower := strings.ToLower(name)
	switch {
	case e.anyone:
		return true
	case e.exact:
		return e.name == lower && !strings.Contains(lower, ".")
	case e.name != "":
		return e.name == lower
	case e.suffix != "":
		return strings.HasSuffix(lower, e.suffix) || lower == e.suffix[1:]
	case e.pattern != nil:
		return e.pattern.MatchString(name)
	default:
		return e.referred(lower, groups)
	}
}

// referred reports whether a name is the text of the groups. It is taken
// literally: in Puppet Server a * in a path would match every client.
func (e *entry) referred(name string, groups []string) bool {
	wanted, isPattern := e.template, between.MatchString(e.template)
	ok := true
	wanted = backref.ReplaceAllStringFunc(wanted, func(ref string) string {
		n, err := strconv.Atoi(ref[1:])
		if err != nil || n < 1 || n > len(groups) {
			ok = false
			return ""
		}
		if isPattern {
			return regexp.QuoteMeta(strings.ToLower(groups[n-1]))
		}
		return strings.ToLower(groups[n-1])
	})
	switch {
	case !ok:
		return false
	case isPattern:
		pattern, err := regexp.Compile(wanted[1 : len(wanted)-1])
		return err == nil && pattern.MatchString(name)
	case strings.HasPrefix(e.template, "*."):
		return strings.HasSuffix(name, strings.ToLower(wanted[1:]))
	}
	return strings.ToLower(wanted) == name
}

func (x extension) matches(c Client) bool {
	if x.name == altName {
		return slices.ContainsFunc(x.alt, func(a extension) bool {
			return slices.ContainsFunc(c.AltNames[a.name], func(v string) bool { return slices.Contains(a.values, v) })
		})
	}
	v, ok := c.Extensions[x.name]
	return ok && slices.Contains(x.values, v)
}

// readAll reads at most one byte more than is allowed.
func readAll(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	return string(b), err
}
