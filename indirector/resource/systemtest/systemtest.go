// Package systemtest plays recorded systems to providers: commands that only exist in a
// case, accounts, and files below a directory. The cases are those of the recordings;
// their README describes them.
package systemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/types"
)

// A Case is what a recorded system consists of.
type Case struct {
	Platform string   `json:"platform"` // "" is debian12
	Bins     string   `json:"bins"`     // "" is those of the platform
	MoreBins []string `json:"more_bins"`
	LessBins []string `json:"less_bins"`
	Commands []Rule   `json:"commands"` // nil: commands are real
	Passwd   []Entry  `json:"passwd"`   // nil: accounts are real, unless Group is there
	Group    []Entry  `json:"group"`
	Shadow   []Entry  `json:"shadow"`
}

// A Rule is the answer to a command line: to this one, or, after a ~, to all that the
// regular expression matches as a whole.
type Rule struct {
	Run    string `json:"run"`
	Out    string `json:"out"`
	Exit   int    `json:"exit"`
	If     Words  `json:"if"`
	Unless Words  `json:"unless"`
	Set    Words  `json:"set"`
}

// Words are a word or a list of them.
type Words []string

func (w *Words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = Words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// An Entry is a line of accounts, that may hold only if flags are raised.
type Entry struct {
	Line   string `json:"line"`
	If     Words  `json:"if"`
	Unless Words  `json:"unless"`
}

func (e *Entry) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &e.Line) == nil {
		return nil
	}
	type plain Entry
	return json.Unmarshal(b, (*plain)(e))
}

