package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The units that a systemd of its own has: a target that starts nothing of this machine,
// only the test, with which systemd ends, and services to manage.
var serviceUnits = map[string]string{
	"indirtui.target": "[Unit]\nDefaultDependencies=no\nRequires=indirtui-test.service\n",
	"indirtui-test.service": "[Unit]\nDefaultDependencies=no\nSuccessAction=exit\nFailureAction=exit\n" +
		"[Service]\nType=oneshot\nExecStart=/bin/sh /run/test\nStandardOutput=file:/out/printed\nStandardError=file:/out/printed\n",
	"indirtui-web.service":   "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep 600\n[Install]\nWantedBy=multi-user.target\nAlias=indirtui-www.service\n",
	"indirtui-old.service":   "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep 600\n[Install]\nWantedBy=multi-user.target\n",
	"indirtui-bare.service":  "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep 600\n",
	"indirtui-many@.service": "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep 600\n[Install]\nWantedBy=multi-user.target\n",
	"indirtui-sick.service":  "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/bin/false\n",
}

// startSystemd becomes systemd. It sees cgroups of version 2 alone, so that all of its own
// are below the one of the test.
const startSystemd = `set -e
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd/system
cp /out/*.target /out/*.service /run/systemd/system/
(export -p; echo exec "$@") >/run/test
container=indirtui exec /lib/systemd/systemd --system --unit=indirtui.target --log-target=null --show-status=no
`

var serviceKind = rootKind{
	name:   "services",
	before: "systemctl enable indirtui-old; systemctl start indirtui-old; systemctl start indirtui-sick || true",
	resources: []string{
		`{"type": "Service", "title": "indirtui-web", "parameters": {"ensure": "running", "enable": true}}`,
		`{"type": "Service", "title": "indirtui-old", "parameters": {"ensure": "stopped", "enable": false}}`,
		`{"type": "Service", "title": "indirtui-bare", "parameters": {"ensure": "running", "enable": true}}`,
		`{"type": "Service", "title": "indirtui-many@a", "parameters": {"ensure": "running", "enable": true}}`,
	},
	drift:   "systemctl disable indirtui-web; systemctl start indirtui-old; systemctl stop indirtui-many@a",
	drifted: []string{"Service[indirtui-many@a]/ensure", "Service[indirtui-old]/ensure", "Service[indirtui-web]/enable"},
}

// TestRootServices applies services under a systemd of its own, by this program and
// by real Puppet, and compares what both find of all services.
func TestRootServices(t *testing.T) {
	t.Parallel()
	if !isNewRoot(t) {
		if _, err := os.Stat("/lib/systemd/systemd"); err != nil {
			t.Skip("1 case is skipped: there is no systemd here")
		}
		cgroup := ownCgroup(t)
		if cgroup == "" {
			t.Skip("1 case is skipped: there can be no cgroup of version 2 here")
		}
		newRoot{cases: 1, become: []string{"unshare", "-C", "/bin/sh", "-c", startSystemd, "sh"}, files: serviceUnits, cgroup: cgroup}.run(t)
		return
	}
	r := newRooted(t, []rootKind{serviceKind})
	r.all(t, r.oursApply(t, "--really"))
	r.none(t, "puppet apply", r.puppetApply(t))
	r.drift(t)
	r.puppet(t, "")
	r.mended(t, r.report(t))
	if printed, code := r.run("plan", r.path("catalog.json")); code != 0 {
		t.Errorf("plan: exit %d\n%s", code, printed)
	}
	r.drift(t)
	r.mended(t, r.oursApply(t, "--really"))

	want := r.command(t, "puppet", "resource", "service", "--to_yaml", "--confdir", r.path("conf"), "--vardir", r.path("var"))
	got, code := r.run("search", "resource", "service", "--format", "yaml", "--trace", "none")
	if code != 0 || got != want {
		t.Errorf("services, exit %d:\n%s", code, cmp.Diff(want, got))
	}
}

// ownCgroup makes a cgroup of version 2 for the processes of the test, which is removed at
// the end. It is empty if there can be none.
func ownCgroup(t *testing.T) string {
	t.Helper()
	for _, top := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(top, "cgroup.controllers")); err != nil {
			continue
		}
		dir, err := os.MkdirTemp(top, "indirtui-test-")
		if err != nil {
			return ""
		}
		t.Cleanup(func() {
			var all []string
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					all = append(all, path)
				}
				return nil
			})
			for _, path := range slices.Backward(all) {
				if err := os.Remove(path); err != nil {
					t.Error(err)
				}
			}
		})
		return dir
	}
	return ""
}
