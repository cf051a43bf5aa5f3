package providers

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// An exec runs a command. Rules RES-EXEC-01 to RES-EXEC-06.
type exec struct{ log logger }

func newExec(log logger) Provider { return &exec{log} }

// Retrieve runs the checks: what they forbid is as it should be.
func (e *exec) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	var is []data.Pair
	for _, name := range r.Properties() {
		allowed, err := e.allowed(ctx, s, r, false)
		if err != nil {
			return nil, err
		}
		value := data.OfSymbol("notrun")
		if !allowed {
			value = data.OfList(r.Should(name))
		}
		is = append(is, data.P(name, value))
	}
	return is, nil
}

// allowed asks the checks in their order. Rule RES-EXEC-01.
func (e *exec) allowed(ctx context.Context, s System, r *types.Resource, refreshing bool) (bool, error) {
	if !refreshing && r.Value("refreshonly").Text() == "true" {
		return false, e.refused(r, "refreshonly")
	}
	for _, file := range elements(r.Value("creates")) {
		if _, err := s.Stat(ctx, file.Text()); err == nil {
			return false, e.refused(r, "creates")
		}
	}
	for _, check := range []string{"unless", "onlyif"} {
		for _, c := range elements(r.Value(check)) {
			code, err := e.check(ctx, s, r, check, c)
			if err != nil {
				return false, err
			}
			if code == nil || (*code == 0) != (check == "onlyif") {
				return false, e.refused(r, check)
			}
		}
	}
	return true, nil
}

func (e *exec) refused(r *types.Resource, check string) error {
	command := r.Value("command").Text()
	if r.Sensitive("command") {
		command = "[command redacted]"
	}
	e.log.note(r, "debug", fmt.Sprintf("'%s' won't be executed because of failed check '%s'", command, check))
	return nil
}

// elements are those of a list, or the value itself, or nothing.
func elements(v data.Value) []data.Value {
	switch {
	case v.IsNil():
		return nil
	case v.Kind() == data.List:
		return v.List()
	}
	return []data.Value{v}
}

// check returns the exit code of a check, or nil if it took too long.
func (e *exec) check(ctx context.Context, s System, r *types.Resource, name string, c data.Value) (*int, error) {
	result, err := e.run(ctx, s, r, c)
	if errors.Is(err, ErrTimeout) {
		e.log.line(Line{Level: "err", Message: "Check " + c.Inspect() + " exceeded timeout", Resource: r, Property: name})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := outputLines(r, result.Output)
	for _, line := range lines {
		e.log.note(r, "debug", line)
	}
	return &result.Exit, err
}

// outputLines is Ruby's split: without empty lines at the end, and an error if the output
// is no UTF-8. Rule RES-EXEC-05.
func outputLines(r *types.Resource, output []byte) ([]string, error) {
	if r.Sensitive("command") {
		return []string{"[output redacted]"}, nil
	}
	if !utf8.Valid(output) {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "invalid byte sequence in UTF-8", Origin: "exec"}
	}
	text := strings.TrimRight(string(output), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// Set runs the command until it succeeds or has been tried often enough. Rule RES-EXEC-04.
func (e *exec) Set(ctx context.Context, s System, r *types.Resource, _ string) error {
	var result Result
	accepted := func() bool {
		code := data.OfString(status(result))
		return slices.ContainsFunc(r.Should("returns"), func(want data.Value) bool { return want.Text() == code.Str() })
	}
	if v := r.Value("tries"); v.Kind() == data.Float {
		return &indirector.Failure{Class: "NoMethodError", Message: "undefined method `times' for " + v.Text() + ":Float", Origin: "exec"}
	}
	tries := max(number(r.Value("tries")), 1)
	for try := 1.0; try <= tries; try++ {
		var err error
		if result, err = e.run(ctx, s, r, r.Value("command")); errors.Is(err, ErrTimeout) {
			return &indirector.Failure{Message: "Command exceeded timeout", Origin: "exec", Err: err}
		} else if err != nil {
			return err
		}
		if accepted() {
			break
		}
		if pause := number(r.Value("try_sleep")); pause > 0 && tries > 1 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(pause * float64(time.Second))):
			}
		}
	}
	if err := e.show(r, result, accepted()); err != nil || accepted() {
		return err
	}
	command := "'" + r.Value("command").Text() + "'"
	if r.Sensitive("command") {
		command = "[command redacted]"
	}
	return failure("%s returned %s instead of one of [%s]", command, status(result), joined(data.OfList(r.Should("returns"))))
}

