package types

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// execType runs a command. Rules RES-EXEC-01 to RES-EXEC-06.
func execType() *Type {
	return Define(Type{
		Name: "exec", Doc: "Runs a command, unless a check forbids it.",
		Namevars: []string{"command"}, Repeats: true, Refreshable: true, Instances: Own,
		Providers: execProviders, Validate: func(r *Resource) error { return validateCommand(r, r.Value("command")) },
		Require: []Auto{{"file", execFiles}, {"user", execUser}},
		Redact:  redactExec,
		Attributes: []*Attribute{
			{
				Name: "returns", Doc: "The exit codes that are no failure.", All: true, Event: "executed_command",
				Preset: data.OfString("0"), Munge: mungeText,
				Change: func(*Resource, data.Value, data.Value) string { return "executed successfully" },
			},
			{
				Name: "command", Kind: Parameter, Validate: validateExecCommand,
				Doc: "The command: a text, or a list of the program and its arguments.",
			},
			{
				Name: "path", Kind: Parameter, Validate: validatePath, Munge: mungePath,
				Doc: "Where programs are searched that are not named by their whole path: a list, or directories with colons between them.",
			},
			{Name: "user", Kind: Parameter, Doc: "As whom the command is run. Only root can choose.", Validate: validateExecUser},
			{Name: "group", Kind: Parameter, Doc: "As which group the command is run."},
			pathParameter(Attribute{Name: "cwd", Doc: "The directory in which the command is run. It must be there."}, false),
			{
				Name: "logoutput", Kind: Parameter, Choices: choices("true", "false", "on_failure"), Preset: data.OfSymbol("on_failure"),
				Doc: "Whether the output is logged.",
			},
			{Name: "refresh", Kind: Parameter, Doc: "The command of a refresh. The default is the command itself.", Validate: validateCommand},
			{Name: "environment", Kind: Parameter, Doc: "Variables, as NAME=value.", Validate: validateEnvironment},
			{Name: "umask", Kind: Parameter, Doc: "The umask of the command, in octal digits.", Munge: mungeUmask},
			{
				Name: "timeout", Kind: Parameter, Preset: data.OfInt(300), Munge: mungeTimeout,
				Doc: "After how many seconds the command is ended. 0 is never.",
			},
			{Name: "tries", Kind: Parameter, Preset: data.OfInt(1), Munge: mungeTries, Doc: "How often the command is tried."},
			{Name: "try_sleep", Kind: Parameter, Preset: data.OfInt(0), Munge: mungeTrySleep, Doc: "Seconds between two tries."},
			{
				Name: "refreshonly", Kind: Parameter, Choices: choices("true", "false"),
				Doc: "Whether the command is run only for a refresh.",
			},
			pathParameter(Attribute{Name: "creates", Doc: "The command is not run if these files are there."}, true),
			{Name: "unless", Kind: Parameter, Doc: "The command is not run if one of these commands succeeds.", Validate: validateChecks},
			{Name: "onlyif", Kind: Parameter, Doc: "The command is run only if all of these commands succeed.", Validate: validateChecks},
		},
	})
}

func validateExecCommand(_ *Resource, v data.Value) error {
	if k := v.Kind(); k != data.String && k != data.List {
		return refuse("Command must be a String or Array<String>, got value of class %s", data.RubyClass(v))
	}
	return nil
}

var inQuotes = regexp.MustCompile(`(?m)^"([^"]+)"|^'([^']+)'`)

// Program is the program of a command: its first word, which may be in quotes.
func Program(command data.Value) string {
	if command.Kind() == data.List {
		if command.Len() == 0 {
			return ""
		}
		return first(command).Text()
	}
	text := command.Text()
	if m := inQuotes.FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	word, _, _ := strings.Cut(text, " ")
	return word
}

// validateCommand asks for a path where a program has none. Rule RES-EXEC-02.
func validateCommand(r *Resource, v data.Value) error {
	if r.Provider != nil && r.Provider.Name == "shell" {
		return nil
	}
	program := Program(v)
	path := data.OfString(program)
	switch {
	case v.Kind() == data.List && v.Len() == 0 || v.Kind() == data.String && strings.Trim(v.Str(), " ") == "":
		path = data.Value{} // the first word of nothing
	case v.Kind() == data.List:
		path = first(v)
	}
	if r.absolute(path) || r.Has("path") {
		return nil
	}
	return refuse("'%s' is not qualified and no path was specified. Please qualify the command or specify a path.", program)
}

// validateChecks validates each of several commands, which may be lists themselves.
func validateChecks(r *Resource, v data.Value) error {
	for _, c := range list(v) {
		if err := validateCommand(r, c); err != nil {
			return err
		}
	}
	return nil
}

func validatePath(_ *Resource, v data.Value) error {
	for _, d := range flat(v) {
		if d.Kind() != data.String {
			return refuse("a path is text, not %s", d.Inspect())
		}
	}
	return nil
}

