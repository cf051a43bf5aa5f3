package providers

import (
	"slices"

	"indirtui/indirector/resource/types"
)

// A Line is one of the log, in Puppet's words.
type Line struct {
	Level, Message string
	Resource       *types.Resource // that it is of; nil is Puppet itself
	Property       string          // of the resource; "" is the resource as a whole
	ByProvider     bool            // the source is "Mount[/data](provider=parsed)"
}

// logger takes lines of the log; it may be nil.
type logger func(Line)

func (l logger) line(line Line) {
	if l != nil {
		l(line)
	}
}

// note logs a line of a resource.
func (l logger) note(r *types.Resource, level, message string) {
	l.line(Line{Level: level, Message: message, Resource: r})
}

// own logs a line of a provider about a resource.
func (l logger) own(r *types.Resource, level, message string) {
	l.line(Line{Level: level, Message: message, Resource: r, ByProvider: true})
}

// A Set has the providers of one run, or of one request. It is for one goroutine.
type Set struct {
	// Log takes what providers log. It may be nil.
	Log func(Line)
	// Sources has what files are copied from that is not on this machine. It may be nil.
	Sources Sources
	// Buckets keeps files on servers. It may be nil.
	Buckets Buckets
	// Noop reports whether a resource is only looked at. It may be nil: none is.
	Noop func(*types.Resource) bool
	made map[string]Provider
}

// makers are the providers that there are, by type and name. A type without providers
// has an empty name.
var makers = map[string]func(log logger) Provider{
	"cron/crontab":              newCron,
	"component/":                newNothing,
	"exec/posix":                newExec,
	"exec/shell":                newExec,
	"file/posix":                newFile,
	"filebucket/":               newNothing,
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
	"notify/":                   newNotify,
	"schedule/":                 newNothing,
	"stage/":                    newNothing,
	"tidy/":                     newTidy,
	"whit/":                     newNothing,
	"user/useradd":              newUser,
}

// Has reports whether this program has a provider of a type.
func Has(t *types.Type) bool {
	has := func(name string) bool { return makers[t.Name+"/"+name] != nil }
	return t.Name == "resources" || has("") || slices.ContainsFunc(t.Providers, func(p *types.Provider) bool { return has(p.Name) })
}

// HasProvider reports whether this program has the provider of a name for a type.
func HasProvider(t *types.Type, name string) bool { return makers[t.Name+"/"+name] != nil }

// Of returns the provider of a name for a type, always the same; false if this program
// lacks it. The name is empty for a type that has none.
func (s *Set) Of(t *types.Type, name string) (Provider, bool) {
	key := t.Name + "/" + name
	if p := s.made[key]; p != nil {
		return p, true
	}
	if s.made == nil {
		s.made = map[string]Provider{}
	}
	var p Provider
	if maker, ok := makers[key]; ok {
		p = maker(s.Log)
		if f, ok := p.(*file); ok {
			f.remote, f.buckets, f.noop = s.Sources, s.Buckets, s.Noop
		}
	} else if key == "resources/" {
		p = &purger{s}
	} else {
		return nil, false
	}
	s.made[key] = p
	return p, true
}
