package facter

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
	"indirtui/traces"
)

// Facts describes the facter terminus of the facts indirection.
var Facts = indirector.Descriptor{
	Indirection: "facts",
	Name:        "facter",
	Party:       "facter",
	Note:        "this host, whatever the key",
	Doc: "Collects the facts of this host, whatever the key: the key only becomes their name. " +
		"They have the shape of Facter 4 and are read in this process, with the external facts of Facter's directories and of the modules. " +
		"Those of the module stdlib are known, too; other custom facts are Ruby, which the configuration ruby or a facter command evaluates. " +
		"facter.conf is read: what is blocked is absent, and what is cached comes from Facter's cache. " +
		"The trace has each source with its time, and what could not be read.",
	Settings: []indirector.Setting{
		{Name: "certname", Doc: "The fact clientcert."},
		{Name: "noop", Doc: "The fact clientnoop."},
		{Name: "environment", Doc: "The fact agent_specified_environment, if puppet.conf or the command line gives it."},
		{Name: "include_legacy_facts", Doc: "Whether there are flat facts such as osfamily; yes unless it is false, as in Puppet 7."},
		{Name: "modulepath", Doc: "Directories of modules, whose facts.d have external facts."},
		{Name: "pluginfactdest", Doc: "A directory of external facts."},
		{Name: "factpath", Doc: "Directories of custom facts."},
		{Name: "vardir", Doc: "The fact puppet_vardir of the module stdlib, and where custom facts of others look."},
		{Name: "confdir", Doc: "Where custom facts look."},
		{Name: "environmentpath", Doc: "The fact puppet_environmentpath of the module stdlib."},
		{Name: "server", Doc: "The fact puppet_server of the module stdlib."},
		{Name: settingConfig, Doc: "The path of facter.conf; nothing is that of Facter. Not a setting of Puppet."},
		{Name: settingCache, Doc: "The directory where the ttls of facter.conf keep facts; nothing is that of Facter. Not a setting of Puppet."},
		{Name: settingCommand, Doc: "The path of a real facter that is run instead. Not a setting of Puppet."},
		{Name: settingTimeout, Doc: "How long one executable fact, or that command, may take, as 30s; nothing is five minutes. Not a setting of Puppet."},
	},
	Type: (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		timeout, err := indirector.DurationOf(env.Settings, settingTimeout, 0)
		if err != nil {
			return nil, err
		}
		return &Terminus{nodefacts.Code{From: "Facter"}, env, timeout}, nil
	},
}

const (
	settingConfig  = "facter_config"
	settingCache   = "facter_cachedir"
	settingCommand = "facter_command"
	settingTimeout = "facter_timeout"

	// puppetVersion is the version of the Puppet whose behaviour this program has.
	puppetVersion = "7.23.0"
)

// A Terminus collects facts anew at each find.
type Terminus struct {
	nodefacts.Code
	env     indirector.Env
	timeout time.Duration // zero is the default of Options
}

var (
	_ indirector.Finder    = (*Terminus)(nil)
	_ indirector.Saver     = (*Terminus)(nil)
	_ indirector.Destroyer = (*Terminus)(nil)
	_ indirector.Local     = (*Terminus)(nil)
)

// Find returns the facts of this host under the name of the key. The options
// external_dir and custom_dir are further directories; with resolve_options,
// which the face facts gives, user_query names the wanted facts, show_legacy
// decides about flat facts, and the facts of Puppet itself are left out.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	o := t.options(req)
	o.ReadOnly = indirector.Looking(ctx)
	o.Ruby = t.env.Ruby.For(req)
	values, err := t.collect(ctx, req, o)
	if err != nil {
		return nil, err
	}
	if query := queries(req); len(query) > 0 {
		values = pick(values, query)
	}
	return &model.Facts{Name: req.Key, Values: model.SanitizeFacts(values), Timestamp: model.At(t.env.Now())}, nil
}

// collect runs Collect below a span, with its problems as notes.
func (t *Terminus) collect(ctx context.Context, req *indirector.Request, o Options) (data.Value, error) {
	name := "collect facts"
	if o.Command != "" {
		name = "exec " + o.Command
	}
	within, span := traces.Start(ctx, traces.Exec, name)
	values, problems, err := Collect(within, o)
	answer := strconv.Itoa(values.Len()) + " facts"
	if err != nil {
		answer = "failed"
	}
	if span != nil {
		span.Attr("external", strings.Join(o.ExternalDirs, ":"))
		span.Attr("problems", strconv.Itoa(len(problems)))
		span.End(answer, traces.Because{}, err)
	}
	for _, p := range problems { // beside the story: what is missing did not decide the answer
		_, span := traces.Start(ctx, traces.Note, p.Error())
		span.End("", traces.Because{}, nil)
	}
	if err != nil && ctx.Err() == nil {
		return values, &indirector.Failure{
			Message: fmt.Sprintf("Could not retrieve local facts of %s: %s", req.Key, err),
			Origin:  "exec", Path: o.Command, Err: err,
		}
	}
	return values, err
}