// status is the exit code, or nothing if a signal ended it.
func status(r Result) string {
	if r.Exit < 0 {
		return ""
	}
	return strconv.Itoa(r.Exit)
}

// number is an integer of any size, or a float.
func number(v data.Value) float64 {
	f, _ := strconv.ParseFloat(v.Text(), 64)
	return f
}

// show logs the output. Rule RES-EXEC-05.
func (e *exec) show(r *types.Resource, result Result, fine bool) error {
	if log := r.Value("logoutput").Text(); log == "false" || log == "on_failure" && fine {
		return nil
	}
	lines, err := outputLines(r, result.Output)
	for _, line := range lines {
		e.log.line(Line{Level: r.Value("loglevel").Text(), Message: line, Resource: r, Property: "returns"})
	}
	return err
}

// Refresh runs the command, or that of refreshes, if the checks allow it. Rule RES-REF-07.
func (e *exec) Refresh(ctx context.Context, s System, r *types.Resource) error {
	allowed, err := e.allowed(ctx, s, r, true)
	if err != nil || !allowed {
		return err
	}
	if c := r.Value("refresh"); c.Truthy() {
		_, err := e.run(ctx, s, r, c)
		return err
	}
	return e.Set(ctx, s, r, "returns")
}

// run runs one command of a resource. An exit code of 127 is an error with the output
// as its text. Rule RES-EXEC-02.
func (e *exec) run(ctx context.Context, s System, r *types.Resource, command data.Value) (Result, error) {
	c, err := e.command(ctx, s, r, command)
	if errors.Is(err, errNoAccount) {
		return Result{Exit: 1}, nil // Puppet's child fails before it becomes the command
	}
	if err != nil {
		return Result{}, err
	}
	result, err := s.Run(ctx, c)
	if err == nil && result.Exit == 127 {
		err = &indirector.Failure{Class: "ArgumentError", Message: string(result.Output), Origin: "exec"}
	}
	return result, err
}

func (e *exec) command(ctx context.Context, s System, r *types.Resource, command data.Value) (Command, error) {
	c := Command{Locale: true, Dir: r.Value("cwd").Text(), Sensitive: r.Sensitive("command"), Limit: -1}
	if limit := number(r.Value("timeout")); limit > 0 {
		c.Limit = time.Duration(limit * float64(time.Second))
	}
	if v := r.Value("umask"); !v.IsNil() {
		umask := int(v.Int())
		c.Umask = &umask
	}
	shell := r.Provider != nil && r.Provider.Name == "shell"
	program := types.Program(command)
	if !shell {
		found, err := e.find(ctx, s, r, program)
		if err != nil {
			return c, err
		}
		program = found
	}
	if c.Dir != "" {
		if info, err := s.Stat(ctx, c.Dir); err != nil || info.Kind != "directory" {
			return c, &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("Working directory %s does not exist!", c.Dir)}
		}
	}
	switch words, direct := directly(command.Text()); {
	case command.Kind() == data.List:
		if shell { // for which all but the first are arguments of the script
			c.Argv = []string{"/bin/sh", "-c"}
		}
		for _, word := range command.List() {
			c.Argv = append(c.Argv, word.Text())
		}
		if !shell {
			c.Argv[0], c.Called = program, c.Argv[0]
		}
	case direct && !shell:
		c.Argv, c.Called = append([]string{program}, words[1:]...), words[0]
	default:
		c.Shell = command.Text()
	}
	c.Env = e.environment(r)
	var err error
	c.User, err = e.owner(ctx, s, r)
	return c, err
}

// find returns the path of a program, which must be a file that can be run.
func (e *exec) find(ctx context.Context, s System, r *types.Resource, program string) (string, error) {
	problem := func(format string, args ...any) (string, error) {
		return "", &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf(format, args...), Origin: "exec"}
	}
	if path.IsAbs(program) && path.Clean(program) == program {
		info, err := s.Stat(ctx, program)
		switch {
		case err != nil:
			return problem("Could not find command '%s'", program)
		case info.Kind != "file":
			return problem("'%s' is a %s, not a file", program, info.Kind)
		case info.Mode&0o111 == 0:
			return problem("'%s' is not executable", program)
		}
		return program, nil
	}
	if path.IsAbs(program) {
		return program, nil
	}
	for _, dir := range r.Value("path").List() {
		at := path.Join(dir.Text(), program)
		if info, err := s.Stat(ctx, at); err == nil && info.Kind == "file" && info.Mode&0o111 != 0 {
			return at, nil
		}
	}
	return problem("Could not find command '%s'", program)
}

