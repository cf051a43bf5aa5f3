package transaction

import (
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// An Offline is a Host without a machine: for resources that are only looked at.
type Offline struct {
	Settings func(name string) (string, bool)
}

var _ types.Host = Offline{}

// Fact has none.
func (Offline) Fact(string) (data.Value, bool) { return data.Value{}, false }

// Setting asks Settings.
func (o Offline) Setting(name string) (string, bool) {
	if o.Settings != nil {
		return o.Settings(name)
	}
	value, ok := map[string]string{"digest_algorithm": "sha256", "clientbucketdir": "/"}[name]
	return value, ok
}

// Feature has those of a POSIX system.
func (Offline) Feature(name string) bool { return name == "posix" }

// Exists is false.
func (Offline) Exists(string) bool { return false }

// Which finds nothing.
func (Offline) Which(string) string { return "" }
