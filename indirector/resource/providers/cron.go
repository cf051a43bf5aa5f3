package providers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/listfile"
	"indirtui/indirector/resource/types"
)

// A cron does jobs in the crontabs of users, which are its targets. Rule RES-LIST-02.
type cron struct{ *list }

func newCron(log logger) Provider {
	return &cron{newList(list{
		format: listfile.Crontab, usual: "root", log: log, fields: []string{"command"}, store: crontab{},
		accepts: func(rec *listfile.Record, r *types.Resource) bool {
			return r.Value("target").Text() == rec.String("target")
		},
		adopt: adoptJob,
	})}
}

// adoptJob finds a resource with the command and the times of a job without a name.
func adoptJob(rec *listfile.Record, left map[string]*types.Resource) *types.Resource {
	if !rec.Get("unmanaged").Truthy() {
		return nil
	}
	for _, r := range left {
		if r.Value("target").Text() == rec.String("target") && r.Value("command").Text() == rec.String("command") && sameTimes(rec, r) {
			return r
		}
	}
	return nil
}

func sameTimes(rec *listfile.Record, r *types.Resource) bool {
	for _, name := range append([]string{"special"}, listfile.CronFields...) {
		want := r.Value(name)
		if want.IsNil() {
			continue
		}
		is := rec.Get(name)
		if !data.Equal(want, is) && !(isAbsent(is) && want.Text() == "*") {
			return false
		}
	}
	return true
}

// allTargets are root's crontab and those that are there.
func (c *cron) known(ctx context.Context, s System) {
	dir := s.Path("/var/spool/cron/crontabs")
	if v, _ := s.Fact("os.family"); v.Text() != "Debian" {
		dir = s.Path("/var/spool/cron")
	}
	names, err := s.ReadDir(ctx, dir)
	if err != nil {
		return // this process may not look
	}
	for _, name := range names {
		if info, err := s.Stat(ctx, dir+"/"+name); err == nil && info.Kind == "file" && !strings.HasPrefix(name, ".keep_") {
			c.targets = append(c.targets, name)
		}
	}
}

func (c *cron) Prefetch(ctx context.Context, s System, all []*types.Resource) error {
	c.known(ctx, s)
	return c.list.Prefetch(ctx, s, all)
}

// Instances are the jobs of all crontabs.
func (c *cron) Instances(ctx context.Context, s System) ([]Instance, error) {
	c.known(ctx, s)
	all, err := c.list.Instances(ctx, s)
	for i := range all {
		for _, p := range all[i].Properties {
			if p.Key.Str() == "target" {
				all[i].Properties = append(all[i].Properties, data.P("user", p.Value))
			}
		}
	}
	return all, err
}

// Retrieve returns the job; its user is that of the crontab.
func (c *cron) Retrieve(_ context.Context, _ System, r *types.Resource) ([]data.Pair, error) {
	rec := c.record(r)
	return retrieved(r, c.get(rec, "ensure", data.Value{}), func(name string) (data.Value, error) {
		if v := rec.Get("user"); name == "user" && v.IsNil() {
			return rec.Get("target"), nil
		}
		return c.get(rec, name, first(r.Should(name))), nil
	})
}

func (c *cron) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	rec := c.record(r)
	switch {
	case property == "ensure" && !isAbsent(r.Value("ensure")) && !r.Value("command").Truthy():
		c.log.note(r, "err", "no command specified, cannot create")
		return nil
	case property == "user":
		c.modify(r, rec)
		rec.Values["user"], rec.Values["target"] = r.Value("user"), r.Value("user")
		return nil
	}
	return c.list.Set(ctx, s, r, property)
}

// crontab keeps targets by the program of that name.
type crontab struct{}

// words are those of crontab for a user.
func (crontab) words(ctx context.Context, s System, user, what string) (argv []string, known bool, err error) {
	account, ok, err := s.User(ctx, user)
	if err != nil || !ok {
		return nil, false, err
	}
	if account.UID == s.UID() {
		return []string{"crontab", what}, true, nil
	}
	return []string{"crontab", "-u", user, what}, true, nil
}

// read takes a user without a crontab, and one that does not exist or may have none, for
// an empty one. What else is wrong fails the jobs when they are written. Rule RES-PROV-07.
func (c crontab) read(ctx context.Context, s System, user string) (string, error) {
	argv, ok, err := c.words(ctx, s, user, "-l")
	if err != nil || !ok {
		return "", err
	}
	out, err := execute(ctx, s, argv...)
	if err == nil {
		return out, nil
	}
	if text := err.Error(); strings.Contains(text, "no crontab for") || strings.Contains(text, "are not allowed to") {
		return "", nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	return "", &lateError{"Could not read crontab for " + user + ": " + err.Error()}
}

func (c crontab) write(ctx context.Context, s System, user, text string, _ fs.FileMode) error {
	argv, ok, err := c.words(ctx, s, user, "-")
	if err != nil {
		return err
	}
	if !ok {
		return &indirector.Failure{Message: fmt.Sprintf("Cannot write the %s user's crontab: The user does not exist", user)}
	}
	result, err := s.Run(ctx, Command{Argv: argv, Stdin: []byte(text)})
	if err == nil && result.Exit != 0 {
		// Puppet does not look: the job would be lost in silence.
		err = errors.Join(&ExecutionFailure{strings.Join(argv, " "), result})
	}
	return err
}

func (crontab) keep(context.Context, System, string) error { return nil }
