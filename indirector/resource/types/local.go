package types

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
