package fn

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// templates are functions of EPP. Rules LANG-EPP-02 to LANG-EPP-04.
func templates() map[string][]eval.Way {
	const parameters = `Hash[Pattern[/^\w+$/], Any] parameters?`
	const returned = "Variant[String, Sensitive[String]]"
	inline := func(c *eval.Invocation) (data.Value, error) {
		library := Library()
		if h, ok := c.Host().(Host); ok {
			library = h.Library()
		}
		return c.Render("inline_epp", c.Inline(c.Arg(0).Str(), library), c.Arg(1), true)
	}
	return map[string][]eval.Way{
		"epp":        {{Params: "String path; " + parameters, Do: epp, Returns: returned}},
		"inline_epp": {{Params: "String template; " + parameters, Do: inline, Returns: returned}},
	}
}

func epp(c *eval.Invocation) (data.Value, error) {
	h, err := hostOf(c, "epp")
	if err != nil {
		return undef, err
	}
	name := c.Arg(0).Str()
	if !strings.HasSuffix(name, ".epp") && !exists(h, name) {
		name += ".epp"
	}
	path, ok := h.Find(templatesDir, name)
	if !ok {
		return undef, eval.Errorf("Could not find template '%s'", name)
	}
	p, err := h.Template(path)
	if err != nil {
		return undef, err
	}
	return c.Render("epp", p, c.Arg(1), false)
}

// exists reports whether a name is the path of a file, not one in a module.
func exists(h Host, name string) bool {
	if !strings.HasPrefix(name, "/") {
		return false
	}
	_, ok := h.Find(templatesDir, name)
	return ok
}
