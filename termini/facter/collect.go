package facter

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// Version is the version of Facter whose shape the facts have, and the value
// of the fact facterversion when they are collected in this process.
const Version = "4.3.0"

// Limits on what is not ours. What is larger is a Problem.
const (
	maxText  = 8 << 20 // bytes of a fact file or of the output of an executable
	maxError = 4 << 10 // bytes of stderr kept
	maxDepth = 100     // of nested YAML, as Ruby has it for JSON
)

// Options are the options of Collect. The zero value collects the core facts
// and those of the environment.
type Options struct {
	// ExternalDirs are the directories of external facts. Of two files that
	// name a fact the one in the earlier directory wins, and within a directory
	// the one whose name sorts last. See DefaultExternalDirs.
	ExternalDirs []string

	// CustomDirs are the directories of custom facts. These are Ruby. Those of the
	// module stdlib are known here; Ruby, an interpreter that has Facter, or Command
	// evaluates others. Without either, each file of these is a Problem.
	CustomDirs []string
	Ruby       string

	// Settings are those of Puppet that custom facts know: confdir, vardir,
	// environmentpath, server.
	Settings map[string]string

	// Config is what a facter.conf asks for; nil is nothing. Its directories and
	// whether it hides legacy facts are for the caller. Command reads ConfigFile
	// instead; "" is that of its own.
	Config     *Config
	ConfigFile string

	// CacheDir has the files of facts that Config wants to be cached; "" caches
	// nothing. ReadOnly leaves them as they are.
	CacheDir string
	ReadOnly bool

	// Legacy adds the flat facts that Facter hides unless asked: osfamily,
	// ipaddress, memorysize, …
	Legacy bool

	// Command is the path of a real facter to be run instead of collecting in
	// this process. "" collects.
	Command string

	// Timeout is how long one executable, or Command, may take; 0 is five
	// minutes, as in Facter. One that takes longer is killed with its children.
	Timeout time.Duration

	// Environ are the variables, as in os.Environ, in which FACTER_name=value is
	// a fact, and which executables see; nil is os.Environ().
	Environ []string

	// Extra are facts that override those collected, as facts that Puppet itself
	// adds do: puppetversion. A nil Value is no fact.
	Extra []data.Pair
}

// A Problem is something that could not be read, run or known. The facts are
// what they would be without it.
type Problem struct {
	Path    string // the file, the directory, or the name of the fact; "" if it is about none
	Message string
	IsWhole bool // Message is a sentence of Facter, which names what it is about
}

// Error returns both parts. A Problem is not returned as an error.
func (p Problem) Error() string {
	if p.IsWhole {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Collect returns the facts of this host as a hash whose keys are sorted, as
// Facter prints them. Nothing is invented: what is not known is absent, and if
// that is worth knowing it is a Problem. The error is that of an ended ctx, or
// that of a Command that gave no facts; there are no facts then.
func Collect(ctx context.Context, o Options) (data.Value, []Problem, error) {
	c := newCollector(ctx, o)
	facts, err := c.collect()
	if ctx.Err() != nil {
		return data.Value{}, c.problems, context.Cause(ctx)
	}
	if err != nil {
		return data.Value{}, c.problems, err
	}
	for _, p := range o.Extra {
		if !p.Value.IsNil() {
			facts.put(p.Key.Str(), p.Value)
		}
	}
	return sorted(data.OfHash(facts)), c.problems, nil
}

// A collector is one run of Collect. It lives on one goroutine.
type collector struct {
	ctx      context.Context // of this run, and no longer
	o        Options
	root     string // "" outside of tests
	problems []Problem
	caches   map[string]*cached // by group
}

func newCollector(ctx context.Context, o Options) *collector {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Config == nil {
		o.Config = new(Config)
	}
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	return &collector{ctx: ctx, o: o, problems: slices.Clone(o.Config.Problems)}
}

func (c *collector) problem(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{path, fmt.Sprintf(format, args...), false})
}

// sentence is problem in the words of Facter.
func (c *collector) sentence(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{path, fmt.Sprintf(format, args...), true})
}

func (c *collector) collect() (hash, error) {
	if c.o.Command != "" {
		return c.command()
	}
	facts, external := c.core(), c.external()
	known := slices.Clone(facts)
	c.override(&known, external)
	c.override(&facts, c.custom(known, external))
	c.override(&facts, external)
	c.saveCaches()
	return facts, nil
}

