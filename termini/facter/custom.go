package facter

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/traces"
)

// custom returns the custom facts: those of the module stdlib, which are known
// here, and those that Ruby evaluates where it may. Files of others are Problems.
// Core facts and external ones are known already.
func (c *collector) custom(known, external hash) hash {
	var all hash
	var others []string
	read := make(map[string]bool) // synced files are there twice
	for _, dir := range c.o.CustomDirs {
		files, _ := filepath.Glob(globs.Replace(dir) + "/*.rb")
		for _, file := range files {
			name := filepath.Base(file)
			resolve := c.natively(file)
			switch {
			case resolve == nil:
				others = append(others, file)
			case !read[name]:
				read[name] = true
				_, span := traces.Start(c.ctx, traces.File, "custom facts: "+file)
				h := resolve(known)
				c.throughCache(h)
				all = append(all, h...)
				span.End(counted(len(h))+", without Ruby", traces.Because{}, nil)
			}
		}
	}
	if c.o.Ruby != "" && len(others) > 0 {
		c.override(&all, c.byRuby(others, external))
	} else {
		for _, file := range others {
			c.problem(file, "a custom fact is Ruby and was not evaluated; allow Ruby, or name a facter command to run it")
		}
	}
	return slices.DeleteFunc(all, func(p data.Pair) bool { return c.o.Config.hides(p.Key.Str()) })
}

// A native returns facts that a file of the module stdlib has, given those that are
// known.
type native struct {
	fact    *regexp.Regexp // what the file has, whoever else has one of its name
	resolve func(c *collector, facts hash) hash
}

var natives = map[string]native{
	"root_home.rb":        {regexp.MustCompile(`Facter\.add\(:root_home\)`), (*collector).rootHome},
	"package_provider.rb": {regexp.MustCompile(`Facter\.add\(:package_provider\)`), (*collector).packageProvider},
	"service_provider.rb": {regexp.MustCompile(`Facter\.add\(:service_provider\)`), (*collector).serviceProvider},
	"puppet_settings.rb":  {regexp.MustCompile(`Facter\.add\(:puppet_environmentpath\)`), (*collector).puppetSettings},
	"pe_version.rb":       {regexp.MustCompile(`Facter\.add\(['"]is_pe['"]\)`), (*collector).enterprise},
}

// natively returns what finds the facts of a file out without Ruby, or nil.
func (c *collector) natively(file string) func(hash) hash {
	n, ok := natives[filepath.Base(file)]
	if !ok {
		return nil
	}
	text, err := readText(file)
	if err != nil || !n.fact.MatchString(text) {
		return nil
	}
	return func(facts hash) hash { return n.resolve(c, facts) }
}

func (c *collector) rootHome(hash) hash {
	var h hash
	if u, err := user.Lookup("root"); err == nil {
		h.text("root_home", u.HomeDir)
	}
	return h
}

// puppetSettings are the settings that Options has.
func (c *collector) puppetSettings(hash) hash {
	var h hash
	for _, name := range []string{"vardir", "environmentpath", "server"} {
		h.text("puppet_"+name, c.o.Settings[name])
	}
	return h
}

// enterprise are the facts of Puppet Enterprise, which this program never is, unless
// an external fact has its version.
func (c *collector) enterprise(facts hash) hash {
	var h hash
	version := facts.get("pe_build").Text()
	h.bool("is_pe", version != "")
	if version != "" {
		h.text("pe_version", version)
		parts := strings.Split(version, ".")
		for i, name := range []string{"pe_major_version", "pe_minor_version", "pe_patch_version"} {
			if i < len(parts) {
				h.text(name, parts[i])
			}
		}
	}
	return h
}

// A provider is one that Puppet chooses by default on some systems, if its
// commands are there.
type provider struct {
	name     string
	on       string // a pattern of family, name and major version of the system, with slashes between
	commands string
}

// Those of packages, the first that fits first.
var packageProviders = []provider{
	{"apt", `^debian/`, "/usr/bin/apt-get /usr/bin/apt-cache /usr/bin/apt-mark /usr/bin/debconf-set-selections"},
	{"yum", `^redhat/amazon/|^redhat/(?:[^f]|f[^e]).*/[4-7]$`, "yum rpm"},
	{"dnf", `^redhat/`, "dnf rpm"},
	{"zypper", `^suse/(?:suse|sles|sled|opensuse)/`, "/usr/bin/zypper"},
	{"pacman", `/(?:archlinux|manjarolinux)/`, "/usr/bin/pacman"},
	{"portage", `^gentoo/`, "/usr/bin/emerge"},
	{"opkg", `/openwrt/`, "opkg"},
	{"tdnf", `/photonos/`, "tdnf rpm"},
}

