package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A user is done by useradd and its like. Rules RES-USER-01 to RES-USER-04.
type user struct{ log logger }

func newUser(log logger) Provider { return &user{log} }

// accountFlags are the options of useradd and usermod, those of ages of chage.
var accountFlags = map[string]string{
	"comment": "-c", "expiry": "-e", "gid": "-g", "groups": "-G", "home": "-d", "shell": "-s", "uid": "-u", "password": "-p",
	"password_max_age": "-M", "password_min_age": "-m", "password_warn_days": "-W",
	"loginclass": "-l", "roles": "-r", "auths": "-a", "profiles": "-p", "keys": "-k", "project": "-p", "attributes": "-a", "iterations": "-i", "salt": "-s",
}

var ages = []string{"password_min_age", "password_max_age", "password_warn_days"}

func (u *user) Instances(ctx context.Context, s System) ([]Instance, error) {
	users, err := s.Users(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := s.Groups(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Instance, len(users))
	for i, account := range users {
		all[i].Name = account.Name
		if all[i].Properties, err = describe(ctx, s, account, groups); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// describe returns all that is known of an account.
func describe(ctx context.Context, s System, u User, groups []Group) ([]data.Pair, error) {
	shadow, ok, err := s.Shadow(ctx, u.Name)
	if err != nil {
		return nil, err
	}
	var member []data.Value
	for _, g := range groups {
		if slices.Contains(g.Members, u.Name) {
			member = append(member, data.OfString(g.Name))
		}
	}
	is := []data.Pair{
		data.P("ensure", data.OfSymbol("present")), data.P("home", data.OfString(u.Home)), data.P("uid", data.OfInt(int64(u.UID))),
		data.P("gid", data.OfInt(int64(u.GID))), data.P("comment", data.OfString(u.Comment)), data.P("shell", data.OfString(u.Shell)),
		data.P("groups", data.OfList(member)),
	}
	if !ok {
		for _, name := range append([]string{"password", "expiry"}, ages...) {
			is = append(is, data.P(name, absent))
		}
		return is, nil
	}
	expiry := absent
	if shadow.Expire != -1 {
		expiry = data.OfString(time.Unix(0, 0).UTC().AddDate(0, 0, shadow.Expire).Format(time.DateOnly))
	}
	return append(is,
		data.P("password", data.OfString(shadow.Password)), data.P("password_min_age", data.OfInt(int64(shadow.Min))),
		data.P("password_max_age", data.OfInt(int64(shadow.Max))), data.P("password_warn_days", data.OfInt(int64(shadow.Warn))),
		data.P("expiry", expiry)), nil
}

func (u *user) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	find, list := s.User, s.Groups
	if isLocal(r) {
		local := localAccounts{s, "user", r.Name()}
		find, list = local.User, local.Groups
	}
	account, ok, err := find(ctx, r.Name())
	if err != nil || !ok {
		return missing(r), err
	}
	groups, err := list(ctx)
	if err != nil {
		return nil, err
	}
	all, err := describe(ctx, s, account, groups)
	if err != nil {
		return nil, err
	}
	return some(r, asLocal(r, all, "uid")), nil
}

// missing are the properties of a resource that is not there.
func missing(r *types.Resource) []data.Pair {
	is, _ := retrieved(r, absent, nil)
	return is
}

// some are those of all properties that r has. What is not known is absent.
func some(r *types.Resource, all []data.Pair) []data.Pair {
	is, _ := retrieved(r, all[0].Value, func(name string) (data.Value, error) {
		for _, p := range all {
			if p.Key.Str() == name {
				return p.Value, nil
			}
		}
		return absent, nil
	})
	return is
}

func (u *user) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	switch property {
	case "ensure":
		if isAbsent(r.Value("ensure")) {
			return u.remove(ctx, s, r)
		}
		return u.create(ctx, s, r)
	case "password":
		return setPassword(ctx, s, r)
	case "shell":
		if err := checkShell(ctx, s, r.Value("shell").Text()); err != nil {
			return err
		}
	}
	value, err := u.wanted(ctx, s, r, property)
	if err != nil {
		return err
	}
	program := "usermod"
	switch {
	case slices.Contains(ages, property):
		program = localOr(r, "chage")
	case property != "groups" && property != "expiry":
		program = localOr(r, program)
	}
	argv := []string{command(s, program), accountFlags[property], value}
	if property == "uid" {
		duplicate, err := u.duplicate(ctx, s, r)
		if err != nil {
			return err
		}
		argv = append(argv, duplicate...)
	}
	return setBy(ctx, s, r, property, append(argv, r.Name()))
}

// duplicate is what lets a number be used again. The programs for local accounts always
// do, so that Puppet looks itself.
func (u *user) duplicate(ctx context.Context, s System, r *types.Resource) ([]string, error) {
	allowed, uid := r.Value("allowdupe").Truthy(), r.Value("uid")
	switch {
	case !isLocal(r) && allowed:
		return []string{"-o"}, nil
	case !isLocal(r) || allowed || !uid.Truthy():
		return nil, nil
	}
	users, err := localAccounts{s, "user", r.Name()}.Users(ctx)
	if slices.ContainsFunc(users, func(x User) bool { return strconv.Itoa(x.UID) == uid.Text() }) {
		err = failure("UID %s already exists, use allowdupe to force user creation", uid.Text())
	}
	return nil, err
}

// setBy changes one property by a command.
func setBy(ctx context.Context, s System, r *types.Resource, property string, argv []string) error {
	env := localEnv(s, r)
	if r.Type.Name == "group" && r.Managed("members") { // lgroupmod changes both
		env = []string{"LIBUSER_CONF=" + types.LibuserConf(s)}
	}
	_, err := executeAs(ctx, s, Command{Argv: argv, Env: env, Sensitive: r.Sensitive(property)})
	if err != nil {
		return failure("Could not set %s on %s[%s]: %w", property, r.Type.Name, r.Name(), err)
	}
	return nil
}

// failure is an error of Puppet's own class.
func failure(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &indirector.Failure{Message: err.Error(), Origin: "exec", Err: err}
}

// withCause adds what Puppet leaves out to a failure.
func withCause(err, cause error) error {
	if f := (*indirector.Failure)(nil); errors.As(err, &f) {
		f.Hidden, f.Err = cause.Error(), cause
	}
	return err
}

// wanted is the value of a property as commands take it.
func (u *user) wanted(ctx context.Context, s System, r *types.Resource, property string) (string, error) {
	switch property {
	case "gid":
		return u.gid(ctx, s, r)
	case "expiry":
		if v := r.Value("expiry"); !isAbsent(v) {
			return v.Text(), nil
		}
		return "", nil
	case "groups":
		is, err := u.Retrieve(ctx, s, r)
		if err != nil {
			return "", err
		}
		groups := joined(r.Wanted("groups", value(is, "groups")))
		if strings.ContainsAny(groups, " \t\n") {
			return "", &indirector.Failure{Class: "ArgumentError", Message: "Invalid value " + groups + ": Groups must be comma-separated"}
		}
		return groups, nil
	}
	return r.Value(property).Text(), nil
}

func value(pairs []data.Pair, name string) data.Value {
	for _, p := range pairs {
		if p.Key.Str() == name {
			return p.Value
		}
	}
	return data.Value{}
}

// joined is a list with commas.
func joined(v data.Value) string {
	if v.Kind() != data.List {
		return v.Text()
	}
	words := make([]string, v.Len())
	for i, e := range v.List() {
		words[i] = e.Text()
	}
	return strings.Join(words, ",")
}

// gid is the number of the first wanted group that there is.
func (u *user) gid(ctx context.Context, s System, r *types.Resource) (string, error) {
	wanted := r.Should("gid")
	for _, want := range wanted {
		if gid, ok, err := groupNumber(ctx, s, want); err != nil || ok {
			return strconv.Itoa(gid), err
		}
	}
	return "", failure("Could not find group(s) %s", joined(data.OfList(wanted)))
}

// groupNumber is the number of a group, by its name or number.
func groupNumber(ctx context.Context, s System, want data.Value) (int, bool, error) {
	groups, err := s.Groups(ctx)
	for _, g := range groups {
		if g.Name == want.Text() || strconv.Itoa(g.GID) == want.Text() {
			return g.GID, true, err
		}
	}
	return 0, false, err
}

// InSync compares the group, which may be wanted by name.
func (u *user) InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error) {
	if property != "gid" {
		return false, false, nil
	}
	for _, want := range r.Should("gid") {
		if gid, ok, err := groupNumber(ctx, s, want); err != nil || ok && int64(gid) == is.Int() {
			return err == nil, true, err
		}
	}
	return len(r.Should("gid")) == 0, true, nil
}