// options combines the settings and the request. Directories are
// in Puppet's order, behind those of Facter itself.
func (t *Terminus) options(req *indirector.Request) Options {
	get := func(name string) string {
		value, _ := t.env.Settings.Get(name)
		return value
	}
	path := cmp.Or(get(settingConfig), DefaultConfig())
	if file, ok := req.Option("config_file").(string); ok && resolves(req) {
		path = file
	}
	cfg := ReadConfig(path)
	o := Options{
		Config: cfg, ConfigFile: path,
		CacheDir:     cmp.Or(get(settingCache), DefaultCacheDir(path)),
		ExternalDirs: cfg.ExternalDirs,
		CustomDirs:   slices.Clip(cfg.CustomDirs),
		Command:      get(settingCommand),
		Timeout:      t.timeout,
		Legacy:       get("include_legacy_facts") != "false" && !cfg.HideLegacy,
	}
	if o.ExternalDirs == nil {
		o.ExternalDirs = DefaultExternalDirs(os.Getuid() == 0, os.Getenv("HOME"))
	}
	o.Settings = map[string]string{}
	for _, name := range []string{"confdir", "vardir", "environmentpath", "server"} {
		o.Settings[name] = get(name)
	}
	for _, path := range filepath.SplitList(get("modulepath")) {
		o.ExternalDirs = append(o.ExternalDirs, directories(path, "*", "facts.d")...)
		o.CustomDirs = append(o.CustomDirs, directories(path, "*", "lib", "facter")...)
		o.CustomDirs = append(o.CustomDirs, directories(path, "*", "plugins", "facter")...)
	}
	o.ExternalDirs = append(o.ExternalDirs, directories(get("pluginfactdest"))...)
	for _, dir := range filepath.SplitList(get("factpath")) {
		o.CustomDirs = append(o.CustomDirs, directories(dir)...)
	}
	if dir, ok := req.Option("external_dir").(string); ok {
		o.ExternalDirs = append(o.ExternalDirs, dir)
	}
	if dir, ok := req.Option("custom_dir").(string); ok {
		o.CustomDirs = append(o.CustomDirs, dir)
	}
	o.Extra = []data.Pair{data.P("puppetversion", data.OfString(puppetVersion)), data.P("agent_specified_environment", t.environment())}
	if resolves(req) {
		if no := req.Option("no_cache"); no == false || no == "false" { // so the face hands --no-cache on
			o.CacheDir = ""
		}
		o.Legacy = isTrue(req.Option("show_legacy")) || len(queries(req)) > 0
		return o
	}
	o.Legacy = o.Legacy || isTrue(req.Option("show_legacy"))
	o.Extra = append(o.Extra, model.LocalFacts(get("certname"), puppetVersion, get("noop") == "true")...)
	return o
}

// environment is the environment that was chosen for this agent, or nil.
func (t *Terminus) environment() data.Value {
	value, place := t.env.Settings.Get("environment")
	chosen := strings.HasPrefix(place, "--") || strings.HasSuffix(place, "[agent]") || strings.HasSuffix(place, "[main]")
	if !chosen || value == "" {
		return data.Value{}
	}
	return data.OfString(value)
}

// directories returns the directories that match a path, which is literal but
// for the parts that follow.
func directories(path string, parts ...string) []string {
	if path == "" {
		return nil
	}
	quoted := globs.Replace(path)
	matches, _ := filepath.Glob(filepath.Join(append([]string{quoted}, parts...)...))
	var dirs []string
	for _, m := range matches {
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			dirs = append(dirs, m)
		}
	}
	return dirs
}

var globs = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)

func resolves(req *indirector.Request) bool { return isTrue(req.Option("resolve_options")) }

func isTrue(v any) bool { return v == true || v == "true" }

// queries are the facts that a resolving request asks for.
func queries(req *indirector.Request) []string {
	if !resolves(req) {
		return nil
	}
	switch q := req.Option("user_query").(type) {
	case string:
		return strings.Fields(q)
	case []string:
		return q
	}
	return nil
}

// pick returns the facts of a query by the names that it gives them. Points
// lead into hashes and lists; one that leads nowhere is nil.
func pick(facts data.Value, query []string) data.Value {
	var h hash
	for _, q := range query {
		v, ok := facts.Lookup(q)
		if !ok {
			v = facts
			for part := range strings.SplitSeq(q, ".") {
				v = step(v, part)
			}
		}
		h.put(q, v)
	}
	return sorted(data.OfHash(h))
}

func step(v data.Value, part string) data.Value {
	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(v.List()) {
		return v.List()[i]
	}
	return v.Get(part)
}
