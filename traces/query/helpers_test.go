package query_test

import "strings"

func contains(s, part string) bool        { return strings.Contains(s, part) }
func repeat(s string, n int) string       { return strings.Repeat(s, n) }
func cut(s string) (string, string, bool) { return strings.Cut(s, "_") }

// replaceName makes an instance of step.NAME.took, opt.NAME and flag.NAME.
func replaceName(field string) string {
	name := map[string]string{"step": "cache-read", "opt": "links", "flag": "ignore_cache"}
	return strings.ReplaceAll(field, "NAME", name[strings.Split(field, ".")[0]])
}
