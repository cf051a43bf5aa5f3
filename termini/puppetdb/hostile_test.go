package puppetdb_test

import (
	"errors"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/stores"
)

// TestHostileAnswers has answers of something that is no PuppetDB, or means harm.
// Each is one error that names what is wrong, and of whom. Rules PDB-QRY-02,
// PDB-QRY-03.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for _, tt := range []struct {
		name, do, body, want, hidden string
		settings                     map[string]string
	}{
		{name: "a row without a name", do: "find facts", body: `[{"name":"a","value":1},{"value":2}]`, want: `row 2 of PuppetDB's answer has no text "name", but nil`},
		{name: "a name that is a number", do: "find facts", body: `[{"name":1}]`, want: `row 1 of PuppetDB's answer has no text "name", but 1`},
		{name: "a row that is a list", do: "find facts", body: `[["a"]]`, want: "no implicit conversion", hidden: "a list whose row 1 is a list"},
		{name: "no list", do: "find facts", body: `"x"`, want: "no implicit conversion", hidden: "answered with a string"},
		{name: "depth", do: "find facts", body: `[{"name":"a","value":` + deep + `}]`, want: "nesting of 201 is too deep", hidden: "puppetdb_max_depth"},
		{name: "less depth", do: "find facts", body: `[{"name":"a","value":[[[]]]}]`, settings: map[string]string{"puppetdb_max_depth": "3"}, want: "nesting of 4 is too deep"},
		{
			name: "size", do: "find facts", body: `["` + strings.Repeat("x", 1<<20) + `"]`, settings: map[string]string{"puppetdb_max_answer": "1"},
			want: "Failed to execute", hidden: "the answer is longer than 1048576 bytes",
		},
		{name: "a limit that is none", do: "find facts", settings: map[string]string{"puppetdb_max_depth": "many"}, want: `setting puppetdb_max_depth (test): "many" is no number from 1 to 1048576`},
		{name: "a list that ends in the middle", do: "search resource", body: `[{"type":"Notify","title":"n","certname":"b"}`, want: "unexpected"},
		{name: "a resource without a title", do: "search resource", body: `[{"type":"Notify","certname":"b"}]`, want: `row 1 of PuppetDB's answer has no text "title", but nil`},
		{name: "a resource without a node", do: "search resource", body: `[{"type":"Notify","title":"n","certname":""}]`, want: `has no text "certname", but ""`},
		{name: "parameters that are a list", do: "search resource", body: `[{"type":"Notify","title":"n","certname":"b","parameters":[1]}]`, want: "row 1 of PuppetDB's answer, Notify[n], has parameters that are a list"},
		{name: "a node without a name", do: "search facts", body: `[{"certname":null}]`, want: `has no text "certname", but nil`},
		{name: "an answer to a command that is a list", do: "save facts", body: `[]`, want: "the answer is a list, and no hash with a uuid"},
		{name: "a status that is a list", do: "face status", body: `[]`, want: "no implicit conversion"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", settings: tt.settings, producer: "c", answers: map[string][]scriptedAnswer{"1": {{Body: tt.body}}}})
			v, err := p.do(t.Context(), &clientStep{Do: tt.do, Key: "a"})
			if err == nil {
				t.Fatalf("got %v, want an error", v)
			}
			f := (*indirector.Failure)(nil)
			if got := indirector.Message(err); !strings.Contains(got, tt.want) {
				t.Errorf("got the error %q, want %q in it", got, tt.want)
			}
			if tt.hidden != "" && (!errors.As(err, &f) || !strings.Contains(f.Hidden, tt.hidden)) {
				t.Errorf("got %#v, want %q hidden", err, tt.hidden)
			}
		})
	}
}