func mungePath(_ *Resource, v data.Value) (data.Value, error) {
	dirs := []string{}
	for _, d := range flat(v) {
		dirs = append(dirs, splitColons(d.Str())...)
	}
	return data.OfStrings(dirs), nil
}

// splitColons is Ruby's split at colons: empty parts at the end are dropped.
func splitColons(s string) []string {
	s = strings.TrimRight(s, ":")
	if s == "" {
		return nil
	}
	return strings.Split(s, ":")
}

func validateExecUser(r *Resource, _ data.Value) error {
	if !r.Host.Feature("root") {
		return refuse("Only root can execute commands as other users")
	}
	return nil
}

var assignment = regexp.MustCompile(`\w+=`)

func validateEnvironment(_ *Resource, v data.Value) error {
	for _, x := range list(v) {
		if x.Kind() != data.String || !assignment.MatchString(x.Str()) {
			return refuse("Invalid environment setting '%s'", x.Text())
		}
	}
	return nil
}

var (
	octalUmask   = regexp.MustCompile(`(?m)^0?[0-7]{1,4}$`)
	leadingOctal = regexp.MustCompile(`^\s*[0-7]+`)
)

func mungeUmask(_ *Resource, v data.Value) (data.Value, error) {
	if v.Kind() != data.String || !octalUmask.MatchString(v.Str()) {
		return v, refuse("The umask specification is invalid: %s", v.Inspect())
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(leadingOctal.FindString(v.Str())), 8, 64) // Ruby's to_i: the first line counts
	return data.OfInt(n), nil
}

func mungeTimeout(_ *Resource, v data.Value) (data.Value, error) {
	seconds, ok := float(first(v))
	switch {
	case ok:
	case v.Kind() == data.List && v.Len() > 0: // Puppet has taken away the first by then
		return v, refuse("Munging failed for value %s in class timeout: The timeout must be a number.", data.OfList(v.List()[1:]).Inspect())
	default:
		return v, badArgument("The timeout must be a number.")
	}
	return data.OfFloat(max(seconds, 0)), nil
}

func mungeTries(_ *Resource, v data.Value) (data.Value, error) {
	if v.Kind() == data.String {
		if !digits.MatchString(v.Str()) {
			return v, badArgument("Tries must be an integer")
		}
		n, err := integer(v.Str())
		if err != nil {
			return v, err
		}
		v = n
	}
	if n, ok := float(v); !ok || n < 1 {
		return v, badArgument("Tries must be an integer >= 1")
	}
	return v, nil
}

var seconds = regexp.MustCompile(`(?m)^[-\d.]+$`)

func mungeTrySleep(_ *Resource, v data.Value) (data.Value, error) {
	if v.Kind() == data.String && !seconds.MatchString(v.Str()) {
		return v, badArgument("try_sleep must be a number")
	}
	n, ok := float(v)
	if !ok {
		return v, badArgument("invalid value for Float(): %s", v.Inspect())
	}
	if n < 0 {
		return v, badArgument("try_sleep cannot be a negative number")
	}
	if v.Kind() == data.String {
		return data.OfFloat(n), nil
	}
	return v, nil
}

// mungeText makes text of any value.
func mungeText(_ *Resource, v data.Value) (data.Value, error) { return data.OfString(v.Text()), nil }

var (
	unquotedPath = regexp.MustCompile(`(?m)^(/\S+)`)
	quotedWord   = regexp.MustCompile(`(?m)^"([^"]+)"`)
)

// execFiles are the directory and the programs of an exec.
func execFiles(r *Resource) []string {
	var files []string
	if cwd := r.Value("cwd"); !cwd.IsNil() {
		files = append(files, cwd.Text())
	}
	command := first(r.Value("command")).Text()
	files = append(files, submatches(unquotedPath, command)...)
	files = append(files, submatches(quotedWord, command)...)
	for _, check := range []string{"onlyif", "unless"} {
		if !r.Has(check) {
			continue
		}
		for _, line := range list(r.Value(check)) {
			files = append(files, submatches(unquotedPath, first(line).Text())...)
		}
	}
	return files
}

func submatches(re *regexp.Regexp, s string) []string {
	var all []string
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		all = append(all, m[1])
	}
	return all
}

func execUser(r *Resource) []string {
	user := r.Value("user")
	if user.IsNil() || digits.MatchString(user.Text()) {
		return nil
	}
	return []string{user.Text()}
}

// redactExec redacts the commands of an exec all together.
func redactExec(r *Resource, names []string) []string {
	var left []string
	secret := false
	for _, name := range names {
		switch name {
		case "command", "unless", "onlyif":
			secret = true
		default:
			left = append(left, name)
		}
	}
	for _, name := range []string{"command", "unless", "onlyif"} {
		if secret && r.Has(name) {
			r.MarkSensitive(name)
		}
	}
	return left
}
