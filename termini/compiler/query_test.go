package compiler_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/settings"
	"indirtui/termini"
)

// TestPuppetDBQuery calls the function from manifests. Rule PDB-QRY-07.
func TestPuppetDBQuery(t *testing.T) {
	t.Parallel()
	ca := clienttest.New(t, "Puppet CA")
	leaf := ca.Issue(t, "localhost", clienttest.Local)
	server := clienttest.Serve(t, leaf, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch text := string(body); {
		case strings.Contains(text, "fails"):
			http.Error(w, "boom", http.StatusInternalServerError)
		case text == `{"query":["from","nodes",["=","certname","a"]]}`:
			io.WriteString(w, `[{"certname":"a","n":1}]`)
		default:
			io.WriteString(w, `[]`)
		}
	}))
	dir := t.TempDir()
	set := ca.Write(t, dir, leaf)
	clienttest.WriteFile(t, filepath.Join(dir, "puppetdb.conf"), []byte("[main]\nserver_urls = "+server.URL+"\n"))
	clienttest.WriteFile(t, filepath.Join(dir, "environments", "production", "environment.conf"), nil)
	for _, tt := range []struct{ name, code, title, err string }{
		{name: "an AST", code: `$r = puppetdb_query(['from', 'nodes', ['=', 'certname', 'a']]) notify { "${r[0]['certname']} ${$r[0]['n'] + 1}": }`, title: "a 2"},
		{name: "PQL", code: `notify { "found ${puppetdb_query('nodes { }').length}": }`, title: "found 0"},
		{name: "a failure", code: `puppetdb_query('fails')`, err: "Failed to execute '/pdb/query/v4' on at least 1 of the following 'server_urls': " + server.URL},
		{name: "no text", code: `puppetdb_query('')`, err: "puppetdb_query"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := engine.Options{Specs: termini.Specs(), Termini: termini.All(), Application: "server", ConfDir: dir, VarDir: t.TempDir()}
			for name, value := range map[string]string{
				"code": tt.code, "environmentpath": filepath.Join(dir, "environments"), "node_terminus": "plain", "facts_terminus": "memory",
				"localcacert": set["localcacert"], "hostcrl": set["hostcrl"], "hostcert": set["hostcert"], "hostprivkey": set["hostprivkey"],
			} {
				o.Set = append(o.Set, settings.Override{Name: name, Value: value})
			}
			e, err := engine.New(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "n1"})
			if tt.err != "" {
				if err == nil || !strings.Contains(indirector.Message(err), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if resp.Instance().(*model.Catalog).Resource("Notify["+tt.title+"]") == nil {
				t.Errorf("there is no Notify[%s]", tt.title)
			}
		})
	}
}
