package providers

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A group is done by groupadd and its like. Rule RES-USER-05.
type group struct{ log logger }

func newGroup(log logger) Provider { return &group{log} }

func (g *group) Instances(ctx context.Context, s System) ([]Instance, error) {
	groups, err := s.Groups(ctx)
	all := make([]Instance, len(groups))
	for i, is := range groups {
		all[i] = Instance{Name: is.Name, Properties: groupIs(is)[:2]}
	}
	return all, err
}

func groupIs(g Group) []data.Pair {
	return []data.Pair{
		data.P("ensure", data.OfSymbol("present")), data.P("gid", data.OfInt(int64(g.GID))), data.P("members", data.OfStrings(g.Members)),
	}
}

// find finds the group, in the file of this machine if it is to be local.
func (g *group) find(ctx context.Context, s System, r *types.Resource) (Group, bool, error) {
	if isLocal(r) {
		return localAccounts{s, "group", r.Name()}.Group(ctx, r.Name())
	}
	return s.Group(ctx, r.Name())
}

func (g *group) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	is, ok, err := g.find(ctx, s, r)
	if err != nil || !ok {
		return missing(r), err
	}
	if isLocal(r) && r.Managed("members") { // Puppet asks the name service for these
		if known, ok, err := s.Group(ctx, r.Name()); err != nil || ok {
			is.Members = known.Members
		}
	}
	return some(r, asLocal(r, groupIs(is), "gid")), nil
}

func (g *group) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	switch property {
	case "ensure":
		if isAbsent(r.Value("ensure")) {
			return g.remove(ctx, s, r)
		}
		return g.create(ctx, s, r)
	case "members":
		return g.setMembers(ctx, s, r)
	}
	program := localOr(r, "groupmod")
	if r.Managed("members") {
		program = "lgroupmod"
	}
	duplicate, err := g.duplicate(ctx, s, r)
	if err != nil {
		return err
	}
	argv := append([]string{command(s, program), "-g", r.Value(property).Text()}, duplicate...)
	return setBy(ctx, s, r, property, append(argv, r.Name()))
}

// setMembers adds members, and before that takes away all if others are not to stay.
func (g *group) setMembers(ctx context.Context, s System, r *types.Resource) error {
	wanted := r.Should("members")
	for _, v := range wanted {
		for name := range strings.SplitSeq(v.Text(), ",") {
			if _, ok, err := s.User(ctx, strings.TrimSpace(name)); err != nil || !ok {
				return orFailure(err, "can't find user for "+strings.TrimSpace(name))
			}
		}
	}
	program := command(s, "lgroupmod")
	if r.Value("auth_membership").Truthy() {
		is, _, err := s.Group(ctx, r.Name())
		if err == nil && len(is.Members) > 0 {
			_, err = execute(ctx, s, program, "-m", strings.Join(is.Members, ","), r.Name())
		}
		if err != nil {
			return err
		}
	}
	return setBy(ctx, s, r, "members", []string{program, "-M", joined(data.OfList(wanted)), r.Name()})
}

// orFailure is an error, or else one of Ruby's.
func orFailure(err error, message string) error {
	if err != nil {
		return err
	}
	return &indirector.Failure{Class: "ArgumentError", Message: message}
}

// duplicate is [user.duplicate] for groups.
func (g *group) duplicate(ctx context.Context, s System, r *types.Resource) ([]string, error) {
	allowed, gid := r.Value("allowdupe").Truthy(), r.Value("gid")
	switch {
	case !isLocal(r) && allowed:
		return []string{"-o"}, nil
	case !isLocal(r) || allowed || !r.Managed("gid"):
		return nil, nil
	}
	groups, err := localAccounts{s, "group", r.Name()}.Groups(ctx)
	if slices.ContainsFunc(groups, func(x Group) bool { return strconv.Itoa(x.GID) == gid.Text() }) {
		err = failure("GID %s already exists, use allowdupe to force group creation", gid.Text())
	}
	return nil, err
}

func (g *group) create(ctx context.Context, s System, r *types.Resource) error {
	if _, there, err := g.find(ctx, s, r); err != nil || there {
		g.log.own(r, "info", "already exists")
		return err
	}
	argv := []string{command(s, localOr(r, "groupadd"))}
	if gid := r.Value("gid"); gid.Truthy() && !isAbsent(gid) {
		argv = append(argv, "-g", gid.Text())
	}
	duplicate, err := g.duplicate(ctx, s, r)
	if err != nil {
		return err
	}
	argv = append(argv, duplicate...)
	if r.Value("system").Truthy() {
		argv = append(argv, "-r")
	}
	if _, err := executeAs(ctx, s, Command{Argv: append(argv, r.Name()), Env: localEnv(s, r)}); err != nil {
		return failure("Could not create group %s: %w", r.Name(), err)
	}
	if r.Managed("members") {
		return g.setMembers(ctx, s, r)
	}
	return nil
}

func (g *group) remove(ctx context.Context, s System, r *types.Resource) error {
	if _, there, err := g.find(ctx, s, r); err != nil || !there {
		g.log.own(r, "info", "already absent")
		return err
	}
	argv := []string{command(s, localOr(r, "groupdel")), r.Name()}
	if _, err := executeAs(ctx, s, Command{Argv: argv, Env: localEnv(s, r)}); err != nil {
		return failure("Could not delete group %s: %w", r.Name(), err)
	}
	return nil
}
