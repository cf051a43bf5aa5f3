package routes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
)

const off = indirector.Off

// Export writes a route table as the section of an application in routes.yaml.
// Slots that the application fills in the same way without a file are left out;
// a section without any is empty, which Puppet accepts. A cache that is
// switched off, and a ttl, cannot be written and become comments. Loading the text
// gives the same winners, but for these.
func Export(routes indirector.Routes, application string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s:\n", word(application))
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		r := routes[name]
		primary, cached := r.Primary.Winner(), r.Cache.Winner()
		var lines, comments []string
		if written(primary) {
			lines = append(lines, "terminus: "+inRuby(application, name, primary))
		}
		switch {
		case cached.Terminus == off && cached.Kind > traces.FromApplication:
			comments = append(comments, fmt.Sprintf("# the cache of %s is off, which a route cannot say", name))
		case written(cached):
			lines = append(lines, "cache: "+inRuby(application, "", cached))
		}
		if ttl := r.TTL.Winner().Terminus; ttl != "" {
			comments = append(comments, fmt.Sprintf("# the ttl of %s is %s s, which routes.yaml cannot set", name, ttl))
		}
		for _, c := range comments {
			fmt.Fprintf(&b, "  %s\n", c)
		}
		if len(lines) > 0 {
			fmt.Fprintf(&b, "  %s:\n", word(name))
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}

// written reports whether a choice needs the file.
func written(c traces.Choice) bool {
	return c.Terminus != "" && c.Terminus != off && c.Kind > traces.FromApplication
}

// inRuby keeps symbols symbols. The agent's catalog must come from the symbol
// rest, or no facts are sent. Rule IND-ROUTE-09.
func inRuby(application, indirection string, c traces.Choice) string {
	if c.Symbol || application == "agent" && indirection == "catalog" && c.Terminus == "rest" {
		return ":" + word(c.Terminus)
	}
	return word(c.Terminus)
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// word quotes what YAML would not take for the text that it is.
func word(s string) string {
	if plain.MatchString(s) && !slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}
