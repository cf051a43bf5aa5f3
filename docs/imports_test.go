// Package docs_test holds the documents against the program: who may import
// whom, and what README.md and ARCHITECTURE.md promise.
package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "indirtui/"

// A rule lists the packages of ours that those matching a pattern may import. A
// pattern is a path.Match pattern of the path within the module; a final /...
// is all that is below. The first rule that fits a package counts.
type rule struct {
	packages string
	may      string // patterns, with blanks between them
	foreign  string // prefixes of packages of others; "" is the standard library alone
}

// rules is the table of docs/ARCHITECTURE.md.
var rules = []rule{
	{".", "termini ui/cli", "earlier"},

	{"traces", "", ""},
	{"traces/spell", "", ""},
	{"traces/query", "traces traces/spell", ""},
	{"traces/store", "traces traces/query", ""},
	{"traces/tree", "", ""},
	{"traces/leaktest", "", "go.uber.org/goleak"},
	{"traces/diff", "traces traces/store traces/tree", ""},
	{"traces/export", "traces traces/query traces/store", "go.opentelemetry.io/"},
	{"traces/fleet/fleettest", "", "github.com/jackc/pgx/v5"},
	{"traces/fleet", "traces traces/query traces/store", "github.com/jackc/pgx/v5 modernc.org/sqlite"},

	{"indirector", "indirector/data indirector/rich traces traces/spell", ""},
	{"indirector/data", "", ""},
	{"indirector/origins", "traces traces/spell", ""},
	{"indirector/redact", "indirector/data", ""},
	{"indirector/rich", "indirector/data", ""},
	{"indirector/settings", "traces/spell", ""},
	{"indirector/modules", "", ""},
	{"indirector/model", "indirector indirector/data indirector/origins", ""},
	{"indirector/format/psych", "indirector/data", "gopkg.in/yaml.v3"},
	{"indirector/format/hocon", "indirector/data indirector/format", ""},
	{"indirector/format", "indirector indirector/data indirector/format/psych indirector/model indirector/rich", ""},
	{"indirector/routes", "indirector indirector/data indirector/format/psych indirector/settings traces traces/spell", "gopkg.in/yaml.v3"},
	{"indirector/engine", "indirector indirector/... traces traces/store", ""},
	{"indirector/network/rest", "indirector indirector/host/child indirector/data indirector/format indirector/model indirector/puppetdb/api indirector/settings traces", ""},
	{"indirector/network/client/clienttest", "", ""},
	{"indirector/network/client", "indirector indirector/network/keyfile traces", "golang.org/x/net golang.org/x/sys"},
	{"indirector/puppetdb/command", "indirector indirector/data indirector/format indirector/model indirector/rich indirector/language/rtype", ""},
	{"indirector/puppetdb/puppetdbtest", "indirector/network/client/clienttest", ""},
	{"indirector/puppetdb/api", "indirector indirector/data indirector/format indirector/model indirector/puppetdb/command", ""},
	{"indirector/puppetdb", "indirector indirector/data indirector/format indirector/model indirector/network/client indirector/puppetdb/command indirector/stores traces", ""},
	{"indirector/stores", "", ""},
	{"indirector/sqlstore", "indirector indirector/data indirector/format indirector/model indirector/puppetdb/command indirector/stores traces", "github.com/jackc/pgx/v5 modernc.org/sqlite golang.org/x/sys"},
	{"indirector/sqlstore/storetest", "traces/leaktest", "github.com/jackc/pgx/v5"},
	{"indirector/host/filelock", "", "golang.org/x/sys"},
	{"indirector/host/files", "", ""},
	{"indirector/host/fnmatch", "", ""},
	{"indirector/host/namespacetest", "", ""},
	{"indirector/device", "indirector indirector/data indirector/format indirector/host/child traces", ""},
	{"indirector/hiera", "indirector/data indirector/format indirector/format/hocon indirector/format/psych indirector/host/fnmatch indirector/language/onig indirector/language/syntax indirector/language/types traces", "gopkg.in/yaml.v3"},
	{"indirector/network/keyfile", "", "github.com/youmark/pkcs8"},
	{"indirector/host/child", "indirector/host/filelock", ""},
	{"indirector/host/terminal", "", "github.com/creack/pty github.com/charmbracelet/x/ansi"},
	{"indirector/network/ca", "indirector/host/child indirector/host/filelock indirector/host/files indirector/network/keyfile indirector indirector/format indirector/model traces", "golang.org/x/"},
	{"indirector/network/authconf", "", "github.com/"},
	{"indirector/network/server", "indirector indirector/... traces", ""},
	{"ui/demo/scenarios", "indirector indirector/... traces traces/store", ""},
	{"indirector/debugger", "indirector indirector/data indirector/format indirector/host/files indirector/model traces traces/...", "gopkg.in/yaml.v3"},
	{"indirector/golden", "indirector/data indirector/format/psych", ""},
	{"indirector/terminustest", "indirector indirector/data traces", "go.uber.org/goleak"},

	// Rooms to come: see ARCHITECTURE.md.
	{"indirector/language/syntax", "", ""},
	{"indirector/language/ruby", "", ""},
	{"indirector/language/rtype", "indirector/language/ruby indirector/language/syntax indirector/resource/types", ""},
	{"indirector/language/loader", "indirector/language/eval indirector/language/rtype indirector/language/syntax indirector/modules traces/spell", ""},
	{"indirector/language/types", "indirector/data indirector/language/onig indirector/language/syntax indirector/rich", ""},
	{"indirector/language/onig", "indirector/rich", "github.com/dlclark/regexp2"},
	{"indirector/language/eval", "indirector/data indirector/language/onig indirector/language/syntax indirector/language/types indirector/rich traces", ""},
	{"indirector/language/fn", "indirector/data indirector/language/eval indirector/language/onig indirector/language/syntax indirector/language/types indirector/rich", ""},
	{"indirector/language/compile", "indirector/data indirector/model indirector/origins indirector/language/eval indirector/language/fn indirector/language/onig indirector/language/rtype indirector/language/syntax indirector/language/types", ""},
	{"indirector/language/helper", "indirector/data indirector/host/child indirector/language/eval indirector/language/syntax indirector/language/types traces", ""},
	{"indirector/language/site", "indirector/data indirector/hiera indirector/origins indirector/language/compile indirector/language/erb indirector/language/eval indirector/language/fn indirector/language/fn/stdlib indirector/language/helper indirector/language/loader indirector/language/rtype indirector/language/syntax indirector/language/types traces", ""},
	{"indirector/language/erb", "indirector/data indirector/format indirector/format/psych indirector/language/eval indirector/language/fn indirector/language/onig indirector/language/ruby indirector/language/types", ""},
	{"indirector/language/fn/stdlib", "indirector/data indirector/format indirector/format/psych indirector/language/eval indirector/language/fn indirector/language/onig indirector/language/syntax indirector/language/types", "golang.org/x/crypto/"},
	{"indirector/language/...", "indirector/data indirector/model indirector/rich indirector/language/... indirector/hiera traces traces/spell", ""},
	{"indirector/resource/types", "indirector/data indirector/rich", ""},
	{"indirector/resource/providers", "indirector indirector/data indirector/host/fnmatch indirector/model indirector/resource/listfile indirector/resource/types", "github.com/knqyf263/"},
	{"indirector/resource/transaction", "indirector indirector/data indirector/format/psych indirector/model indirector/host/... indirector/resource/... traces", "github.com/aymanbagabas/go-udiff"},
	{"indirector/resource/foreign", "indirector indirector/data indirector/format indirector/host/child indirector/model indirector/resource/providers indirector/resource/types traces", ""},
	{"indirector/resource/...", "indirector indirector/data indirector/format/psych indirector/model indirector/host/... indirector/resource/... traces", "golang.org/x/sys"},
	{"indirector/probe", "indirector indirector/network/rest traces traces/store", ""},
	{"indirector/probe/hold", "indirector indirector/debugger indirector/format indirector/model indirector/probe traces", ""},
	{"termini/compiler", "indirector indirector/data indirector/format indirector/hiera indirector/host/child indirector/language/... indirector/model indirector/puppetdb termini/internal/nested traces", ""},
	{"termini/hiera", "indirector indirector/data indirector/hiera indirector/language/eval indirector/language/loader indirector/language/site indirector/model termini/internal/nested traces", ""},
	{"termini/ral", "indirector indirector/data indirector/model indirector/resource/... termini/internal/nested traces", ""},

	{"termini", "indirector indirector/model termini/*", ""},
	{"termini/internal/storing", "indirector indirector/data indirector/puppetdb/command", ""},
	{"termini/internal/*", "indirector indirector/data indirector/host/files indirector/model termini/internal/nested traces", "golang.org/x/sys"},
	{"termini/*", "indirector indirector/host/child indirector/data indirector/device indirector/format indirector/format/hocon indirector/format/psych indirector/model indirector/modules indirector/network/rest indirector/network/client indirector/network/ca indirector/host/filelock indirector/host/files indirector/host/fnmatch indirector/puppetdb indirector/puppetdb/command indirector/sqlstore termini/internal/* traces", "golang.org/x/ github.com/go-ldap/ldap/v3 github.com/miekg/dns"},

	{"ui/term", "", "github.com/ golang.org/x/sys"},
	{"ui/screen", "ui/term", "github.com/"},
	{"ui/widget", "ui/screen ui/term", "github.com/"},
	{"ui/session", "indirector indirector/data indirector/debugger indirector/probe/hold traces traces/query traces/store ui/screen ui/term", "github.com/"},
	{"ui/cli", "indirector indirector/... traces traces/... ui ui/...", "github.com/"},
	{"ui", "indirector indirector/data indirector/debugger indirector/probe/hold indirector/stores traces traces/... ui/*", "github.com/"},
	{"ui/cache", "indirector traces traces/... ui/*", "github.com/"},
	{"ui/command", "indirector indirector/... traces", ""},
	{"ui/config", "traces/spell ui/screen ui/term", "gopkg.in/yaml.v3"},
	{"ui/demo", "indirector indirector/... traces", "github.com/go-ldap/ldap/v3 github.com/go-asn1-ber/asn1-ber"},
	{"ui/...", "indirector indirector/... traces traces/... ui ui/...", "github.com/"},

	{"docs", "", ""},
	{"docs/roster", "indirector indirector/data indirector/model traces", ""},
	{"docs/...", "", "github.com/mattn/go-runewidth"},
}