// What takes longer than server_url_timeout ends: a list without an end, and a
// server that is busy for an hour. Rules PDB-HTTP-05, PDB-HTTP-12.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]scriptedAnswer{
		"endless": {Body: strings.Repeat(" ", 512), Endless: true},
		"busy":    {Status: 503, Headers: map[string]string{"Retry-After": "3600"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, peerOptions{conf: "server_urls = {1}\nserver_url_timeout = 1\n", producer: "c", answers: map[string][]scriptedAnswer{"1": {a}}})
			_, err := p.do(t.Context(), &clientStep{Do: "find facts", Key: "a"})
			f := (*indirector.Failure)(nil)
			if !errors.As(err, &f) || !strings.Contains(f.Hidden, "no answer within 1s, server_url_timeout") && !strings.Contains(f.Hidden, "is longer than") {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// A connection that PuppetDB has closed because it was idle is not noticed by what is
// asked next, whether the end of it was seen before or not.
func TestIdle(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{
		conf: "server_urls = {1}\n", producer: "c", answers: map[string][]scriptedAnswer{"1": {{Body: `[]`}, {Body: `{"uuid":"u"}`}}},
		settings: map[string]string{"http_keepalive_timeout": "1h"},
	})
	for i := range 40 {
		p.mu.Lock()
		p.next["1"] = i % 2
		p.mu.Unlock()
		if _, err := p.do(t.Context(), &clientStep{Do: []string{"find facts", "save facts"}[i%2], Key: "a"}); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		for _, s := range p.servers {
			s.CloseClientConnections()
		}
	}
	if n := len(p.requests()); n != 40 {
		t.Errorf("PuppetDB was asked %d times, want 40", n)
	}
}

// Keys that mean a directory lead nowhere else.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c", answers: map[string][]scriptedAnswer{"1": {{Body: "[]"}}}})
	for _, key := range []string{"", ".", ".."} {
		if _, err := p.do(t.Context(), &clientStep{Do: "find facts", Key: key}); !errors.Is(err, indirector.ErrInvalid) {
			t.Errorf("find %q: got %v, want it refused", key, err)
		}
	}
	if got := p.requests(); len(got) > 0 {
		t.Errorf("PuppetDB was asked %v", got)
	}
	if _, err := p.do(t.Context(), &clientStep{Do: "save facts", Key: "a&command=deactivate_node"}); err == nil {
		t.Error("an answer that is a list is taken for one to a command")
	}
	if got := p.requests(); len(got) != 1 || !strings.Contains(got[0].Target, "&certname=a%26command%3Ddeactivate_node&command=replace_facts&") {
		t.Errorf("the key adds parameters: %v", got)
	}
}

// A submit-only URL that is too slow twice is asked no more until it is brought back, and
// the log has it.
// Rule PDB-HTTP-10.
func TestDroppedURL(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{
		conf:     "server_urls = {1}\nsubmit_only_server_urls = {2}\ncommand_broadcast = true\nserver_url_timeout = 1\n",
		producer: "c", answers: map[string][]scriptedAnswer{"1": {{Body: `{"uuid":"u"}`}}, "2": {{Delay: 60_000}, {Delay: 60_000}, {Body: `{"uuid":"u"}`}}},
	})
	save := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if _, err := p.do(t.Context(), &clientStep{Do: "save facts", Key: key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	save("a", "b", "c")
	log := p.anonymous(p.log.String())
	if want := "warning puppetdb.conf:3: https://localhost:<PORT2> did not answer twice in a row, and gets no commands any more from this process"; !strings.Contains(log, want) {
		t.Errorf("got the log\n%s\nwant in it\n%s", log, want)
	}
	if got := len(p.requests()); got != 5 {
		t.Errorf("got %d requests, want 5", got)
	}
	if got := p.anonymous(strings.Join(p.db.State().Dropped, " ")); got != "https://localhost:<PORT2>" {
		t.Errorf("dropped is %q", got)
	}
	if back := p.anonymous(strings.Join(p.db.Retry(), " ")); back != "https://localhost:<PORT2>" {
		t.Errorf("%q came back", back)
	}
	save("d")
	if got, s := len(p.requests()), p.db.State(); got != 7 || len(s.Dropped) > 0 || s.Last[stores.Queued].Count == 0 || s.Last[stores.Failed].Count > 0 {
		t.Errorf("after the retry: %d requests, want 7; %+v", got, s)
	}
}

// A search whose filter is a text, as from a URL, is refused.
func TestFilterOfText(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c"})
	for filter, want := range map[string]string{"title == x": `Operator  in "title == x" not supported`} {
		_, err := p.ask(t.Context(), "resource", "search", &indirector.Request{Key: "Notify", Options: []indirector.Option{{Name: "filter", Value: filter}}})
		if got := indirector.Message(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	_, err := p.ask(t.Context(), "resource", "search", &indirector.Request{Key: "Notify", Options: []indirector.Option{{Name: "filter", Value: nested(200)}}})
	if err == nil || len(p.requests()) > 0 {
		t.Errorf("a filter that is nested 200 deep: got %v, and PuppetDB was asked %d times", err, len(p.requests()))
	}
}

// nested is a filter of that depth.
func nested(depth int) data.Value {
	x := data.OfList([]data.Value{data.OfString("a"), data.OfString("=="), data.OfString("b")})
	leaf := x
	for range depth {
		x = data.OfList([]data.Value{x, data.OfString("and"), leaf})
	}
	return x
}
