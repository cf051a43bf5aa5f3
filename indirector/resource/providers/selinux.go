package providers

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// This file is the context of SELinux: where it is off, files have none, and what is wanted
// is in sync.

// contextParts are the properties of a context, in its order.
var contextParts = []string{"seluser", "selrole", "seltype", "selrange"}

// labelled are the file systems that Puppet labels files on.
var labelled = []string{"ext2", "ext3", "ext4", "gfs", "gfs2", "xfs", "jfs", "btrfs", "tmpfs", "zfs"}

// labels reports whether a file has a context.
func labels(ctx context.Context, s System, name string) bool {
	if !s.Feature("selinux") {
		return false
	}
	text, err := s.ReadFile(ctx, "/proc/mounts")
	if err != nil {
		return false
	}
	kinds := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] != "rootfs" {
			kinds[f[1]] = f[2]
		}
	}
	for at := path.Clean(name); ; at = path.Dir(at) {
		if kind, ok := kinds[at]; ok || at == "/" {
			return slices.Contains(labelled, kind)
		}
	}
}

var contextForm = regexp.MustCompile(`^([^\s:]+):([^\s:]+):([^\s:]+)(?::([\sa-zA-Z0-9:,._-]+))?$`)

// contextPart is one part of a context; nil if it has none.
func contextPart(ctx context.Context, s System, context, name string) (data.Value, error) {
	if context == "" || context == "unlabeled" {
		return data.Value{}, nil
	}
	m := contextForm.FindStringSubmatch(context)
	if m == nil {
		return data.Value{}, failure("Invalid context to parse: %s", context)
	}
	part := m[1+slices.Index(contextParts, name)]
	if name == "selrange" {
		return translated(ctx, s, part)
	}
	return data.OfString(part), nil
}

// selected is the part of the context that a file has.
func (f *file) selected(ctx context.Context, s System, r *types.Resource, name string) (data.Value, error) {
	if !s.Feature("selinux") {
		return data.Value{}, nil
	}
	is, err := s.Context(ctx, r.Name())
	if err != nil {
		return data.Value{}, nil //nolint:nilerr // it has none
	}
	return contextPart(ctx, s, is, name)
}

// policyConfig has the type of the policy, whose directory has names of ranges.
const policyConfig = "/etc/selinux/config"

// translated is the range that a name of one stands for, or the range itself.
func translated(ctx context.Context, s System, name string) (data.Value, error) {
	config, _ := s.ReadFile(ctx, s.Path(policyConfig)) // without one it is the usual policy
	policy := "targeted"
	for line := range strings.Lines(string(config)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "SELINUXTYPE="); ok {
			policy = strings.TrimSpace(v)
		}
	}
	file := path.Join(path.Dir(policyConfig), policy, "setrans.conf")
	text, err := s.ReadFile(ctx, s.Path(file))
	if err != nil {
		return data.Value{}, failure("Could not open SELinux category translation file %s.", file)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.Join(strings.Fields(line), "")
		if key, value, ok := strings.Cut(line, "="); ok && line[0] != '#' && value == name {
			return data.OfString(key), nil
		}
	}
	return data.OfString(name), nil
}

// policyKinds are how matchpathcon calls kinds of files.
var policyKinds = map[string]string{"file": "file", "present": "file", "directory": "dir", "link": "lnk_file"}

// defaultContext gives r the parts that the policy has for its path and that are not wanted
// otherwise, unless they are to be ignored. A wanted range may have a name.
func (f *file) defaultContext(ctx context.Context, s System, r *types.Resource) error {
	if r.Managed("selrange") {
		v, err := translated(ctx, s, r.Value("selrange").Text())
		if err != nil {
			return err
		}
		if err := r.Set("selrange", v); err != nil {
			return err
		}
	}
	if r.Value("selinux_ignore_defaults").Text() == "true" || !labels(ctx, s, r.Name()) || s.Which("matchpathcon") == "" {
		return nil
	}
	argv := []string{s.Which("matchpathcon"), "-n"}
	kind := r.Value("ensure").Text()
	if info, err := s.Lstat(ctx, r.Name()); err == nil {
		kind = info.Kind
	}
	if of := policyKinds[kind]; of != "" {
		argv = append(argv, "-m", of)
	}
	out, exit, err := ask(ctx, s, append(argv, r.Name())...)
	if err != nil || exit != 0 {
		return err
	}
	for _, name := range contextParts {
		v, err := contextPart(ctx, s, strings.TrimSpace(out), name)
		if err != nil {
			return err
		}
		if !r.Managed(name) && v.Truthy() {
			if err := r.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// setContext changes a part of the context.
func (f *file) setContext(ctx context.Context, s System, r *types.Resource, name string) error {
	if !labels(ctx, s, r.Name()) {
		return nil
	}
	is, err := s.Context(ctx, r.Name())
	if err != nil {
		f.log.line(Line{Level: "warning", Message: "Can't set SELinux context on file unless the file already has some kind of context"})
		return nil
	}
	parts := strings.SplitN(is, ":", len(contextParts))
	for len(parts) < len(contextParts) && name == "selrange" {
		parts = append(parts, "")
	}
	if i := slices.Index(contextParts, name); i < len(parts) {
		parts[i] = r.Value(name).Text()
	}
	wanted := strings.Join(parts, ":")
	if err := s.SetContext(ctx, r.Name(), wanted); err != nil {
		f.log.line(Line{Level: "warning", Message: "Failed to set SELinux context " + wanted + " on " + r.Name()})
	}
	return nil
}
