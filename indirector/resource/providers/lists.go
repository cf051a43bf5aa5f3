package providers

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/listfile"
	"indirtui/indirector/resource/types"
)

// Rule RES-LIST-01.
func newHost(log logger) Provider {
	return newList(list{format: listfile.Hosts, usual: "/etc/hosts", log: log, fields: []string{"ip", "host_aliases", "comment"}})
}

// Rule RES-LIST-04.
func newMailalias(log logger) Provider {
	return newList(list{format: listfile.Aliases, usual: "/etc/aliases", log: log, fields: []string{"recipient"}})
}

// A sshkey is known by its name and type. Rule RES-LIST-04.
type sshkey struct{ *list }

func newSSHKey(log logger) Provider {
	return &sshkey{newList(list{
		format: listfile.KnownHosts, usual: "/etc/ssh/ssh_known_hosts", mode: 0o644, log: log, fields: []string{"type", "key"},
		key: func(get func(name string) data.Value) string { return get("name").Text() + "@" + get("type").Text() },
	})}
}

func (k *sshkey) Instances(ctx context.Context, s System) ([]Instance, error) {
	all, err := k.list.Instances(ctx, s)
	for i := range all {
		is := &all[i]
		at := slices.IndexFunc(is.Properties, func(p data.Pair) bool { return p.Key.Str() == "type" })
		typ := is.Properties[at].Value
		is.Namevars = []data.Pair{data.P("name", data.OfString(is.Name))} // the type is read from the title
		is.Properties = slices.Delete(is.Properties, at, at+1)
		is.Name += "@" + typ.Text()
	}
	return all, err
}

// A mount is a line of fstab, and whether it is mounted. Rule RES-LIST-03.
type mount struct{ *list }

func newMount(log logger) Provider {
	return &mount{newList(list{format: listfile.Fstab, usual: "/etc/fstab", log: log, fields: []string{"device", "fstype", "options", "dump", "pass"}})}
}

var mountedOn = regexp.MustCompile(` on (.*) type `)

// mounted returns what mount prints.
func mounted(ctx context.Context, s System) ([]string, error) {
	out, err := execute(ctx, s, command(s, "mount"))
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		m := mountedOn.FindStringSubmatch(line)
		if m == nil {
			return nil, &indirector.Failure{Message: "Could not understand line " + line + " from mount output", Origin: "exec"}
		}
		names = append(names, m[1])
	}
	return names, nil
}

func (m *mount) Prefetch(ctx context.Context, s System, all []*types.Resource) error {
	if err := m.list.Prefetch(ctx, s, all); err != nil {
		return err
	}
	m.inFstab()
	names, err := mounted(ctx, s)
	for _, r := range all {
		if slices.Contains(names, r.Name()) {
			state(m.record(r), true)
		}
	}
	return err
}

// inFstab marks all that is in fstab.
func (m *mount) inFstab() {
	for _, rec := range m.records {
		if !rec.IsText() {
			rec.Values["ensure"] = data.OfSymbol("unmounted")
		}
	}
}

// states are what ensure becomes when something is mounted.
var states = map[string]string{"absent": "ghost", "unmounted": "mounted"}

// state notes that something is mounted now, or no longer.
func state(rec *listfile.Record, mounted bool) {
	is := rec.Get("ensure").Text()
	for off, on := range states {
		switch {
		case mounted && is == off:
			rec.Values["ensure"] = data.OfSymbol(on)
		case !mounted && is == on:
			rec.Values["ensure"] = data.OfSymbol(off)
		}
	}
}

// Instances are those in fstab and those that are mounted without.
func (m *mount) Instances(ctx context.Context, s System) ([]Instance, error) {
	all, err := m.list.Instances(ctx, s)
	if err != nil {
		return nil, err
	}
	names, err := mounted(ctx, s)
	for i := range all {
		ensure := "unmounted"
		if at := slices.Index(names, all[i].Name); at >= 0 {
			names = slices.Delete(names, at, at+1)
			ensure = "mounted"
		}
		all[i].Properties[0] = data.P("ensure", data.OfSymbol(ensure))
	}
	for _, name := range names {
		ghost := Instance{Name: name, Properties: []data.Pair{data.P("ensure", data.OfSymbol("ghost")), data.P("target", data.OfString(m.defaultTarget(s)))}}
		for _, field := range m.fields {
			ghost.Properties = append(ghost.Properties, data.P(field, absent))
		}
		all = append(all, ghost)
	}
	return all, err
}

