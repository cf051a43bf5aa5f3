package types

import (
	"path"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// fileType is a file, a directory or a link. Rules RES-FILE-01 to RES-FILE-22.
func fileType() *Type {
	return Define(Type{
		Name: "file", Doc: "A file, a directory or a symbolic link, with its content, owner and permissions.",
		Namevars: []string{"path"}, Features: []string{"manages_symlinks"},
		EvalGenerates: true, Instances: Own, Providers: fileProviders,
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
		{
			Name: "owner", Doc: "The user that owns it, by name or number.",
			ShowIs: accountShown("owner"), ShowShould: accountShown("owner"),
		},
		{
			Name: "group", Doc: "The group that owns it, by name or number.", Validate: validateFileGroup,
			ShowIs: accountShown("group"), ShowShould: accountShown("group"),
		},
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
			Name:    "sel" + part,
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
	if strings.Trim(v.Str(), "/") == "" {
		return v, nil
	}
	return data.OfString(path.Clean(r.expanded(v.Str()))), nil
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
	case kind != "" && !slices.Contains(Checksums, kind) && !r.Value("content").IsNil():
		return refuse("there is no checksum '%s'", kind)
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
	if !sum.Truthy() {
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
