package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A versionCommand prints the version of this program.
type versionCommand struct{ p *program }

func (v *versionCommand) cobra() *cobra.Command {
	return &cobra.Command{
		Use: "version", GroupID: "look", Args: usageArgs(cobra.NoArgs),
		Short: "The version of this program, and what it is compatible with",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprint(v.p.out, v.p.version())
			return nil
		},
	}
}

// version is what this program is, and what it is compatible with: two lines.
func (p *program) version() string {
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" {
			version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("indirtui %s%s\nspeaks Puppet 7 and 8; %d termini of %d indirections\n", version, revision, len(p.termini), len(p.specs))
}
