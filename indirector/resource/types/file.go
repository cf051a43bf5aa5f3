package types

import (
	"path"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// fileType is a file, a directory or a link. Rules RES-FILE-01 to RES-FILE-22.
func fileType() *Type {
	return Define(Type{
		Name: "file", Doc: "A file, a directory or a symbolic link, with its content, owner and permissions.",
		Namevars: []string{"path"}, Features: []string{"manages_symlinks"},
		EvalGenerates: true, Instances: Own, Providers: fileProviders(),
		// Slashes at the end are no part of the path.
		TitlePatterns: []TitlePattern{{`^(/|.+:/|.*[^/])/*\Z`, true, []string{"path"}}},
		Validate:      validateFile, Finish: ensureFile, Redact: redactFile,
		Require: []Auto{
			{"file", fileAncestor},
			{"user", func(r *Resource) []string { return accountName(r, "owner") }},
			{"group", func(r *Resource) []string { return accountName(r, "group") }},
		},
		Attributes: append(append(fileProperties(), fileContexts()...), fileParameters()...),
	})
}

func fileProperties() []*Attribute {
	return []*Attribute{
		fileEnsure(),
		{
			Name: "content", Doc: "The text of the file. It is compared by its checksum.", Munge: mungeContent,
			Change: contentChange,
		},
		{Name: "checksum_value", Doc: "The checksum of the source, if it is known: it is not asked of the source then."},
		{
			Name: "target", Doc: "What a link leads to. A relative one is seen from the link.",
			Choices: choices("notlink"), Patterns: patterns("."), InSync: targetInSync,
		},
		{Name: "owner", Doc: "The user that owns it, by name or number."},
		{Name: "group", Doc: "The group that owns it, by name or number.", Validate: validateFileGroup},
		{
			Name: "mode", Doc: "The permissions, in octal digits (\"0644\") or symbolic (\"u=rw,go=r\"). Directories get x where they get r, if the mode is in digits.",
			Validate: validateMode, Munge: mungeMode, Unmunge: unmungeMode, InSync: modeInSync, Change: modeChange,
			ShowIs: showModeValue, ShowShould: showModeValue,
		},
		readOnly("type", "What kind of file it is. It is for reading only."),
	}
}

// fileContexts are the parts of the context of SELinux, and the times.
func fileContexts() []*Attribute {
	var all []*Attribute
	for _, part := range []string{"user", "role", "type", "range"} {
		all = append(all, &Attribute{
			Name: "sel" + part, Event: "file_changed",
			Doc:     "The " + part + " of the context of SELinux. The default is that of the system's policy.",
			Default: func(*Resource) (data.Value, bool) { return data.Value{}, false },
		})
	}
	return append(all,
		readOnly("ctime", "When the file or its attributes changed. It is for reading only."),
		readOnly("mtime", "When the content changed. It is for reading only."))
}

func fileParameters() []*Attribute {
	return []*Attribute{
		{Name: "path", Kind: Parameter, Doc: "The whole path.", Validate: validateFilePath, Munge: mungeFilePath},
		{
			Name: "backup", Kind: Parameter, Preset: data.OfBool(false), Munge: mungeBackup,
			Doc: "Where what is replaced is kept: false for nowhere, an extension for a copy beside it (\".bak\"), else the title of a filebucket.",
		},
		{
			Name: "recurse", Kind: Parameter, Choices: choices("true", "false", "remote"),
			Validate: func(*Resource, data.Value) error { return nil }, Munge: mungeRecurse,
			Doc: "Whether what is in a directory is managed, too: all of it, or only what the source has (remote).",
		},
		{Name: "recurselimit", Kind: Parameter, Doc: "How deep. 0 is the directory alone.", Patterns: patterns("^[0-9]+$"), Munge: mungeRecurseLimit},
		{
			Name: "max_files", Kind: Parameter, Preset: data.OfInt(0), Patterns: patterns("^[0-9]+$", "^-1$"),
			Doc: "How many files recursion may find. 0 warns from a thousand on, -1 never.",
		},
		boolean(Attribute{Name: "replace", Preset: data.OfSymbol("true"), Doc: "Whether the content of a file that is there is replaced."}),
		boolean(Attribute{Name: "force", Preset: data.OfBool(false), Doc: "Whether directories may be replaced or removed, with all that is in them."}),
		{Name: "ignore", Kind: Parameter, Doc: "Names that recursion leaves out, with wildcards.", Validate: validateIgnore},
		{
			Name: "links", Kind: Parameter, Choices: choices("follow", "manage"), Preset: data.OfSymbol("manage"),
			Doc: "Whether a link is meant itself, or what it leads to.",
		},
		boolean(Attribute{Name: "purge", Preset: data.OfSymbol("false"), Doc: "Whether what is in the directory and nowhere managed is removed."}),
		{
			Name: "sourceselect", Kind: Parameter, Choices: choices("first", "all"), Preset: data.OfSymbol("first"),
			Doc: "Whether the first source that is there counts, or all, the earliest first.",
		},
		boolean(Attribute{Name: "show_diff", Preset: data.OfSymbol("true"), Doc: "Whether differences are logged. The setting show_diff must allow it, too."}),
		{
			Name: "staging_location", Kind: Parameter, Validate: validateFilePath, Munge: mungeFilePath,
			Doc: "The directory in which the new file is written before it takes its place.",
		},
		{Name: "validate_cmd", Kind: Parameter, Doc: "A command that checks the new file, which it gets in place of %."},
		{Name: "validate_replacement", Kind: Parameter, Preset: data.OfString("%"), Doc: "What stands for the new file in that command."},
		providerParameter(),
		{
			Name: "checksum", Kind: Parameter, Choices: choices(Checksums...), Setting: "digest_algorithm",
			Validate: func(*Resource, data.Value) error { return nil },
			Doc:      "How contents are compared: by a digest, by times, or (none) not at all.",
		},
		{
			Name: "source", Kind: Parameter, Validate: validateSource, Munge: mungeSource,
			Doc: "Where the content is from: a path, or a URL with puppet, file, http or https. Of several, the first that is there.",
		},
		{
			Name: "source_permissions", Kind: Parameter, Preset: data.OfSymbol("ignore"),
			Choices: choices("use", "use_when_creating", "ignore"), Munge: mungeSourcePermissions,
			Doc: "Whether owner, group and mode are those of the source. Deprecated.",
		},
		{
			Name: "selinux_ignore_defaults", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
			Doc: "Whether the defaults of SELinux are left out.",
		},
	}
}

func readOnly(name, doc string) *Attribute {
	return &Attribute{Name: name, Doc: doc, Validate: func(*Resource, data.Value) error {
		return failure(name + " is read-only")
	}}
}

func validateFilePath(r *Resource, v data.Value) error {
	if !r.absolute(v) {
		return refuse("File paths must be fully qualified, not '%s'", v.Text())
	}
	return nil
}

func mungeFilePath(r *Resource, v data.Value) (data.Value, error) {
	return data.OfString(r.expanded(v.Str())), nil
}

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
		return v, badArgument("content is text, not %s", v.Inspect())
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
		return refuse("The file mode specification must be a string, not '%s'", class(v))
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
	case v.Kind() == data.Int:
		return v, nil
	case v.Kind() == data.String && digits.MatchString(v.Str()):
		return integer(v.Str())
	}
	return v, refuse("Invalid recurselimit value %s", v.Inspect())
}

