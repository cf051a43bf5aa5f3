package termini_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/settings"
	"indirtui/termini"
)

var update = flag.Bool("update", false, "write REFERENCE.md again")

func TestReference(t *testing.T) {
	t.Parallel()
	got := reference(termini.Specs(), termini.All())
	if *update {
		if err := os.WriteFile("REFERENCE.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("REFERENCE.md is not what the descriptors say (-update writes it):\n%s", diff)
	}
}

// TestAllIsComplete looks for descriptors in the folders. A new terminus that
// is not listed fails with the line that is missing.
func TestAllIsComplete(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("termini.go")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, folder := range folders {
		for _, name := range descriptors(t, folder) {
			found++
			if line := "\t\t" + folder + "." + name + ",\n"; !strings.Contains(string(list), line) {
				t.Errorf("termini.go lacks the line\n%s", line)
			}
		}
	}
	if found != len(termini.All()) {
		t.Errorf("%d descriptors in the folders, %d in All", found, len(termini.All()))
	}
}

// descriptors returns the names of the exported variables of a folder that are
// indirector.Descriptors.
func descriptors(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	makers := map[string]bool{} // functions that return a Descriptor
	var variables []*ast.ValueSpec
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if r := d.Type.Results; d.Recv == nil && r != nil && len(r.List) == 1 && isDescriptor(r.List[0].Type) {
					makers[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						variables = append(variables, v)
					}
				}
			}
		}
	}
	for _, v := range variables {
		for i, name := range v.Names {
			is := isDescriptor(v.Type)
			if i < len(v.Values) {
				switch x := v.Values[i].(type) {
				case *ast.CompositeLit:
					is = is || isDescriptor(x.Type)
				case *ast.CallExpr:
					f, ok := x.Fun.(*ast.Ident)
					is = is || ok && makers[f.Name]
				}
			}
			if is && name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func isDescriptor(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Descriptor"
}

// TestOrder is the order in which a plain start of Puppet declares them; file
// contents come when files are first served, legacy ones last. Rule IND-REG-07.
func TestOrder(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range termini.Specs() {
		got = append(got, s.Name)
	}
	want := []string{
		"facts", "node", "file_metadata", "resource", "report", "catalog", "data_binding", "file_bucket_file", "file_content", "status",
		"certificate", "certificate_request", "certificate_revocation_list", "certificate_status", "key", "ocsp",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSpecs compares with what Puppet declares, and with the settings that
// there are. Rules IND-REG-04, IND-SEL-01.
func TestSpecs(t *testing.T) {
	t.Parallel()
	want := map[string]string{ // indirection: class, and what selects the terminus
		"catalog": "Puppet::Resource::Catalog catalog_terminus", "data_binding": "Puppet::DataBinding data_binding_terminus",
		"facts": "Puppet::Node::Facts facts_terminus", "file_bucket_file": "Puppet::FileBucket::File =selector",
		"file_content": "Puppet::FileServing::Content =selector", "file_metadata": "Puppet::FileServing::Metadata =selector",
		"node": "Puppet::Node node_terminus", "report": "Puppet::Transaction::Report =processor",
		"resource": "Puppet::Resource =ral", "status": "Puppet::Status =local",
		"certificate": "Puppet::SSL::Certificate =file", "certificate_request": "Puppet::SSL::CertificateRequest =file",
		"certificate_revocation_list": "Puppet::SSL::CertificateRevocationList =file", "certificate_status": "Puppet::SSL::Host =file",
		"key": "Puppet::SSL::Key =file", "ocsp": "Puppet::SSL::Ocsp::Request =ca",
	}
	got := map[string]string{}
	known, err := settings.Load(settings.Options{ConfDir: t.TempDir(), VarDir: t.TempDir(), Certname: func() string { return "x" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range termini.Specs() {
		got[s.Name] = s.Class + " " + s.Setting
		if s.Setting == "" {
			got[s.Name] += "=" + s.Default
		} else if _, ok := known.Setting(s.Setting); !ok {
			t.Errorf("%s: there is no setting %s", s.Name, s.Setting)
		}
		if (s.BeforeSave != nil) != (s.Name == "facts") {
			t.Errorf("%s: only saving facts expires the node (IND-EXP-06)", s.Name)
		}
		if s.Doc == "" {
			t.Errorf("%s has no Doc", s.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := indirector.NewRegistry(termini.Specs(), termini.All()); err != nil {
		t.Error(err)
	}
	for _, d := range termini.All() {
		for _, s := range d.Settings {
			if _, ok := known.Setting(s.Name); !ok && s.Name != "run_mode" && !strings.Contains(s.Doc, "Not a setting of Puppet.") {
				t.Errorf("%s/%s: Puppet has no setting %s", d.Indirection, d.Name, s.Name)
			}
		}
	}
}