// shellWords are those that only a shell knows.
var shellWords = strings.Fields("! . : break case continue do done elif else esac eval exec exit export fi for if in readonly return set shift then times trap unset until while")

// directly splits a command that Ruby would run without a shell.
func directly(command string) ([]string, bool) {
	words := strings.FieldsFunc(command, func(c rune) bool { return c == ' ' || c == '\t' })
	if len(words) == 0 || strings.ContainsAny(command, "*?{}[]<>()~&|\\$;'`\"\n") || strings.Contains(words[0], "=") || slices.Contains(shellWords, words[0]) {
		return nil, false
	}
	return words, !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") })
}

var setting = regexp.MustCompile(`(?s)^(\w+)=(.*)$`)

// environment is the path and the settings of a resource. Rule RES-EXEC-03.
func (e *exec) environment(r *types.Resource) []string {
	var env []string
	seen := map[string]bool{}
	if dirs := r.Value("path"); dirs.Kind() == data.List {
		words := make([]string, dirs.Len())
		for i, d := range dirs.List() {
			words[i] = d.Text()
		}
		env, seen["PATH"] = append(env, "PATH="+strings.Join(words, ":")), true
	}
	for _, v := range elements(r.Value("environment")) {
		m := setting.FindStringSubmatch(v.Text())
		if m == nil {
			e.log.own(r, "warning", "Cannot understand environment setting "+v.Inspect())
			continue
		}
		if seen[m[1]] {
			e.log.own(r, "warning", fmt.Sprintf("Overriding environment setting '%s' with '%s'", m[1], m[2]))
		}
		if m[2] == "" {
			e.log.line(Line{Level: "warning", Message: fmt.Sprintf("Empty environment setting '%s'%s", m[1], location(r))})
		}
		env, seen[m[1]] = append(env, v.Text()), true
	}
	return env
}

// location is where a resource is declared, as warnings show it.
func location(r *types.Resource) string {
	if r.File == "" || r.Line == 0 {
		return ""
	}
	return fmt.Sprintf("\n   (file: %s, line: %d)", r.File, r.Line)
}

var errNoAccount = errors.New("no such user or group")

// owner is as whom the command is run; nil is as this process.
func (e *exec) owner(ctx context.Context, s System, r *types.Resource) (*Owner, error) {
	user, group := r.Value("user"), r.Value("group")
	if user.IsNil() && group.IsNil() {
		return nil, nil
	}
	owner := &Owner{-1, -1}
	if !user.IsNil() {
		uid, gid, ok, err := userNumber(ctx, s, user)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errNoAccount
		}
		owner.UID, owner.GID = uid, gid
	}
	if !group.IsNil() {
		gid, ok, err := groupNumber(ctx, s, group)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errNoAccount
		}
		owner.GID = gid
	}
	return owner, nil
}

// userNumber is the number of a user and of its group, by its name or number.
func userNumber(ctx context.Context, s System, want data.Value) (uid, gid int, ok bool, err error) {
	users, err := s.Users(ctx)
	for _, u := range users {
		if u.Name == want.Text() || strconv.Itoa(u.UID) == want.Text() {
			return u.UID, u.GID, true, err
		}
	}
	if n, bad := strconv.Atoi(want.Text()); bad == nil {
		return n, -1, true, err
	}
	return 0, 0, false, err
}

// A notify logs its message, in every run. Rule RES-MISC-01.
type notify struct{ log logger }

func newNotify(log logger) Provider { return &notify{log} }

func (n *notify) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	return nothing{}.Retrieve(ctx, s, r)
}

func (n *notify) Set(_ context.Context, _ System, r *types.Resource, _ string) error {
	message := r.Value("message")
	line := Line{Level: r.Value("loglevel").Text(), Message: message.Text()}
	switch {
	case r.Sensitive("message"):
		line.Message = "Sensitive [value redacted]"
	case r.Value("withpath").Text() != "true" && message.Kind() == data.List:
		line.Message = types.JoinWords(message.List(), " ")
	}
	if r.Value("withpath").Text() == "true" {
		line.Resource, line.Property = r, "message"
	}
	n.log.line(line)
	return nil
}
