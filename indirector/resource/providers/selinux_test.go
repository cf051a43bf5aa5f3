package providers_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/types"
)

// A labelled system has contexts of files, and SELinux if it is on.
type labelled struct {
	*system.System
	on       bool
	contexts map[string]string
	policy   string // what matchpathcon prints
	root     string
}

func (l *labelled) Feature(name string) bool {
	return name == "selinux" && l.on || name != "selinux" && l.System.Feature(name)
}

func (l *labelled) Which(program string) string { return "/usr/sbin/" + program }

func (l *labelled) Path(name string) string { return l.root + name }

func (l *labelled) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if name == "/proc/mounts" {
		return []byte("rootfs / rootfs rw 0 0\n/dev/sda / ext4 rw 0 0\n"), nil
	}
	return l.System.ReadFile(ctx, name)
}

func (l *labelled) Run(context.Context, providers.Command) (providers.Result, error) {
	return providers.Result{Output: []byte(l.policy + "\n")}, nil
}

func (l *labelled) Context(_ context.Context, name string) (string, error) {
	c, ok := l.contexts[name]
	if !ok {
		return "", os.ErrNotExist
	}
	return c, nil
}

func (l *labelled) SetContext(_ context.Context, name, context string) error {
	l.contexts[name] = context
	return nil
}

// TestContexts: the context of a file is that of the manifest, else that of the policy; where
// SELinux is off, all is in sync.
func TestContexts(t *testing.T) {
	t.Parallel()
	const policy = "system_u:object_r:etc_t:s0"
	for _, c := range []struct {
		name      string
		off       bool
		given     []data.Pair
		is, after string
	}{
		{name: "off", off: true, given: []data.Pair{data.P("seltype", data.OfString("etc_t"))}, is: "u:r:tmp_t:s0", after: "u:r:tmp_t:s0"},
		{name: "a type", given: []data.Pair{data.P("seltype", data.OfString("bin_t"))}, is: policy, after: "system_u:object_r:bin_t:s0"},
		{name: "the policy's", is: "u:r:tmp_t:s0", after: policy},
		{name: "the policy's is ignored", given: []data.Pair{data.P("selinux_ignore_defaults", data.OfBool(true))}, is: "u:r:tmp_t:s0", after: "u:r:tmp_t:s0"},
		{name: "a name of a range", given: []data.Pair{data.P("selrange", data.OfString("SystemHigh"))}, is: policy, after: "system_u:object_r:etc_t:s0-s15:c0.c1023"},
		{name: "no context", given: []data.Pair{data.P("seltype", data.OfString("bin_t"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			name, names := filepath.Join(root, "f"), filepath.Join(root, "etc/selinux/targeted/setrans.conf")
			if err := os.MkdirAll(filepath.Dir(names), 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{name: "", names: "# ranges\ns0=SystemLow\ns0-s15:c0.c1023 = SystemHigh\n"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := &labelled{System: system.New(machine.New(data.OfHash(nil), nil)), on: !c.off, contexts: map[string]string{}, policy: policy, root: root}
			if c.is != "" {
				s.contexts[name] = c.is
			}
			r, err := types.New(types.All()["file"], s, types.Given{Title: name, Values: c.given}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := new(providers.Set).Of(r.Type, "posix")
			is, err := p.Retrieve(t.Context(), s, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, pair := range is {
				property := pair.Key.Str()
				in, known, err := p.(providers.Comparer).InSync(t.Context(), s, r, property, pair.Value)
				if !known {
					in, err = r.InSync(property, pair.Value)
				}
				if err == nil && !in {
					err = p.Set(t.Context(), s, r, property)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := s.contexts[name]; got != c.after {
				t.Errorf("got %q, want %q", got, c.after)
			}
		})
	}
}
