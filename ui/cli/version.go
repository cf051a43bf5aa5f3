package cli

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A versionCommand prints the version of this program.
type versionCommand struct{ p *program }

func (v *versionCommand) run(context.Context, []string) error {
	_, err := fmt.Fprint(v.p.out, v.text())
	return err
}

// text is what this program is, and what it is compatible with: two lines.
func (v *versionCommand) text() string {
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("indirtui %s%s\nspeaks Puppet 7 and 8; %d termini of %d indirections\n", version, revision, len(v.p.termini), len(v.p.specs))
}