// A Call is a command that was run.
type Call struct {
	Argv  []string          `json:"argv,omitempty"`
	Shell string            `json:"sh,omitempty"`
	Stdin string            `json:"stdin,omitempty"`
	UID   string            `json:"uid,omitempty"`
	GID   string            `json:"gid,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Exit  int               `json:"exit,omitempty"`
	Looks bool              `json:"-"` // it changes nothing
}

// Line is the command line of a call.
func (c *Call) Line() string {
	if c.Shell != "" {
		return c.Shell
	}
	return strings.Join(c.Argv, " ")
}

// A System is a recorded system.
type System struct {
	*system.System
	c     Case
	facts data.Value
	bins  []string

	mu    sync.Mutex // guards what follows
	flags []string
	calls []Call
}

var _ providers.System = (*System)(nil)

// New returns the system of a case, whose well-known files are below root. What types ask
// that no case answers is asked of real, which may be nil.
func New(c Case, root string, real types.Host) *System {
	s := &System{c: c, facts: platforms[or(c.Platform, "debian12")]}
	s.System = &system.System{Host: &host{real, s}, Root: root}
	if c.Commands != nil {
		s.bins = slices.Concat(bins[or(c.Bins, usualBins(c.Platform))], c.MoreBins)
		s.bins = slices.DeleteFunc(s.bins, func(b string) bool { return slices.Contains(c.LessBins, b) })
	}
	return s
}

// Selection has the default providers of accounts: the agent that was recorded asked for
// its own user and group before the case took programs away.
func (s *System) Selection() *types.Selection {
	left := s.bins
	if s.bins != nil {
		s.bins = slices.Concat(s.bins, s.c.LessBins)
	}
	all := types.NewSelection(s, nil)
	for _, name := range []string{"user", "group"} {
		all.Default(types.All()[name])
	}
	s.bins = left
	return all
}

// ReplaceAs writes as this process: the users of a case are not those of this machine.
func (s *System) ReplaceAs(ctx context.Context, name string, content []byte, as providers.Owner) error {
	dir := filepath.Dir(name)
	if _, err := s.Lstat(ctx, dir); errors.Is(err, fs.ErrNotExist) {
		if err := s.Mkdir(ctx, dir, 0o700); err != nil {
			return err
		}
		if err := s.Lchown(ctx, dir, as); err != nil {
			return err
		}
	}
	if err := s.Replace(ctx, name, content, 0o600); err != nil {
		return err
	}
	if err := s.Chmod(ctx, name, 0o600); err != nil {
		return err
	}
	return s.Lchown(ctx, name, as)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func usualBins(platform string) string {
	if strings.Contains(platform, "rhel") || strings.Contains(platform, "fedora") {
		return "redhat"
	}
	return "debian"
}

// Now is real: recordings have a placeholder for it.
func (s *System) Now() time.Time { return time.Now() }

// Calls returns what was run since the last time.
func (s *System) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// Flags are those that are raised, and Raise raises some: they last longer than a run.
func (s *System) Flags() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.flags)
}

func (s *System) Raise(flags []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flags = slices.Clone(flags)
}

// Run answers by the first rule that fits. A command without one ends with 99.
func (s *System) Run(ctx context.Context, c providers.Command) (providers.Result, error) {
	call := Call{Argv: c.Argv, Shell: c.Shell, Stdin: string(c.Stdin), Looks: system.Looks(c)}
	if len(c.Env) > 0 {
		call.Env = map[string]string{}
		for _, kv := range c.Env {
			name, value, _ := strings.Cut(kv, "=")
			call.Env[name] = value
		}
	}
	if c.User != nil && c.User.UID >= 0 {
		call.UID = strconv.Itoa(c.User.UID)
	}
	if c.User != nil && c.User.GID >= 0 {
		call.GID = strconv.Itoa(c.User.GID)
	}
	result, err := s.answer(ctx, c, call.Line())
	call.Exit = result.Exit
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	return result, err
}

func (s *System) answer(ctx context.Context, c providers.Command, line string) (providers.Result, error) {
	if s.c.Commands == nil {
		c.Dir = or(c.Dir, filepath.Dir(s.Root)) // what a command leaves behind is left there
		return s.System.Run(ctx, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, hash, ok := strings.Cut(strings.TrimSpace(string(c.Stdin)), ":"); ok && strings.HasSuffix(line, "/chpasswd -e") && !s.answers(line) {
		// Puppet gives a password at creation to usermod, in sight of all: the one deliberate difference.
		line = strings.TrimSuffix(line, "chpasswd -e") + "usermod -p " + hash + " " + name
	}
	for _, r := range s.c.Commands {
		if !r.fits(line) || !s.holds(r.If, r.Unless) {
			continue
		}
		for _, flag := range r.Set {
			if name, lower := strings.CutPrefix(flag, "-"); lower {
				s.flags = slices.DeleteFunc(s.flags, func(f string) bool { return f == name })
			} else if !slices.Contains(s.flags, flag) {
				s.flags = append(s.flags, flag)
			}
		}
		return providers.Result{Output: []byte(r.Out), Exit: r.Exit}, nil
	}
	return providers.Result{Output: []byte("unscripted: " + line + "\n"), Exit: 99}, nil
}

// answers reports whether a rule fits. It is called with mu held.
func (s *System) answers(line string) bool {
	return slices.ContainsFunc(s.c.Commands, func(r Rule) bool { return r.fits(line) && s.holds(r.If, r.Unless) })
}

func (r *Rule) fits(line string) bool {
	if pattern, ok := strings.CutPrefix(r.Run, "~"); ok {
		re, err := regexp.Compile(`(?s)\A(?:` + pattern + `)\z`)
		return err == nil && re.MatchString(line)
	}
	return r.Run == line
}

// holds is called with mu held.
func (s *System) holds(set, unset Words) bool {
	for _, f := range set {
		if !slices.Contains(s.flags, f) {
			return false
		}
	}
	return !slices.ContainsFunc(unset, func(f string) bool { return slices.Contains(s.flags, f) })
}

// scripted reports whether accounts are those of the case.
func (s *System) scripted() bool { return s.c.Passwd != nil || s.c.Group != nil }

func (s *System) lines(entries []Entry) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, e := range entries {
		if s.holds(e.If, e.Unless) {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

func (s *System) Users(ctx context.Context) ([]providers.User, error) {
	if !s.scripted() {
		return (&system.System{Host: s.Host}).Users(ctx)
	}
	return providers.ParseUsers(s.lines(s.c.Passwd)), nil
}

func (s *System) Groups(ctx context.Context) ([]providers.Group, error) {
	if !s.scripted() {
		return (&system.System{Host: s.Host}).Groups(ctx)
	}
	return providers.ParseGroups(s.lines(s.c.Group)), nil
}

// UserName and GroupName are those of the case.
func (s *System) UserName(uid int64) string {
	all, _ := s.Users(context.Background())
	for _, u := range all {
		if int64(u.UID) == uid {
			return u.Name
		}
	}
	return ""
}

func (s *System) GroupName(gid int64) string {
	all, _ := s.Groups(context.Background())
	for _, g := range all {
		if int64(g.GID) == gid {
			return g.Name
		}
	}
	return ""
}

func (s *System) User(ctx context.Context, name string) (providers.User, bool, error) {
	all, err := s.Users(ctx)
	for _, u := range all {
		if u.Name == name {
			return u, true, err
		}
	}
	return providers.User{}, false, err
}

func (s *System) Group(ctx context.Context, name string) (providers.Group, bool, error) {
	all, err := s.Groups(ctx)
	for _, g := range all {
		if g.Name == name {
			return g, true, err
		}
	}
	return providers.Group{}, false, err
}

func (s *System) Shadow(_ context.Context, name string) (providers.Shadow, bool, error) {
	shadow, ok := system.ParseShadow(s.lines(s.c.Shadow), name)
	return shadow, ok, nil
}

// A host answers types from a case.
type host struct {
	types.Host
	s *System
}

func (h *host) Fact(name string) (data.Value, bool) {
	v := h.s.facts
	for part := range strings.SplitSeq(name, ".") {
		var ok bool
		if v, ok = v.Lookup(part); !ok {
			return data.Value{}, false
		}
	}
	return v, true
}

// Feature knows those that the platform decides; others are real.
func (h *host) Feature(name string) bool {
	switch name {
	case "systemd":
		return h.s.facts.Get("comm").Str() == "systemd"
	case "libuser":
		return h.s.bins != nil && h.Which("lgroupadd") != ""
	case "posix", "root", "libshadow", "manages_symlinks":
		return true
	}
	return h.Host != nil && h.Host.Feature(name)
}

// Target is where a list is on the recorded system.
func (h *host) Target(typ string) string {
	file := map[string]string{"host": "hosts", "mount": "fstab", "mailalias": "aliases", "sshkey": "ssh/ssh_known_hosts"}[typ]
	if file == "" {
		return ""
	}
	return h.s.Path("/etc/" + file)
}

func (h *host) Setting(name string) (string, bool) {
	if h.Host != nil {
		return h.Host.Setting(name)
	}
	value, ok := map[string]string{"digest_algorithm": "sha256"}[name]
	return value, ok
}

func (h *host) Exists(name string) bool {
	if h.s.bins != nil && slices.Contains(h.s.bins, name) {
		return true
	}
	_, err := h.s.Stat(context.Background(), name)
	return err == nil
}

func (h *host) Which(program string) string {
	if h.s.bins == nil {
		if h.Host == nil {
			return ""
		}
		return h.Host.Which(program)
	}
	for _, b := range h.s.bins {
		if b == program || path.Base(b) == program {
			return b
		}
	}
	return ""
}

// Expand puts a root, and user and group of this process, in place of the placeholders of
// a recording.
func Expand(text, root string, uid, gid int) string {
	return strings.NewReplacer("@ROOT@", filepath.ToSlash(root), "@UID@", fmt.Sprint(uid), "@GID@", fmt.Sprint(gid)).Replace(text)
}