// apart are packages that must not be reached at all, by whichever way.
var apart = []struct{ from, to, why string }{
	{"traces/...", "indirtui/indirector", "a trace is data that no engine is needed for"},
	{"traces/...", "indirtui/indirector/host/files", "a trace is data that no engine is needed for"},
	{"traces", "net/http", "who reads traces needs no network"},
	{"indirector", "net/http", "the core would serve a program without a network"},
	{"indirector", "indirtui/indirector/model", "the core knows no model"},
	{"indirector", "indirtui/indirector/format", "the core knows no format"},
	{"indirector/...", "github.com/charmbracelet/bubbletea", "only screens know the terminal"},
	{"termini/...", "github.com/charmbracelet/bubbletea", "only screens know the terminal"},
	{"traces/...", "github.com/charmbracelet/bubbletea", "only screens know the terminal"},
	{"ui/...", "indirtui/termini", "screens see termini as descriptors"},
	{"ui/term", "indirtui/indirector", "cells know nothing of Puppet"},
	{"ui/term", "indirtui/traces", "cells know nothing of Puppet"},
	{"ui/screen", "indirtui/indirector", "the contract of screens knows nothing of Puppet"},
	{"ui/screen", "indirtui/traces", "the contract of screens knows nothing of Puppet"},
	{"ui/widget", "indirtui/indirector", "widgets know nothing of Puppet"},
	{"ui/widget", "indirtui/traces", "widgets know nothing of Puppet"},
}