func validateIgnore(_ *Resource, v data.Value) error {
	if k := v.Kind(); k == data.List || k == data.String || k == data.Bool && !v.Bool() {
		return nil
	}
	return refuse("Ignore must be a string or an Array")
}

func mungeSourcePermissions(r *Resource, v data.Value) (data.Value, error) {
	if v.Text() != "ignore" && r.File != "" && r.Line > 0 {
		r.deprecated("The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.")
	}
	return data.OfSymbol(v.Text()), nil
}

// validateFile checks what goes together. Rule RES-FILE-01.
func validateFile(r *Resource) error {
	creators := 0
	for _, name := range []string{"content", "target", "source"} {
		if r.Value(name).Truthy() {
			creators++
		}
	}
	kind := r.Value("checksum").Text()
	switch {
	case creators > 1:
		return refuse("You cannot specify more than one of content, source, target")
	case !r.Has("source") && r.Value("recurse").Str() == "remote":
		return refuse("You cannot specify a remote recursion without a source")
	case kind == "none" && r.Has("source"):
		return refuse("You cannot specify source when using checksum 'none'")
	case (kind == "none" || kind == "ctime" || kind == "mtime") && !r.Value("content").IsNil():
		return refuse("You cannot specify content when using checksum '%s'", kind)
	}
	if !r.Value("recurse").Truthy() && r.Has("recurselimit") {
		r.log("warning", "Possible error: recurselimit is set but not recurse, no recursion will happen")
	}
	return r.settleContent()
}

