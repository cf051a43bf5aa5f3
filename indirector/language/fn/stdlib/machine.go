package stdlib

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// machine are functions of files, modules, the clock and passwords.
func machine() map[string]older {
	loading := func(name string, parse func(c *call, text string) (data.Value, error)) older {
		return older{least: 1, wrong: name + "(): Wrong number of arguments given (%d for minimum 1)", do: func(c *call) (data.Value, error) {
			return load(c, name, parse)
		}}
	}
	return map[string]older{
		"get_module_path":      {least: 1, most: 1, wrong: "get_module_path(): Wrong number of arguments, expects one", do: modulePath},
		"glob":                 {least: 1, most: 1, wrong: "glob(): Wrong number of arguments given (%d for 1)", do: glob},
		"load_module_metadata": {least: 1, most: 2, wrong: "load_module_metadata(): Wrong number of arguments, expects one or two", do: moduleMetadata},
		"loadjson": loading("loadjson", func(c *call, text string) (data.Value, error) {
			return format.DecodePSON([]byte(text), format.Limits{Grow: c.grow})
		}),
		"loadyaml": loading("loadyaml", parseYAML),
		"pry": {statement: true, do: func(*call) (data.Value, error) {
			return undef, refusef("pry(): Requires the 'pry' rubygem to use, but it was not found")
		}},
		"pw_hash":          {least: 3, most: 3, wrong: "pw_hash(): Wrong number of arguments given (%d for 3)", do: passwordHash},
		"str2saltedpbkdf2": {least: 3, most: 3, wrong: "str2saltedpbkdf2(): wrong number of arguments (%d for 3)", do: saltedPBKDF2},
		"time":             {most: 1, wrong: "time(): Wrong number of arguments given %d for 0 or 1", do: timeOf},
	}
}

func modulePath(c *call) (data.Value, error) {
	dir, err := c.moduleDir(c.Args[0])
	return str(dir), err
}

func (c *call) moduleDir(name data.Value) (string, error) {
	if c.set.ModuleDir != nil {
		if dir, ok := c.set.ModuleDir(c.Invocation, name.Text()); ok {
			return dir, nil
		}
	}
	environment, _ := c.Variable("::environment")
	return "", refusef("Could not find module %s in environment %s", name.Text(), environment.Text())
}

// read returns a file of the machine.
func (c *call) read(function, name string) ([]byte, error) {
	if c.set.Files == nil {
		return nil, eval.Unsupported(function + "(): files of the machine")
	}
	inside := strings.TrimPrefix(path.Clean(name), "/")
	if !path.IsAbs(name) || !fs.ValidPath(inside) {
		return nil, fs.ErrNotExist
	}
	b, err := fs.ReadFile(c.set.Files, inside)
	if err == nil {
		err = c.Spend(len(b))
	}
	return b, err
}

func moduleMetadata(c *call) (data.Value, error) {
	dir, err := c.moduleDir(c.Args[0])
	if err != nil {
		return undef, err
	}
	b, err := c.read("load_module_metadata", dir+"/metadata.json")
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Arg(1).Truthy():
		return data.OfHash(nil), nil
	case errors.Is(err, fs.ErrNotExist):
		return undef, refusef("load_module_metadata(): No metadata.json file for module %s", c.Args[0].Text())
	case err != nil:
		return undef, err
	}
	return format.DecodePSON(b, format.Limits{Grow: c.grow})
}

// load reads a file. Addresses are refused whatever stands for a failure: an answer must
// not depend on who asks.
func load(c *call, function string, parse func(c *call, text string) (data.Value, error)) (data.Value, error) {
	name := c.Args[0]
	if !isString(name) {
		if c.Arg(1).Truthy() {
			return c.Args[1], nil
		}
		return undef, noMethod("start_with?", name)
	}
	if strings.HasPrefix(name.Str(), "http://") || strings.HasPrefix(name.Str(), "https://") {
		return undef, eval.Unsupported(function + "(): addresses of the network")
	}
	b, err := c.read(function, name.Str())
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return undef, err
	case errors.Is(err, fs.ErrNotExist):
		c.Log("warning", "Can't load '"+name.Str()+"' File does not exist!")
		return c.Arg(1), nil
	}
	v := undef
	if err == nil {
		v, err = parse(c, string(b))
	}
	if err != nil && !c.Arg(1).Truthy() {
		return undef, err
	}
	if err != nil || !v.Truthy() {
		return c.Arg(1), nil
	}
	return v, nil
}

// glob lists files by patterns: * and ? within a name, ** for any directories, {a,b} for
// one of several.
func glob(c *call) (data.Value, error) {
	if !isString(c.Args[0]) && !isList(c.Args[0]) {
		return undef, refusef("glob(): Requires either array or string to work")
	}
	if c.set.Files == nil {
		return undef, eval.Unsupported("glob(): files of the machine")
	}
	var out []data.Value
	for _, pattern := range asList(c.Args[0]) {
		for _, one := range alternatives(pattern.Text()) {
			if !path.IsAbs(one) {
				continue
			}
			found, err := c.files(".", strings.Split(strings.Trim(path.Clean(one), "/"), "/"))
			if err != nil {
				return undef, err
			}
			for _, name := range found {
				out = append(out, str("/"+name))
			}
		}
	}
	return data.OfList(out), nil
}

// maxAlternatives bounds what braces within braces stand for.
const maxAlternatives = 1000