// A pkg is the output of go list for a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, edge := range offending(graph(t)) {
		t.Error(edge)
	}
}

// graph is every package that the program is made of.
func graph(t *testing.T) map[string]pkg {
	t.Helper()
	// go list reads the sources behind the back of go test, whose cache must
	// know what this test depends on.
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...")
	cmd.Dir = ".."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// offending returns a sentence for every import that a rule does not allow.
func offending(all map[string]pkg) []string {
	var out []string
	for _, name := range sorted(all) {
		within, ours := ofModule(name)
		if !ours {
			continue
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.packages, within) })
		if i < 0 {
			out = append(out, fmt.Sprintf("%s: no rule says what it may import; add one to docs/imports_test.go and to docs/ARCHITECTURE.md", within))
			continue
		}
		for _, to := range all[name].Imports {
			if !rules[i].allows(to, all[to].Standard) {
				out = append(out, fmt.Sprintf("%s imports %s, and may import of ours %q, of others %q", within, to, rules[i].may, rules[i].foreign))
			}
		}
	}
	for _, a := range apart {
		for _, name := range sorted(all) {
			within, ours := ofModule(name)
			if !ours || !matches(a.from, within) {
				continue
			}
			if way := reach(all, name, a.to, map[string]bool{}); way != nil {
				out = append(out, fmt.Sprintf("%s reaches %s (%s): %s", within, a.to, a.why, strings.Join(way, " -> ")))
			}
		}
	}
	return out
}

