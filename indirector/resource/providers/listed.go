package providers

import (
	"context"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// listers are providers that are only listed here. What they do is done in Ruby.
var listers = map[string]func(log logger) Lister{
	"package/gem": func(log logger) Lister { return gems{log, "gem", nil} },
	"package/puppet_gem": func(log logger) Lister {
		return gems{log, "/opt/puppetlabs/puppet/bin/gem", []string{"PKG_CONFIG_PATH=/opt/puppetlabs/puppet/lib/pkgconfig"}}
	},
	"package/pip":  func(logger) Lister { return pips{"pip", "pip-python", "pip2", "pip-2"} },
	"package/pip2": func(logger) Lister { return pips{"pip2"} },
	"package/pip3": func(logger) Lister { return pips{"pip3"} },
}

// lister is what lists the resources of a provider of a type, or nil. only reports that it does
// nothing else.
func (s *Set) lister(t *types.Type, name string) (l Lister, only bool) {
	if p, ok := s.Of(t, name); ok {
		l, _ = p.(Lister)
		return l, false
	}
	if maker := listers[t.Name+"/"+name]; maker != nil {
		return maker(s.Log), true
	}
	return nil, false
}

// gems are packages of a Ruby.
type gems struct {
	log     logger
	program string
	env     []string
}

var gemLine = regexp.MustCompile(`^(\S+)\s+\((.+)\)`)

// Instances asks for all gems at once. One may have several versions.
func (g gems) Instances(ctx context.Context, s System) ([]Instance, error) {
	program := s.Which(g.program)
	if program == "" {
		return nil, nil
	}
	out, err := executeAs(ctx, s, Command{Argv: []string{program, "list", "--local"}, Env: append([]string{"HOME=" + os.Getenv("HOME")}, g.env...)})
	if err != nil {
		return nil, failure("Could not list gems: %w", err)
	}
	var all []Instance
	for line := range strings.Lines(out) {
		m := gemLine.FindStringSubmatch(line)
		if m == nil {
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				g.log.line(Line{Level: "warning", Message: "Could not match " + line})
			}
			continue
		}
		var versions []string
		for version := range strings.SplitSeq(strings.Replace(m[2], "default: ", "", 1), ",") {
			if words := strings.Fields(version); len(words) > 0 {
				versions = append(versions, words[0])
			}
		}
		all = append(all, Instance{Name: m[1], Properties: []data.Pair{data.P("ensure", data.OfStrings(versions))}})
	}
	return all, nil
}

// pips are packages of a Python, by the first of these programs that is there.
type pips []string

var (
	pipVersion = regexp.MustCompile(`(?m)^\s*pip ((\d+)\.(\d+)\.?\d*)`)
	pipLine    = regexp.MustCompile(`^([^=]+)===?([^=]+)$`)
)

// Instances asks pip for its version, because an old one does not list itself, and for all
// packages at once.
func (names pips) Instances(ctx context.Context, s System) ([]Instance, error) {
	program := ""
	for _, name := range names {
		if program = s.Which(name); program != "" {
			break
		}
	}
	if program == "" {
		return nil, nil
	}
	out, err := execute(ctx, s, program, "--version")
	if err != nil {
		return nil, err
	}
	version := pipVersion.FindStringSubmatch(out)
	if version == nil {
		return nil, failure("Cannot resolve pip version")
	}
	argv := []string{program, "freeze"}
	major, _ := strconv.Atoi(version[2])
	minor, _ := strconv.Atoi(version[3])
	knows := major > 8 || major == 8 && minor >= 1
	if knows {
		argv = append(argv, "--all")
	}
	if out, err = execute(ctx, s, argv...); err != nil {
		return nil, err
	}
	var all []Instance
	is := func(name, version string) {
		all = append(all, Instance{Name: name, Properties: []data.Pair{data.P("ensure", data.OfString(version))}})
	}
	for line := range strings.Lines(out) {
		if m := pipLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			is(m[1], m[2])
		}
	}
	if !knows {
		is(path.Base(program), version[1])
	}
	return all, nil
}