// alternatives returns the patterns that braces stand for.
func alternatives(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	words, end := braces(pattern, open)
	var out []string
	for _, w := range words {
		out = append(out, alternatives(pattern[:open]+w+pattern[end:])...)
		if len(out) > maxAlternatives {
			break
		}
	}
	return out
}

// braces returns the alternatives of a brace, and where it ends. There are none if it has
// no end.
func braces(s string, open int) (words []string, end int) {
	depth, from := 0, open+1
	for at := open; at < len(s); at++ {
		switch {
		case s[at] == '{':
			depth++
		case s[at] == ',' && depth == 1:
			words, from = append(words, s[from:at]), at+1
		case s[at] == '}' && depth == 1:
			return append(words, s[from:at]), at + 1
		case s[at] == '}':
			depth--
		}
	}
	return nil, len(s)
}

// files returns the names below a directory that match the parts of a pattern, sorted.
func (c *call) files(dir string, pattern []string) ([]string, error) {
	if err := c.Step(); err != nil {
		return nil, err
	}
	if len(pattern) == 0 {
		return []string{dir}, nil
	}
	if pattern[0] == "**" {
		out, err := c.files(dir, pattern[1:])
		if err != nil {
			return nil, err
		}
		return c.below(dir, out, func(e fs.DirEntry) bool { return e.IsDir() && e.Name()[0] != '.' }, pattern)
	}
	if !strings.ContainsAny(pattern[0], `*?[\`) {
		name := path.Join(dir, pattern[0])
		if _, err := fs.Stat(c.set.Files, name); err != nil {
			return nil, nil
		}
		return c.files(name, pattern[1:])
	}
	return c.below(dir, nil, func(e fs.DirEntry) bool {
		ok, err := path.Match(pattern[0], e.Name())
		return err == nil && ok && (e.Name()[0] != '.' || pattern[0][0] == '.')
	}, pattern[1:])
}

func (c *call) below(dir string, out []string, is func(fs.DirEntry) bool, rest []string) ([]string, error) {
	entries, err := fs.ReadDir(c.set.Files, dir)
	if err != nil {
		return out, nil // what cannot be read has nothing in it
	}
	for _, e := range entries {
		if !is(e) {
			continue
		}
		found, err := c.files(path.Join(dir, e.Name()), rest)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func timeOf(c *call) (data.Value, error) {
	if v := c.Arg(0); v.Truthy() && !isString(v) {
		return undef, noMethod("empty?", v)
	}
	return data.OfInt(c.set.Now().Unix()), nil
}

func saltedPBKDF2(c *call) (data.Value, error) {
	args := make([]data.Value, 3)
	for i, v := range c.Args {
		args[i], _ = types.Unwrap(v)
	}
	password, salt, count := args[0], args[1], args[2]
	switch {
	case !isString(password):
		return undef, eval.Errorf("str2saltedpbkdf2(): first argument must be a string")
	case !isString(salt):
		return undef, eval.Errorf("str2saltedpbkdf2(): second argument must be a string")
	case salt.Len() < 8:
		return undef, eval.Errorf("str2saltedpbkdf2(): second argument must be at least 8 bytes long")
	case !isInteger(count):
		return undef, eval.Errorf("str2saltedpbkdf2(): third argument must be an integer")
	case count.Int() <= 40_000 || count.Int() >= 70_000:
		return undef, eval.Errorf("str2saltedpbkdf2(): third argument must be between 40,000 and 70,000")
	}
	key, err := pbkdf2.Key(sha512.New, password.Str(), []byte(salt.Str()), int(count.Int()), 128)
	if err != nil {
		return undef, err
	}
	return data.OfHash([]data.Pair{
		data.P("password_hex", str(hex.EncodeToString(key))),
		data.P("salt_hex", str(hex.EncodeToString([]byte(salt.Str())))),
		data.P("iterations", count),
	}), nil
}

// passwordHash is the function pw_hash.
func passwordHash(c *call) (data.Value, error) {
	args := make([]data.Value, 3)
	for i, v := range c.Args {
		args[i], _ = types.Unwrap(v)
	}
	password, kind, salt := args[0], args[1], args[2]
	if !isString(password) && !password.IsNil() {
		return undef, eval.Errorf("pw_hash(): first argument must be a string")
	}
	if !isString(kind) {
		return undef, eval.Errorf("pw_hash(): second argument must be a string")
	}
	prefixes := map[string]string{"md5": "1", "sha-256": "5", "sha-512": "6", "bcrypt": "2b", "bcrypt-a": "2a", "bcrypt-x": "2x", "bcrypt-y": "2y"}
	prefix := prefixes[strings.ToLower(kind.Str())]
	source, words := `\A[a-zA-Z0-9./]+\z`, "be in the set [a-zA-Z0-9./]"
	if strings.HasPrefix(prefix, "2") {
		source = `^[0-9]{2}\$[./A-Za-z0-9]{22}`
		words = "match (?-mix:" + source + ")"
	}
	switch {
	case prefix == "":
		return undef, eval.Errorf("pw_hash(): %s is not a valid hash type", kind.Str())
	case !isString(salt):
		return undef, eval.Errorf("pw_hash(): third argument must be a string")
	case salt.Str() == "":
		return undef, eval.Errorf("pw_hash(): third argument must not be empty")
	case !matches(source, salt.Str()):
		return undef, eval.Errorf("pw_hash(): characters in salt must %s", words)
	case password.Str() == "":
		return undef, nil
	}
	out, err := crypt(prefix, password.Str(), salt.Str())
	return str(out), err
}