// create adds an account with all that it should have. The password goes by stdin where
// Puppet shows it to every process. Rule RES-USER-02.
func (u *user) create(ctx context.Context, s System, r *types.Resource) error {
	if shell := r.Value("shell"); shell.Truthy() {
		if err := checkShell(ctx, s, shell.Text()); err != nil {
			return err
		}
	}
	if ok, err := u.there(ctx, s, r); err != nil || ok {
		u.log.own(r, "info", "already exists")
		return err
	}
	argv, err := u.add(ctx, s, r)
	if err != nil {
		return err
	}
	secret := r.Sensitive("password") || slices.ContainsFunc(r.Properties(), r.Sensitive)
	_, err = executeAs(ctx, s, Command{Argv: argv, Env: localEnv(s, r), Sensitive: secret})
	if limits := u.limits(s, r); err == nil && limits != nil {
		_, err = executeAs(ctx, s, Command{Argv: limits, Env: localEnv(s, r), Sensitive: secret})
	}
	if err != nil {
		return failure("Could not create user %s: %w", r.Name(), err)
	}
	for _, name := range []string{"groups", "expiry"} { // what luseradd does not take
		if isLocal(r) && r.Value(name).Truthy() {
			if err := u.Set(ctx, s, r, name); err != nil {
				return err
			}
		}
	}
	if r.Value("password").Truthy() {
		return setPassword(ctx, s, r)
	}
	return nil
}

