package types

import "indirtui/indirector/data"

// What a Host may have besides: types ask for it where it matters to a value.
type (
	// Targets has other default files for the types that are lists in a file: "" is the
	// usual one.
	Targets interface{ Target(typ string) string }
	// Homes has the home directories of accounts; "" is no such account.
	Homes interface{ Home(user string) string }
	// SystemUsers has the highest number of accounts of the system: one below the first
	// that people get (UID_MIN of /etc/login.defs).
	SystemUsers interface{ LastSystemUID() int64 }
	// Owners has the names of accounts by their numbers; "" is no such account.
	Owners interface {
		UserName(uid int64) string
		GroupName(gid int64) string
	}
	// Directories has the directory that relative paths are seen from.
	Directories interface{ WorkingDirectory() string }
)

// home is the home directory of a user, or "".
func home(h Host, user string) string {
	if x, ok := h.(Homes); ok {
		return x.Home(user)
	}
	return ""
}

// accountShown shows the number of a user or group as its name.
func accountShown(property string) func(r *Resource, v data.Value) string {
	return func(r *Resource, v data.Value) string {
		host := r.Host
		if s, ok := host.(*Selection); ok {
			host = s.Host
		}
		x, ok := host.(Owners)
		if !ok || v.Kind() != data.Int {
			return Display(v)
		}
		name := x.UserName
		if property == "group" {
			name = x.GroupName
		}
		if n := name(v.Int()); n != "" {
			return Display(data.OfString(n))
		}
		return Display(v)
	}
}

func lastSystemUID(h Host) int64 {
	if x, ok := h.(SystemUsers); ok {
		return x.LastSystemUID()
	}
	return 499
}

func workingDirectory(h Host) string {
	if x, ok := h.(Directories); ok {
		return x.WorkingDirectory()
	}
	return "/"
}