// settleContent computes the checksum of the content once its kind is known.
func (r *Resource) settleContent() error {
	if text := lastText(r.Original("content")); text != nil {
		r.values["content"].should = []data.Value{data.OfString(Sum(checksumKind(r), *text))}
	}
	sum := r.Value("checksum_value")
	if sum.IsNil() {
		return nil
	}
	if kind := r.Value("checksum"); !kind.IsNil() && !validChecksum(kind.Text(), sum.Text()) {
		return refuse("Checksum value '%s' is not a valid checksum type %s", sum.Text(), kind.Text())
	}
	if r.Value("content").IsNil() && !r.Has("source") {
		r.log("warning", "Checksum value is ignored unless content or source are specified")
	}
	return nil
}

// lastText is the last of several contents, which is the one that counts.
func lastText(all []data.Value) *string {
	var text *string
	for _, v := range all {
		if s, ok := v.AsStr(); ok && v.Kind() == data.String && !IsChecksum(s) {
			text = &s
		}
	}
	return text
}

// ensureFile: a target makes a link, a content a file. Rule RES-TYPE-07.
func ensureFile(r *Resource) error {
	switch {
	case !r.Value("ensure").IsNil():
		return nil
	case r.Value("target").Truthy():
		return r.Set("ensure", data.OfSymbol("link"))
	case r.Value("content").Truthy():
		return r.Set("ensure", data.OfSymbol("file"))
	}
	return nil
}

// redactFile: messages about ensure show the content, too.
func redactFile(r *Resource, names []string) []string {
	var left []string
	for _, name := range names {
		switch name {
		case "content":
			r.MarkSensitive("ensure")
			left = append(left, name)
		case "source":
			r.MarkSensitive("source")
			r.MarkSensitive("content")
			r.MarkSensitive("ensure")
		default:
			left = append(left, name)
		}
	}
	return left
}

// fileAncestor is the nearest directory above that is in the catalog, and the target.
// Rule RES-FILE-21.
func fileAncestor(r *Resource) []string {
	var files []string
	for _, dir := range ancestors(r.Value("path").Str()) {
		if r.Catalog.Resource(Ref{"File", dir}) != nil {
			files = append(files, dir)
			break
		}
	}
	if target := r.Value("target"); target.Truthy() {
		files = append(files, target.Text())
	}
	return files
}

// ancestors are the directories above a path, the nearest first.
func ancestors(p string) []string {
	var all []string
	for p != "/" && strings.HasPrefix(p, "/") {
		p = path.Dir(p)
		all = append(all, p)
	}
	return all
}

// accountName is an owner that is no number.
func accountName(r *Resource, property string) []string {
	given := r.Original(property)
	if len(given) == 0 || given[0].Kind() == data.Int || digits.MatchString(given[0].Text()) {
		return nil
	}
	return []string{given[0].Text()}
}
