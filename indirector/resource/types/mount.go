package types

import (
	"path"
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// mountType is an entry of fstab, and whether it is mounted. Rule RES-LIST-03.
func mountType() *Type {
	return Define(Type{
		Name: "mount", Module: "mount_core", Doc: "A file system in the fstab, and whether it is mounted.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: mountProviders,
		Features: []string{"refreshable"}, Refreshable: true, SelfRefresh: true,
		Require: []Auto{{"mount", mountsAbove}}, Before: []Auto{{"file", filesBelow}},
		Attributes: []*Attribute{
			{
				Name: "ensure", InSync: mountInSync,
				Doc: "Whether the entry is there (defined), and mounted or not. Absent unmounts it, too.",
				Choices: []Choice{
					{Name: "defined", Aliases: []string{"present"}},
					{Name: "unmounted"},
					{Name: "absent", Event: "mount_deleted"},
					{Name: "mounted", Event: "mount_mounted"},
				},
			},
			{Name: "device", Doc: "What is mounted: a device, a label or a remote directory.", Validate: onlyLinuxBlanks("device")},
			{Name: "blockdevice", Doc: "The device that is checked (Solaris).", Validate: noBlanks("blockdevice", false), Default: solarisDevice},
			{Name: "fstype", Doc: "The type of the file system.", Validate: noBlanks("fstype", true)},
			{Name: "options", Doc: "Options, with commas between them.", Validate: noBlanks("options", true)},
			{Name: "pass", Doc: "In which pass the file system is checked at the start.", Default: mountPass},
			{Name: "atboot", Doc: "Whether it is mounted at the start (Solaris).", Munge: mungeAtBoot},
			{Name: "dump", Doc: "Whether dump backs it up.", Patterns: patterns("(0|1)"), Default: zeroIfManaged},
			target("The fstab. The default is that of the system.", "/etc/fstab"),
			{Name: "name", Kind: Parameter, Doc: "The directory on which it is mounted.", Validate: onlyLinuxBlanks("name"), Munge: mungeMountName},
			{
				Name: "remounts", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfBool(true), Default: canRemount,
				Doc: "Whether the system can mount it again in place. If not, it is unmounted and mounted.",
			},
		},
	})
}

// mountInSync: what is mounted or not is defined.
func mountInSync(r *Resource, is data.Value) (bool, error) {
	if r.Value("ensure").Str() == "defined" && (is.Str() == "mounted" || is.Str() == "unmounted") {
		return true, nil
	}
	return r.Matches("ensure", is), nil
}

const blanks = " \t\n\v\f\r"

func noBlanks(name string, filled bool) func(*Resource, data.Value) error {
	return func(_ *Resource, v data.Value) error {
		empty := refuse("%s must not be an empty string", name)
		if v.Kind() == data.Hash || v.Kind() == data.List { // Puppet asks these whether they are empty
			if filled && v.Len() == 0 {
				return empty
			}
			return nil
		}
		s, err := textOf(v)
		switch {
		case err != nil && filled:
			return err
		case strings.ContainsAny(s, blanks):
			return refuse("%s must not contain whitespace: %s", name, s)
		case filled && s == "":
			return empty
		}
		return nil
	}
}

// onlyLinuxBlanks: blanks are escaped in the fstab of Linux alone.
func onlyLinuxBlanks(name string) func(*Resource, data.Value) error {
	return func(r *Resource, v data.Value) error {
		if fact(r.Host, "kernel") != "linux" && strings.ContainsAny(v.Str(), blanks) {
			return refuse("%s must not contain whitespace: %s", name, v.Str())
		}
		return nil
	}
}

func solaris(r *Resource) bool { return fact(r.Host, "osfamily") == "solaris" }

func solarisDevice(r *Resource) (data.Value, bool) {
	if device := r.Value("device").Str(); strings.Contains(device, "/dsk/") {
		return data.OfString(strings.Replace(device, "/dsk/", "/rdsk/", 1)), solaris(r)
	}
	return data.OfString("-"), solaris(r) && r.Value("fstype").Str() == "nfs"
}

func mountPass(r *Resource) (data.Value, bool) {
	if solaris(r) {
		return data.OfString("-"), r.AnyManaged()
	}
	return zeroIfManaged(r)
}

func zeroIfManaged(r *Resource) (data.Value, bool) { return data.OfInt(0), r.AnyManaged() }

func mungeAtBoot(r *Resource, v data.Value) (data.Value, error) {
	b, err := mungeBoolean(r, v)
	if b.Bool() {
		return data.OfSymbol("yes"), err
	}
	return data.OfSymbol("no"), err
}

var slashesAtEnd = regexp.MustCompile(`(?m)^(.+?)/*$`)

func mungeMountName(_ *Resource, v data.Value) (data.Value, error) {
	s, err := textOf(v)
	if err != nil {
		return v, badArgument("%v", err)
	}
	return data.OfString(slashesAtEnd.ReplaceAllString(s, "$1")), nil
}

func canRemount(r *Resource) (data.Value, bool) {
	can := true
	switch fact(r.Host, "operatingsystem") {
	case "freebsd", "darwin", "dragonfly", "openbsd":
		can = false
	case "aix":
		remote := regexp.MustCompile(`^[^/]+:/`).MatchString(r.Value("device").Str())
		can = !remote && fact(r.Host, "kernelmajversion") != "5300"
	}
	return data.OfBool(can), true
}

// mountsAbove are the directories above, the highest first.
func mountsAbove(r *Resource) []string {
	var above []string
	for _, dir := range ancestors(r.Name()) {
		above = append([]string{dir}, above...)
	}
	return above
}

// filesBelow are the files of the catalog that are on it.
func filesBelow(r *Resource) []string {
	var files []string
	for _, f := range r.Catalog.Resources("file") {
		if p := path.Clean(f.Name()); strings.HasPrefix(p, r.Name()+"/") {
			files = append(files, f.Name())
		}
	}
	return files
}