// add is the command that creates an account.
func (u *user) add(ctx context.Context, s System, r *types.Resource) ([]string, error) {
	argv := []string{command(s, localOr(r, "useradd"))}
	if !r.Value("gid").Truthy() {
		if _, ok, err := s.Group(ctx, r.Name()); err != nil {
			return nil, err
		} else if ok {
			argv = append(argv, "-g", r.Name())
		}
	}
	for _, name := range slices.Sorted(slices.Values(r.Properties())) {
		v := r.Value(name)
		if name == "ensure" || name == "password" || slices.Contains(ages, name) || !v.Truthy() || joined(v) == "" ||
			isLocal(r) && (name == "groups" || name == "expiry") {
			continue
		}
		text := joined(v)
		if name == "expiry" && isAbsent(v) {
			text = ""
		}
		argv = append(argv, accountFlags[name], text)
	}
	duplicate, err := u.duplicate(ctx, s, r)
	if err != nil {
		return nil, err
	}
	argv = append(argv, duplicate...)
	switch managed := r.Value("managehome").Truthy(); {
	case !managed:
		argv = append(argv, "-M")
	case !isLocal(r): // luseradd makes it without being asked
		argv = append(argv, "-m")
	}
	if r.Value("system").Truthy() {
		argv = append(argv, "-r")
	}
	return append(argv, r.Name()), nil
}

// limits is the command that sets ages of the password; nil if there are none.
func (u *user) limits(s System, r *types.Resource) []string {
	argv := []string{command(s, localOr(r, "chage"))}
	for _, name := range ages {
		if v := r.Value(name); !v.IsNil() {
			argv = append(argv, accountFlags[name], v.Text())
		}
	}
	if len(argv) == 1 {
		return nil
	}
	return append(argv, r.Name())
}

// there reports whether the account exists, here if it is to be local.
func (u *user) there(ctx context.Context, s System, r *types.Resource) (bool, error) {
	find := s.User
	if isLocal(r) {
		find = localAccounts{s, "user", r.Name()}.User
	}
	_, ok, err := find(ctx, r.Name())
	return ok, err
}

func (u *user) remove(ctx context.Context, s System, r *types.Resource) error {
	if ok, err := u.there(ctx, s, r); err != nil || !ok {
		u.log.own(r, "info", "already absent")
		return err
	}
	argv := []string{command(s, localOr(r, "userdel"))}
	if r.Value("managehome").Truthy() {
		argv = append(argv, "-r")
	}
	if _, err := executeAs(ctx, s, Command{Argv: append(argv, r.Name()), Env: localEnv(s, r)}); err != nil {
		return failure("Could not delete user %s: %w", r.Name(), err)
	}
	return nil
}

// setPassword gives chpasswd the hash on its standard input.
func setPassword(ctx context.Context, s System, r *types.Resource) error {
	result, err := s.Run(ctx, Command{
		Argv: []string{command(s, "chpasswd"), "-e"}, Stdin: []byte(r.Name() + ":" + r.Value("password").Text() + "\n"), Sensitive: true,
	})
	if err != nil {
		return failure("Could not set password on user[%s]: %w", r.Name(), err)
	}
	if len(result.Output) > 0 {
		return &indirector.Failure{Class: "Puppet::ExecutionFailure", Message: "chpasswd said " + string(result.Output), Origin: "exec"}
	}
	return nil
}

func checkShell(ctx context.Context, s System, shell string) error {
	info, err := s.Stat(ctx, shell)
	if err != nil {
		return &indirector.Failure{Message: "Shell " + shell + " must exist"}
	}
	if info.Mode&0o111 == 0 {
		return &indirector.Failure{Message: "Shell " + shell + " must be executable"}
	}
	return nil
}
