package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/puppetdb/puppetdbtest"
)

// What PuppetDB was sent is on the screen once it was sent something, and behind the
// colon. In a narrow terminal it gives way; what went wrong does not.
func TestStoresOnScreen(t *testing.T) {
	t.Parallel()
	for width, above := range map[int]string{200: "puppetdb: queued ", 80: ""} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			conf := t.TempDir()
			ca := clienttest.New(t, "Puppet CA")
			leaf := ca.Issue(t, "localhost", clienttest.Local)
			db := clienttest.Serve(t, leaf, new(puppetdbtest.DB))
			lines := "[main]\n"
			for name, value := range ca.Write(t, t.TempDir(), leaf) {
				lines += name + " = " + value + "\n"
			}
			clienttest.WriteFile(t, filepath.Join(conf, "puppet.conf"), []byte(lines))
			clienttest.WriteFile(t, filepath.Join(conf, "puppetdb.conf"), []byte("[main]\nserver_urls = "+db.URL+"\n"))
			facts := filepath.Join(conf, "facts.json")
			clienttest.WriteFile(t, facts, []byte(`{"name":"web01","values":{"os":"linux"}}`))
			visit(t, [2]int{width, 30}, nil, func(p *program) {
				p.ui.demo, p.confDir, p.varDir = false, conf, t.TempDir()
			}, func(tr *trip) {
				save := "save facts web01 @" + facts + " terminus=puppetdb"
				tr.Not("puppetdb: ").Command("stores").Want("no command")
				tr.Keys("esc").Command("write on").Command(save).Keys("esc")
				if first, _, _ := strings.Cut(tr.Frame(), "\n"); !strings.Contains(first, above) || above == "" && strings.Contains(first, "puppetdb") {
					t.Errorf("the first line is %q, want %q in it", first, above)
				}
				tr.Not("puppetdb: failed")
				tr.Command("stores retry").Want("no submit-only URL was dropped")
				tr.Command("stores").Want("puppetdb queued ", " at "+strings.TrimPrefix(db.URL, "https://")).Keys("esc")
				db.Close()
				tr.Command(save).Keys("esc", "esc")
				tr.Want("puppetdb: failed ")
			})
		})
	}
}