// Set unmounts at once, and leaves the line in fstab and mounting to Flush.
func (m *mount) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	if property != "ensure" {
		return m.list.Set(ctx, s, r, property)
	}
	rec := m.record(r)
	is := rec.Get("ensure").Text()
	mounted := is == "mounted" || is == "ghost"
	switch r.Value("ensure").Text() {
	case "unmounted":
		return m.unmounted(ctx, s, r, is)
	case "absent":
		if mounted {
			if err := m.umount(ctx, s, r); err != nil {
				return err
			}
		}
		if is == "ghost" {
			return nil
		}
		return m.list.Set(ctx, s, r, "ensure")
	case "mounted":
		if is == "absent" || is == "ghost" {
			if err := m.list.Set(ctx, s, r, "ensure"); err != nil {
				return err
			}
		}
		if err := m.others(ctx, s, r); err != nil {
			return err
		}
		if !mounted {
			rec.Values["needs_mount"] = data.OfBool(true)
		}
		return nil
	}
	return m.list.Set(ctx, s, r, "ensure")
}

func (m *mount) unmounted(ctx context.Context, s System, r *types.Resource, is string) error {
	if is == "mounted" {
		if err := m.umount(ctx, s, r); err != nil {
			return err
		}
		return m.others(ctx, s, r)
	}
	if err := m.list.Set(ctx, s, r, "ensure"); err != nil || is != "ghost" {
		return err
	}
	if err := m.Flush(ctx, s, r); err != nil {
		return err
	}
	return m.umount(ctx, s, r)
}

// others makes the other properties what they should be, and writes them.
func (m *mount) others(ctx context.Context, s System, r *types.Resource) error {
	is, err := m.Retrieve(ctx, s, r)
	if err != nil {
		return err
	}
	wrong := 0
	for _, p := range is {
		name := p.Key.Str()
		in, err := r.InSync(name, p.Value)
		if err != nil {
			return err
		}
		if name == "ensure" || in || len(r.Should(name)) == 0 {
			continue
		}
		wrong++
		if err := m.list.Set(ctx, s, r, name); err != nil {
			return err
		}
	}
	if wrong == 0 {
		return nil
	}
	return m.Flush(ctx, s, r)
}

func (m *mount) umount(ctx context.Context, s System, r *types.Resource) error {
	_, err := execute(ctx, s, command(s, "umount"), r.Name())
	if err == nil {
		state(m.record(r), false)
	}
	return err
}

// Flush writes fstab, and mounts what is to be mounted then.
func (m *mount) Flush(ctx context.Context, s System, r *types.Resource) error {
	rec := m.record(r)
	needs := rec.Get("needs_mount").Truthy()
	delete(rec.Values, "needs_mount")
	if err := m.list.Flush(ctx, s, r); err != nil || !needs {
		return err
	}
	return m.mount(ctx, s, r)
}

func (m *mount) mount(ctx context.Context, s System, r *types.Resource) error {
	_, err := execute(ctx, s, command(s, "mount"), r.Name())
	if err == nil {
		state(m.record(r), true)
	}
	return err
}

// Refresh mounts anew what is mounted. Rule RES-REF-07.
func (m *mount) Refresh(ctx context.Context, s System, r *types.Resource) error {
	is := m.record(r).Get("ensure").Text()
	if r.Value("fstype").Text() == "swap" || is != "mounted" && is != "ghost" {
		return nil
	}
	m.log.own(r, "info", "Remounting")
	if r.Value("remounts").Text() == "true" {
		_, err := execute(ctx, s, command(s, "mount"), "-o", "remount", r.Name())
		return err
	}
	if err := m.umount(ctx, s, r); err != nil {
		return err
	}
	return m.mount(ctx, s, r)
}
