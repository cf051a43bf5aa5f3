package puppetdb_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	termini "indirtui/termini/puppetdb"
)

// puppetdb_apply saves once in the life of a terminus, whatever became of it, and
// finds nothing. Rule PDB-APPLY-01.
func TestApply(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c", answers: map[string][]scriptedAnswer{"1": {{Status: 500}, {Body: `{"uuid":"u"}`}}}})
	d, err := termini.FactsApply.New(p.env)
	if err != nil {
		t.Fatal(err)
	}
	defer d.(io.Closer).Close()
	req := &indirector.Request{Key: "n1", Instance: someFacts}
	if _, err := d.(indirector.Saver).Save(t.Context(), req); err == nil {
		t.Error("the first save does not fail")
	}
	if v, err := d.(indirector.Saver).Save(t.Context(), req); v != nil || err != nil {
		t.Errorf("the second save: got %v, %v; want nothing", v, err)
	}
	if _, err := d.(indirector.Finder).Find(t.Context(), req); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("find: got %v, want nil", err)
	}
	if n := len(p.requests()); n != 1 {
		t.Errorf("PuppetDB was asked %d times, want once", n)
	}
}

// Nodes and catalogs are not found, nodes are not sent; a save without an instance,
// as store_configs makes of a destroy, fails but for a node. Rules PDB-NODE-01,
// PDB-CAT-09, STORE-SC-03.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c"})
	for _, tt := range []struct {
		indirection, verb string
		instance          indirector.Instance
		err               string
	}{
		{"node", "find", nil, "not found"},
		{"node", "save", &model.Node{Name: "n1"}, ""},
		{"node", "save", nil, ""},
		{"catalog", "find", nil, "not found"},
		{"catalog", "save", nil, "undefined method `to_data_hash' for nil:NilClass"},
		{"facts", "save", nil, "undefined method `values' for nil:NilClass"},
		{"catalog", "destroy", nil, "verb missing"},
	} {
		v, err := p.ask(t.Context(), tt.indirection, tt.verb, &indirector.Request{Key: "n1", Instance: tt.instance})
		if v != nil && err == nil || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s %s: got %v, %v; want %q", tt.verb, tt.indirection, v, err, tt.err)
		}
	}
	if n := len(p.requests()); n != 0 {
		t.Errorf("PuppetDB was asked %d times", n)
	}
}

// Found resources know who exports them, and where; they are sorted. Rules
// PDB-QRY-02, STORE-COL-11.
func TestResources(t *testing.T) {
	t.Parallel()
	row := func(node, title string) string {
		return `{"type":"Notify","title":"` + title + `","certname":"` + node + `","parameters":{"message":"m","gone":null},"file":"/m.pp","line":7}`
	}
	body := "[" + row("b", "x") + "," + row("a", "z") + "," + row("a", "y") + "]"
	p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c", answers: map[string][]scriptedAnswer{"1": {{Body: body}}}})
	v, err := p.ask(t.Context(), "resource", "search", &indirector.Request{Key: "Notify"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, inst := range v.([]indirector.Instance) {
		r := inst.(*model.Resource)
		got = append(got, r.Exporter+" "+r.Ref())
		if r.File != "/m.pp" || r.Line != 7 || r.Parameters.Inspect() != `{"message"=>"m"}` {
			t.Errorf("%s: got %s:%d, %s", r.Ref(), r.File, r.Line, r.Parameters.Inspect())
		}
	}
	if want := "a Notify[y], a Notify[z], b Notify[x]"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
