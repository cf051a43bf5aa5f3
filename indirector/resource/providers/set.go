package providers

import "indirtui/indirector/resource/types"

// logger takes lines of the log in Puppet's words; it may be nil.
type logger = func(level, message string)

// A Set has the providers of one run, or of one request. It is for one goroutine.
type Set struct {
	// Log takes what providers log that belongs to no resource. It may be nil.
	Log  func(level, message string)
	made map[string]Provider
}

// makers are the providers that there are, by type and name. A type without providers
// has an empty name.
var makers = map[string]func(log logger) Provider{
	"cron/crontab":              newCron,
	"group/groupadd":            newGroup,
	"host/parsed":               newHost,
	"mailalias/aliases":         newMailalias,
	"package/apt":               newApt,
	"package/dnf":               newDnf,
	"package/dpkg":              newDpkg,
	"package/rpm":               newRPM,
	"package/yum":               newYum,
	"service/base":              newBase,
	"service/debian":            newDebian,
	"service/init":              newInit,
	"service/redhat":            newRedhat,
	"service/systemd":           newSystemd,
	"mount/parsed":              newMount,
	"sshkey/parsed":             newSSHKey,
	"ssh_authorized_key/parsed": newAuthorizedKey,
	"user/useradd":              newUser,
}

// Of returns the provider of a name for a type, always the same; false if this program
// lacks it. The name is empty for a type that has none.
func (s *Set) Of(t *types.Type, name string) (Provider, bool) {
	key := t.Name + "/" + name
	if p := s.made[key]; p != nil {
		return p, true
	}
	maker, ok := makers[key]
	if !ok {
		return nil, false
	}
	if s.made == nil {
		s.made = map[string]Provider{}
	}
	p := maker(s.Log)
	s.made[key] = p
	return p, true
}
