package types

import (
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// fileEnsure takes any text: a link to it. Rule RES-FILE-02.
func fileEnsure() *Attribute {
	a := &Attribute{
		Name: "ensure", Creates: true, Patterns: patterns("."),
		Doc: "What is there: nothing (absent), anything (present), a file, a directory or a link. Any other text is what a link leads to.",
		Choices: []Choice{
			{Name: "absent", Aliases: []string{"false"}},
			{Name: "file", Event: "file_created"},
			{Name: "present", Event: "file_created"},
			{Name: "directory", Event: "directory_created"},
			{Name: "link", Event: "link_created", Features: []string{"manages_symlinks"}},
		},
		InSync: ensureInSync, Change: ensureChange,
	}
	a.Munge = func(r *Resource, v data.Value) (data.Value, error) {
		chosen := a.Choose(v)
		if chosen.Kind() != data.Symbol {
			if err := r.Set("target", v); err != nil {
				return v, err
			}
			chosen = data.OfSymbol("link")
		}
		if chosen.Str() == "link" && r.Value("links").Str() != "follow" {
			return chosen, r.Set("links", data.OfSymbol("manage"))
		}
		return chosen, nil
	}
	return a
}

// ensureInSync: what is there stays with replace => false. Rules RES-FILE-03 and RES-FILE-20.
func ensureInSync(r *Resource, is data.Value) (bool, error) {
	if !isAbsent(is) && !r.Value("replace").Bool() {
		return true, nil
	}
	if r.Value("ensure").Str() == "present" {
		return !is.IsNil() && !isAbsent(is), nil
	}
	return r.Matches("ensure", is), nil
}

// ensureChange names the content that a new file gets.
func ensureChange(r *Resource, is, should data.Value) string {
	if s := should.Str(); s != "file" && s != "present" || !r.Has("content") {
		return r.usualChange(r.Type.Attribute("ensure"), is, should)
	}
	return contentChange(r, absent(), r.Value("content"))
}

func contentChange(_ *Resource, is, should data.Value) string {
	switch {
	case isAbsent(is):
		return "defined content as '" + should.Text() + "'"
	case isAbsent(should):
		return "undefined content from '" + is.Text() + "'"
	}
	return "content changed '" + is.Text() + "' to '" + should.Text() + "'"
}

// mungeContent keeps the checksum; Original has the text. What is a checksum already
// stays, and its content is taken from the filebucket. Rule RES-FILE-10.
func mungeContent(r *Resource, v data.Value) (data.Value, error) {
	r.attribute(r.Type.Attribute("checksum"))
	switch {
	case isAbsent(v):
		return v, nil
	case v.Kind() != data.String:
		return v, badArgument("no implicit conversion of %s into String", data.RubyClass(v))
	case IsChecksum(v.Str()):
		return r.checksumAsContent(v)
	}
	return data.OfString(Sum(checksumKind(r), v.Str())), nil
}

// SetSum makes the content of a file what has a checksum, "{sha256}2cf2...": that of its
// source.
func (r *Resource) SetSum(sum string) {
	x := r.attribute(r.Type.Attribute("content"))
	x.should = []data.Value{data.OfString(sum)}
	kind, _, _ := strings.Cut(strings.TrimPrefix(sum, "{"), "}")
	if c := r.attribute(r.Type.Attribute("checksum")); c.should == nil {
		c.should = []data.Value{data.OfSymbol(kind)}
	}
}

func (r *Resource) checksumAsContent(v data.Value) (data.Value, error) {
	if r.File == "" || r.Line == 0 {
		return v, refuse("Need either :file and :line, or :key")
	}
	r.deprecated("Using a checksum in a file's \"content\" property is deprecated. The ability to use a checksum to retrieve content from the filebucket using the \"content\" property will be removed in a future release. The literal value of the \"content\" property will be written to the file. The checksum retrieval functionality is being replaced by the use of static catalogs. See https://puppet.com/docs/puppet/latest/static_catalogs.html for more information.")
	return v, nil
}

func checksumKind(r *Resource) string {
	if v := r.Value("checksum"); !v.IsNil() {
		return v.Text()
	}
	kind, _ := r.Host.Setting("digest_algorithm")
	return kind
}

// targetInSync: a link is left alone where it is not to be replaced.
func targetInSync(r *Resource, is data.Value) (bool, error) {
	should := r.Value("target")
	if should.Kind() == data.Symbol && should.Str() == "notlink" || recurses(r) {
		return true, nil
	}
	if !r.Value("replace").Bool() && !isAbsent(is) {
		return true, nil
	}
	return r.Matches("target", is), nil
}

func recurses(r *Resource) bool {
	v := r.Value("recurse")
	return v.Bool() || v.Str() == "remote"
}

func validateFileGroup(_ *Resource, v data.Value) error {
	if !v.Truthy() || v.Kind() == data.String && v.Str() == "" {
		return refuse("Invalid group name '%s'", v.Inspect())
	}
	return nil
}

func validateMode(_ *Resource, v data.Value) error {
	if v.Kind() != data.String {
		return refuse("The file mode specification must be a string, not '%s'", data.RubyClass(v))
	}
	if !ValidMode(v.Str()) {
		return refuse("The file mode specification is invalid: %s", v.Inspect())
	}
	return nil
}

func mungeMode(_ *Resource, v data.Value) (data.Value, error) {
	return data.OfString(numericMode(v.Str())), nil
}

func unmungeMode(v data.Value) data.Value { return data.OfString(showMode(v.Str())) }

// modeInSync compares a mode with what is there, "0644". Whether it is a directory, or a
// link that is not managed, the provider knows.
func modeInSync(r *Resource, is data.Value) (bool, error) {
	dir := r.Value("ensure").Str() == "directory"
	if len(r.Should("mode")) == 0 {
		return true, nil
	}
	for _, want := range r.Should("mode") {
		now, err := strconv.ParseUint(is.Str(), 8, 32)
		if err != nil {
			return false, nil
		}
		mode, err := ApplyMode(want.Str(), uint32(now), dir)
		if err != nil || mode == uint32(now) {
			return err == nil, err
		}
	}
	return false, nil
}

// modeChange shows what a symbolic mode makes of the mode that is there.
func modeChange(r *Resource, is, should data.Value) string {
	a := r.Type.Attribute("mode")
	if digits.MatchString(should.Str()) {
		return r.usualChange(a, is, should)
	}
	now, _ := strconv.ParseUint(is.Str(), 8, 32)
	mode, err := ApplyMode(should.Str(), uint32(now), r.Value("ensure").Str() == "directory")
	if err != nil {
		return r.usualChange(a, is, should)
	}
	return r.usualChange(a, is, data.OfString(strconv.FormatUint(uint64(mode), 8))) + " (" + should.Str() + ")"
}

func showModeValue(_ *Resource, v data.Value) string {
	if isAbsent(v) {
		return Display(v)
	}
	return "'" + padded(v.Text()) + "'"
}

// mungeBackup: true is an extension. Rule RES-FILE-18.
func mungeBackup(_ *Resource, v data.Value) (data.Value, error) {
	if v.Kind() == data.List && v.Len() == 0 {
		v = data.Value{}
	}
	v = first(v)
	switch word(v) {
	case "false":
		return data.OfBool(false), nil
	case "true":
		return data.OfString(".puppet-bak"), nil
	}
	if v.Kind() != data.String {
		return v, refuse("Invalid backup type %s", v.Inspect())
	}
	return v, nil
}

func mungeRecurse(_ *Resource, v data.Value) (data.Value, error) {
	switch word(v) {
	case "true", "false":
		return data.OfBool(word(v) == "true"), nil
	case "remote":
		return data.OfSymbol("remote"), nil
	}
	return v, refuse("Invalid recurse value %s", v.Inspect())
}

func mungeRecurseLimit(_ *Resource, v data.Value) (data.Value, error) {
	switch {
	case isInteger(v):
		return v, nil
	case v.Kind() == data.String && digits.MatchString(v.Str()):
		return integer(v.Str())
	}
	return v, refuse("Invalid recurselimit value %s", v.Inspect())
}

func validateIgnore(r *Resource, v data.Value) error {
	if k := v.Kind(); k == data.List || k == data.String || k == data.Bool && !v.Bool() {
		return nil
	}
	return r.at(refuse("Ignore must be a string or an Array"))
}

func mungeSourcePermissions(r *Resource, v data.Value) (data.Value, error) {
	if v.Text() != "ignore" && r.File != "" && r.Line > 0 {
		r.deprecated("The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.")
	}
	return data.OfSymbol(v.Text()), nil
}
