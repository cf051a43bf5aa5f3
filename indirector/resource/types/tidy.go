package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// tidyType removes old or large files. Rule RES-MISC-02.
func tidyType() *Type {
	return Define(Type{
		Name: "tidy", Doc: "Removes files by their age, size or name. One criterion is enough; without any, all are removed.",
		Namevars: []string{"path"}, Repeats: true, Generates: true, Instances: Own,
		// backup is ignored, whatever it is.
		Finish: func(r *Resource) error { return r.Set("backup", data.OfBool(false)) },
		Attributes: []*Attribute{
			{Name: "path", Kind: Parameter, Doc: "The file or directory.", Munge: mungeTidyPath},
			{
				Name: "recurse", Kind: Parameter, Choices: choices("true", "false", "inf"), Patterns: patterns("^[0-9]+$"),
				Validate: func(*Resource, data.Value) error { return nil }, Munge: mungeTidyRecurse,
				Doc: "Whether files in the directory are looked at, or how deep.",
			},
			{
				Name: "max_files", Kind: Parameter, Preset: data.OfInt(0), Patterns: patterns("^[0-9]+$"),
				Doc: "How many files recursion may find. 0 warns from a thousand on.",
			},
			{Name: "matches", Kind: Parameter, Doc: "Names that are removed, with wildcards.", Munge: mungeMatches},
			{Name: "backup", Kind: Parameter, Doc: "It is ignored: nothing is kept."},
			{Name: "age", Kind: Parameter, Doc: "Removed is what is older: a number with s, m, h, d or w; without, days.", Munge: mungeAge},
			{Name: "size", Kind: Parameter, Doc: "Removed is what is larger: a number with b, k, m, g or t; without, k.", Munge: mungeSize},
			{
				Name: "type", Kind: Parameter, Choices: choices("atime", "mtime", "ctime"), Preset: data.OfSymbol("atime"),
				Doc: "Which time the age is counted from.",
			},
			boolean(Attribute{Name: "rmdirs", Doc: "Whether directories are removed, too, with all that is in them."}),
		},
	})
}

func mungeTidyPath(r *Resource, v data.Value) (data.Value, error) {
	s, err := textOf(v)
	if err != nil {
		return v, badArgument("%v", err)
	}
	if rest, ok := strings.CutPrefix(s, "~"); ok {
		user, below, _ := strings.Cut(rest, "/")
		if user == "" {
			user = currentUser(r.Host).Text()
		}
		dir := home(r.Host, user)
		if dir == "" {
			return v, badArgument("user %s doesn't exist", user)
		}
		s = dir + "/" + below
	}
	return data.OfString(r.expanded(s)), nil
}

func mungeTidyRecurse(_ *Resource, v data.Value) (data.Value, error) {
	switch w := word(v); {
	case w == "true", w == "inf":
		return data.OfBool(true), nil
	case w == "false":
		return data.OfBool(false), nil
	case isInteger(v):
		return v, nil
	case v.Kind() == data.String && digits.MatchString(w):
		return integer(w)
	}
	return v, badArgument("Invalid recurse value %s", v.Inspect())
}

func mungeMatches(r *Resource, v data.Value) (data.Value, error) {
	switch r.Value("recurse").Text() {
	case "", "0", "false":
		return v, refuse("Tidy can't use matches with recurse 0, false, or undef")
	}
	return data.OfList(flat(v)), nil
}

var (
	ageUnits  = map[string]int64{"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
	sizeUnits = map[string]int64{"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
	withUnit  = regexp.MustCompile(`(?m)^([0-9]+)(\w)\w*$`)
)

// mungeAge makes seconds.
func mungeAge(_ *Resource, v data.Value) (data.Value, error) {
	number, unit, ok := measured(v, "d")
	if !ok {
		return v, refuse("Invalid tidy age %s", v.Text())
	}
	if ageUnits[unit] == 0 {
		return v, refuse("Invalid age unit '%s'", unit)
	}
	return product(number, ageUnits[unit])
}

// mungeSize makes bytes.
func mungeSize(_ *Resource, v data.Value) (data.Value, error) {
	number, unit, ok := measured(v, "k")
	if !ok {
		return v, badArgument("a size is a number with b, k, m, g or t")
	}
	if sizeUnits[unit] == 0 {
		return v, refuse("Invalid size unit '%s'", unit)
	}
	return product(number, sizeUnits[unit])
}

// measured splits "2mb" into the number and the first letter of its unit. Of a number of
// several digits Puppet takes the last for its unit.
func measured(v data.Value, usual string) (number, unit string, ok bool) {
	if v.Kind() != data.String {
		return "", "", false
	}
	if m := withUnit.FindStringSubmatch(v.Str()); m != nil {
		return m[1], strings.ToLower(m[2]), true
	}
	return digits.FindString(v.Str()), usual, digits.MatchString(v.Str())
}

func product(number string, by int64) (data.Value, error) {
	n, err := integer(number)
	if err == nil && (n.Kind() == data.Big || n.Int() > (1<<62)/by) {
		return n, badArgument("%s is too much", number)
	}
	return data.OfInt(n.Int() * by), err
}