// command runs a real facter.
func (c *collector) command() (hash, error) {
	args := []string{"--json", "--no-color"}
	if c.o.Legacy {
		args = append(args, "--show-legacy")
	}
	if c.o.ConfigFile != "" {
		args = append(args, "--config", c.o.ConfigFile)
	}
	for _, d := range c.o.CustomDirs {
		args = append(args, "--custom-dir", d)
	}
	for _, d := range c.o.ExternalDirs {
		args = append(args, "--external-dir", d)
	}
	if len(c.o.ExternalDirs) == 0 {
		args = append(args, "--no-external-facts")
	}
	r := c.run(c.o.Command, args...)
	if r.Stderr != "" {
		c.problem(c.o.Command, "%s", r.Stderr)
	}
	v, err := decodeJSON(r.Stdout)
	switch {
	case r.Err != nil && (!r.Ended || err != nil):
		return nil, fmt.Errorf("run %q: %w", c.o.Command, r.Err)
	case r.Err != nil: // facter ends with 1 when it has logged an error about any fact
		c.problem(c.o.Command, "%s", r.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the output of %q: %w", c.o.Command, err)
	}
	if v.Kind() != data.Hash {
		return nil, fmt.Errorf("read the output of %q: a hash of facts was expected, got a %s", c.o.Command, v.Kind())
	}
	return hash(v.Hash()), nil
}

// env returns the value of a variable of the run.
func (c *collector) env(name string) string {
	for _, kv := range slices.Backward(c.o.Environ) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// read returns the text of a file of the system, and "" if it cannot be read.
func (c *collector) read(path string) string {
	f, err := os.Open(c.root + path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return ""
	}
	return string(b)
}

// line is read for files of one line.
func (c *collector) line(path string) string { return strings.TrimSpace(c.read(path)) }

func (c *collector) exists(path string) bool {
	_, err := os.Stat(c.root + path)
	return err == nil
}

// names returns the sorted names in a directory; none if it cannot be read.
func (c *collector) names(dir string) []string {
	entries, _ := os.ReadDir(c.root + dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// A hash is being built. Its adders leave out what is not known.
type hash []data.Pair

// put sets key, in its old place if it has one.
func (h *hash) put(key string, v data.Value) {
	for i := range *h {
		if (*h)[i].Key.Str() == key {
			(*h)[i].Value = v
			return
		}
	}
	*h = append(*h, data.P(key, v))
}

func (h *hash) value(key string, v data.Value) {
	if !v.IsNil() {
		*h = append(*h, data.P(key, v))
	}
}

// text adds s, unless it is empty. Bytes that are no UTF-8 are replaced.
func (h *hash) text(key, s string) {
	if s != "" {
		*h = append(*h, data.P(key, data.OfString(strings.ToValidUTF8(s, "�"))))
	}
}

func (h *hash) num(key string, i int64)     { *h = append(*h, data.P(key, data.OfInt(i))) }
func (h *hash) float(key string, f float64) { *h = append(*h, data.P(key, data.OfFloat(f))) }
func (h *hash) bool(key string, b bool)     { *h = append(*h, data.P(key, data.OfBool(b))) }

// hash adds x, unless it is empty.
func (h *hash) hash(key string, x hash) {
	if len(x) > 0 {
		*h = append(*h, data.P(key, data.OfHash(x)))
	}
}

func (h hash) get(key string) data.Value { return data.OfHash(h).Get(key) }

// sorted returns v with the keys of its hashes in order. Those of hashes inside
// lists stay as they are, which is what Facter does.
func sorted(v data.Value) data.Value {
	if v.Kind() != data.Hash {
		return v
	}
	h := make([]data.Pair, v.Len())
	for i, p := range v.Hash() {
		h[i] = data.Pair{Key: p.Key, Value: sorted(p.Value)}
	}
	slices.SortStableFunc(h, func(a, b data.Pair) int { return strings.Compare(a.Key.Text(), b.Key.Text()) })
	return data.OfHash(h)
}

// check looks at everything in v, which aliases of YAML make a graph. It takes
// what it has seen from left, so that a small text cannot stand for a large value.
func check(v data.Value, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("more than %d values", maxNodes)
	}
	switch v.Kind() {
	case data.String, data.Symbol:
		if !utf8.ValidString(v.Str()) {
			return errNotUTF8
		}
	case data.List:
		for _, x := range v.List() {
			if err := check(x, left); err != nil {
				return err
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if err := check(p.Key, left); err != nil {
				return err
			}
			if err := check(p.Value, left); err != nil {
				return err
			}
		}
	}
	return nil
}