func (r rule) allows(to string, standard bool) bool {
	if within, ours := ofModule(to); ours {
		return slices.ContainsFunc(strings.Fields(r.may), func(p string) bool { return matches(p, within) })
	}
	return standard || to == "C" || slices.ContainsFunc(strings.Fields(r.foreign), func(p string) bool { return strings.HasPrefix(to, p) })
}

// ofModule returns the path of a package within the module; "." is its root.
func ofModule(name string) (within string, ours bool) {
	if name+"/" == module {
		return ".", true
	}
	return strings.CutPrefix(name, module)
}

func matches(pattern, within string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(within, below+"/")
	}
	ok, _ := path.Match(pattern, within)
	return ok
}

// reach returns a way from one package to another, or nil.
func reach(all map[string]pkg, from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	if seen[from] {
		return nil
	}
	seen[from] = true
	for _, next := range all[from].Imports {
		if way := reach(all, next, to, seen); way != nil {
			return append([]string{from}, way...)
		}
	}
	return nil
}

func sorted(all map[string]pkg) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestOffending makes sure that the check sees what it is there for.
func TestOffending(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to, want string }{
		{"indirtui/traces", "indirtui/indirector", "traces imports indirtui/indirector"},
		{"indirtui/indirector", "gopkg.in/yaml.v3", "indirector imports gopkg.in/yaml.v3"},
		{"indirtui/termini/memory", "indirtui/termini/flatfile", "termini/memory imports indirtui/termini/flatfile"},
		{"indirtui/ui/steps", "indirtui/termini", "ui/steps reaches indirtui/termini"},
		{"indirtui/indirector", "net/http", "indirector reaches net/http (the core would serve a program without a network): indirtui/indirector -> net/http"},
		{"indirtui/indirector/language/syntax", "indirtui/indirector/data", "indirector/language/syntax imports indirtui/indirector/data"},
		{"indirtui/termini/hiera", "indirtui/indirector/language/types", "termini/hiera imports indirtui/indirector/language/types"},
		{"indirtui/extra", "fmt", "extra: no rule"},
	} {
		all := map[string]pkg{
			tt.from: {tt.from, []string{tt.to}, false},
			tt.to:   {tt.to, nil, !strings.Contains(tt.to, ".") && !strings.HasPrefix(tt.to, module)},
		}
		if got := strings.Join(offending(all), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s -> %s: got %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}
