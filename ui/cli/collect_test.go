//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
)

// A collectStep is a compile of Puppet Server, or what is done to PuppetDB.
type collectStep struct {
	Compile     string         `json:"compile"`
	Deactivate  string         `json:"deactivate"`
	Swallow     bool           `json:"swallow"` // the next two commands are answered, and dropped
	Refuse      bool           `json:"refuse"`  // the second request of the next compile
	Environment string         `json:"environment"`
	Facts       map[string]any `json:"facts"`
	Status      int            `json:"status"`
	Catalog     map[string]any `json:"catalog"`
	Error       map[string]any `json:"error"`
	PuppetDB    []struct {
		Command string `json:"command"`
		Query   string `json:"query"`
	} `json:"puppetdb"`
}

// A collection is the real Puppet Server with our proxy between it and its PuppetDB.
type collection struct {
	t         *testing.T
	peers     *stack
	s         *site
	proxy     *listener
	commands  *os.File // of the proxy
	swallowed bool     // the next compile is not stored
	refused   bool     // a request of the next compile is refused
}

// TestGoldenCollectThroughProxy: what is exported and collected, compiled by the real
// Puppet Server whose PuppetDB stands behind the proxy, is what was recorded without
// the proxy, as are errors and what PuppetDB was asked.
func TestGoldenCollectThroughProxy(t *testing.T) {
	peers := needStack(t) // not parallel: there is one port for a proxy
	peers.puppetDB()
	text, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "collect", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string        `json:"id"`
		Site  string        `json:"site"`
		Steps []collectStep `json:"steps"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	in, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer commands.Close()
	c := &collection{t: t, peers: peers, s: newSite(t), commands: commands}
	c.proxy, _ = peers.proxyOfPuppetDB(c.s, in, "--plain")
	in.Close()
	c.s.write("confirm/puppetdb.conf", "[main]\nserver_urls = "+peers.env["PUPPETDB_URL"]+"\n")
	for _, x := range cases {
		t.Run(x.ID, func(t *testing.T) {
			c := *c
			c.t, c.peers = t, &stack{t, peers.dir, peers.env}
			c.site(x.Site, x.Steps)
			for i := range x.Steps {
				c.step(&x.Steps[i])
			}
		})
	}
}

// site puts the manifest into the environments of a case, and forgets what its nodes
// have exported before.
func (c *collection) site(text string, steps []collectStep) {
	c.t.Helper()
	var nodes []string
	for _, s := range steps {
		if s.Compile == "" {
			continue
		}
		c.peers.script("cert", name(s.Compile))
		nodes = append(nodes, name(s.Compile))
		dir := c.peers.env["PEERS_CODEDIR"] + "/environments/" + s.environment()
		c.s.write(dir+"/manifests/site.pp", text)
		c.t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				c.t.Error(err)
			}
		})
	}
	slices.Sort(nodes)
	c.deactivate(slices.Compact(nodes)...)
}

func name(node string) string { return node + ".example.com" }

func (s *collectStep) environment() string {
	if s.Environment != "" {
		return "environment_" + s.Environment
	}
	return "environment"
}

// deactivate waits until PuppetDB has done so.
func (c *collection) deactivate(nodes ...string) {
	c.t.Helper()
	args := append([]string{"node", "deactivate", "--confdir", c.s.path("confirm"), "--vardir", c.s.path("confirm/var"), "--write", "--set", "puppetdb_confirm=60"}, nodes...)
	for setting, name := range map[string]string{"certname": "PEERS_CERTNAME", "localcacert": "PEERS_CA", "hostcrl": "PEERS_CRL", "hostcert": "PEERS_CERT", "hostprivkey": "PEERS_KEY"} {
		args = append(args, "--set", setting+"="+c.peers.env[name])
	}
	if out, err := exec.CommandContext(c.t.Context(), c.s.program, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// orders gives the proxy a command, and waits until it has been done.
func (c *collection) orders(command string) {
	c.t.Helper()
	before := strings.Count(c.proxy.output(), "did :"+command)
	fmt.Fprintln(c.commands, command)
	c.await(func() bool { return strings.Count(c.proxy.output(), "did :"+command) > before })
}

// await asks again until it is true.
func (c *collection) await(is func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("it took too long:\n%s", c.proxy.output())
		}
	}
}

func (c *collection) step(s *collectStep) {
	c.t.Helper()
	switch {
	case s.Deactivate != "":
		c.deactivate(name(s.Deactivate))
	case s.Swallow:
		c.orders("break ind=facts verb=save before terminus do nil once")
		c.orders("break ind=catalog verb=save before terminus do nil once")
		c.swallowed = true
	case s.Refuse:
		c.refused = true
	default:
		c.compile(s)
		c.swallowed, c.refused = false, false
	}
}

// compile asks for a catalog, compares it, and waits until it is stored.
func (c *collection) compile(s *collectStep) {
	c.t.Helper()
	if c.refused { // the facts are stored before, and the second is:
		ind := "catalog verb=save"
		if s.PuppetDB[1].Query != "" {
			ind = "resource"
		}
		c.orders("break ind=" + ind + " before terminus do fail 500 once")
	}
	node := name(s.Compile)
	logged := len(c.log())
	values := s.Facts
	if values == nil {
		values = map[string]any{}
	}
	status, body := c.peers.compiled("localhost:"+c.peers.port(), node, s.environment(), map[string]any{"name": node, "values": values})
	uuid, _ := body["catalog_uuid"].(string)
	want := s.Catalog
	if s.Status != 200 {
		want = s.Error
	}
	if diff := cmp.Diff(c.comparable(want), c.comparable(body)); status != s.Status || diff != "" {
		c.t.Errorf("%s: status %d, want %d; (-recorded +through the proxy):\n%s", node, status, s.Status, diff)
	}
	asked := s.queries(c.refused)
	c.await(func() bool { return len(c.queries(logged)) >= len(asked) }) // it is logged a moment after the answer
	if diff := cmp.Diff(asked, c.queries(logged)); diff != "" {
		c.t.Errorf("%s: PuppetDB was asked (-recorded +through the proxy):\n%s", node, diff)
	}
	if status == 200 && !c.swallowed {
		c.await(func() bool {
			return strings.Contains(c.peers.ask(c.peers.env["PUPPETDB_URL"]+"/pdb/query/v4/catalogs/"+node), uuid)
		})
	}
}

// inCommands are parameters of commands that are others in every compile.
var inCommands = regexp.MustCompile(`(checksum|producer-timestamp)=[^&']+`)

// comparable is an answer without what is another in every compile or stack, with lists
// that have no order in one.
func (c *collection) comparable(body map[string]any) any {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	_, port := c.peers.puppetDB()
	text = []byte(strings.NewReplacer(filepath.Clean(c.peers.env["PEERS_CODEDIR"])+"/", "/code/", "https://localhost:"+port, "https://puppetdb:8081").Replace(string(text)))
	text = inCommands.ReplaceAll(text, []byte("$1=<NEW>"))
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		c.t.Fatal(err)
	}
	for _, key := range []string{"version", "catalog_uuid"} {
		delete(out, key)
	}
	for _, key := range []string{"resources", "edges"} {
		if all, ok := out[key].([]any); ok {
			slices.SortFunc(all, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return out
}

// log is what the stack's PuppetDB has answered.
func (c *collection) log() string {
	c.t.Helper()
	text, err := os.ReadFile(c.peers.dir + "/logs/puppetdb/access.log")
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// queries are those for resources that came to PuppetDB after so many bytes of its log.
func (c *collection) queries(after int) (all []string) {
	c.t.Helper()
	for line := range strings.Lines(c.log()[after:]) {
		if _, query, ok := strings.Cut(line, `"GET /pdb/query/v4/resources?query=`); ok {
			query, _, _ = strings.Cut(query, " ")
			query, err := url.QueryUnescape(query)
			if err != nil {
				c.t.Fatal(err)
			}
			all = append(all, query)
		}
	}
	return all
}

// queries are those that were recorded, without the one that is refused on its way.
func (s *collectStep) queries(refused bool) (all []string) {
	for i, x := range s.PuppetDB {
		if x.Query != "" && !(refused && i == 1) {
			all = append(all, x.Query)
		}
	}
	return all
}