// Those of services where process 1 is systemd, and where it is not.
var (
	systemdProviders = []provider{
		{"redhat", `^suse/.*/1[01]$`, "/sbin/chkconfig /sbin/service"},
		{"systemd", `^(?:archlinux|suse|coreos)/|^redhat/.*/[789]$|/fedora/|/amazon/2$|/ubuntu/|/linuxmint/(?:1[89]|2.)|/cumuluslinux/[34]$`, "systemctl"},
		{"systemd", `/debian/(?:[^567]$|..)`, "systemctl"},
		{"redhat", `^redhat/`, "/sbin/chkconfig /sbin/service"},
	}
	initProviders = []provider{
		{"debian", `^debian/`, "/usr/sbin/update-rc.d /usr/sbin/invoke-rc.d /usr/sbin/service"},
		{"redhat", `^redhat/|^suse/.*/1[01]$`, "/sbin/chkconfig /sbin/service"},
		{"openrc", `/gentoo/`, "/bin/rc-status /sbin/rc-service /sbin/rc-update"},
		{"openwrt", `/openwrt/`, "/sbin/uci"},
	}
)

func (c *collector) packageProvider(facts hash) hash {
	return c.provider("package_provider", packageProviders, facts)
}

func (c *collector) serviceProvider(facts hash) hash {
	if strings.Contains(c.read("/proc/1/comm"), "systemd") {
		return c.provider("service_provider", systemdProviders, facts)
	}
	return c.provider("service_provider", initProviders, facts)
}

// provider returns the first provider that is chosen on this system. That none is
// known here is a Problem: Puppet may know one.
func (c *collector) provider(fact string, of []provider, facts hash) hash {
	os := facts.get("os")
	system := strings.ToLower(os.Get("family").Text() + "/" + os.Get("name").Text() + "/" + os.Dig("release", "major").Text())
	for _, p := range of {
		if !regexp.MustCompile(p.on).MatchString(system) {
			continue
		}
		isMissing := slices.ContainsFunc(strings.Fields(p.commands), func(command string) bool {
			_, err := exec.LookPath(command)
			return err != nil
		})
		if !isMissing {
			return hash{data.P(fact, data.OfString(p.name))}
		}
	}
	c.problem(fact, "which provider is the default of %s is not known without Puppet", system)
	return nil
}

//go:embed custom.rb
var script string

// byRuby lets a Ruby with Facter evaluate files of custom facts, which see those
// that are external.
func (c *collector) byRuby(files []string, external hash) hash {
	within, span := traces.Start(c.ctx, traces.Exec, "run "+c.o.Ruby+": custom facts")
	given := data.OfHash([]data.Pair{
		data.P("files", data.OfStrings(files)),
		data.P("external", data.OfHash(external)),
		data.P("cached", data.OfHash(c.cachedCustom())),
		data.P("confdir", data.OfString(c.o.Settings["confdir"])),
		data.P("vardir", data.OfString(c.o.Settings["vardir"])),
	})
	input, err := format.AppendJSON(nil, given)
	var r child.Result
	if err == nil {
		r = c.runWith(string(input), c.o.Ruby, "-EUTF-8", "-e", script)
		err = r.Err
	}
	if r.Stderr != "" {
		c.problem(c.o.Ruby, "%s", r.Stderr)
	}
	var all hash
	for line := range strings.Lines(r.Stdout) {
		v, lineErr := decodeJSON(line)
		if lineErr != nil || v.Kind() != data.Hash {
			err = cmp.Or(err, lineErr, errors.New("what it answered is no hash"))
			break
		}
		c.override(&all, c.ofRuby(v.Get("core")))
		if len(files) > 0 && v.Get("file").Text() == files[0] {
			c.override(&all, c.ofFile(within, v))
			files = files[1:]
		}
	}
	span.End(counted(len(all)), traces.Because{}, err)
	for i, file := range files { // the first one was being evaluated
		if i == 0 && err != nil {
			c.problem(file, "this custom fact was not evaluated: %s", cause(err))
			continue
		}
		c.problem(file, "this custom fact was not evaluated, as Ruby ended before")
	}
	return all
}

// ofFile returns the custom facts of one file, below a span.
func (c *collector) ofFile(ctx context.Context, answer data.Value) hash {
	file, h := answer.Get("file").Text(), hash(answer.Get("facts").Hash())
	c.throughCache(h)
	_, span := traces.Start(ctx, traces.Code, "custom facts: "+file)
	milliseconds := func(key string) time.Duration {
		return time.Duration(min(max(answer.Get(key).Float(), 0), 1e9) * float64(time.Millisecond))
	}
	span.Measured(milliseconds("began"), max(milliseconds("took"), 1))
	span.End(counted(len(h)), traces.Because{}, nil)
	if e := answer.Get("error").Text(); e != "" {
		c.sentence(file, "%s", e)
	}
	return h
}

// ofRuby returns the core facts about an interpreter, with their legacy aliases.
func (c *collector) ofRuby(core data.Value) hash {
	var h hash
	for _, name := range []string{"ruby", "augeas"} {
		of := core.Get(name)
		if of.Kind() != data.Hash {
			continue
		}
		h.value(name, of)
		for _, p := range of.Hash() {
			if c.o.Legacy {
				h.value(name+p.Key.Str(), p.Value)
			}
		}
	}
	return h
}
