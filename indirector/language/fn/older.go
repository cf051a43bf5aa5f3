package fn

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// older are functions of Puppet's older kind, which check their arguments by themselves.
func older() map[string]do {
	out := map[string]do{
		"fail": func(c *eval.Invocation) (data.Value, error) {
			return undef, eval.Errorf("%s", oldJoined(c.Args))
		},
		"sprintf": func(c *eval.Invocation) (data.Value, error) {
			if err := atLeastOne(c, "sprintf"); err != nil {
				return undef, err
			}
			if c.Args[0].Kind() != data.String {
				return undef, eval.Errorf("%s", eval.NoString(c.Args[0]))
			}
			args := slices.Clone(c.Args[1:])
			for i, v := range args {
				if _, ok := types.AsType(v); ok {
					args[i] = data.OfString(eval.OldText(v))
				}
			}
			s, err := Sprintf(c.Args[0].Str(), args)
			if err == nil {
				err = c.Spend(len(s))
			}
			return data.OfString(s), err
		},
		"shellquote": func(c *eval.Invocation) (data.Value, error) {
			words := flat(c.Args)
			out := make([]string, len(words))
			for i, w := range words {
				if w.Kind() != data.String {
					return undef, eval.Errorf("undefined method `length' for %s:%s", w.Inspect(), eval.RubyClass(w))
				}
				out[i] = shellQuoted(w.Str())
			}
			return data.OfString(strings.Join(out, " ")), nil
		},
		"fqdn_rand": fqdnRand,
		"file":      file,
		"generate":  generate,
	}
	for name, sum := range map[string]func([]byte) []byte{
		"md5":    func(b []byte) []byte { s := md5.Sum(b); return s[:] },
		"sha1":   func(b []byte) []byte { s := sha1.Sum(b); return s[:] },
		"sha256": func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
		"digest": func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
	} {
		out[name] = func(c *eval.Invocation) (data.Value, error) {
			if len(c.Args) != 1 {
				return undef, eval.Errorf("%s(): Wrong number of arguments given (%d for 1)", name, len(c.Args))
			}
			if c.Args[0].Kind() != data.String {
				return undef, eval.Errorf("%s", eval.NoString(c.Args[0]))
			}
			return data.OfString(hex.EncodeToString(sum([]byte(c.Args[0].Str())))), nil
		}
	}
	return out
}

// oldJoined joins the texts of values; hashes and lists are written as Ruby does.
func oldJoined(args []data.Value) string {
	words := make([]string, len(args))
	for i, v := range args {
		words[i] = eval.OldText(v)
	}
	return strings.Join(words, " ")
}

func atLeastOne(c *eval.Invocation, name string) error {
	if len(c.Args) == 0 {
		return eval.Errorf("%s(): Wrong number of arguments given (0 for minimum 1)", name)
	}
	return nil
}

const (
	safe      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-"
	dangerous = "!\"`$\\" // even within double quotes
)

// shellQuoted returns a word that a shell takes as it is.
func shellQuoted(s string) string {
	switch {
	case s != "" && strings.Trim(s, safe) == "":
		return s
	case !strings.ContainsAny(s, dangerous):
		return `"` + s + `"`
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if strings.IndexByte(dangerous, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}
