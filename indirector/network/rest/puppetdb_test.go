package rest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/rest"
)

const postFactsCommand = "POST /pdb/cmd/v1?version=5&certname=web01&command=replace_facts&producer-timestamp=2026-11-20T16:03:23.884Z"

// factsCommand is the body of a command, of that many bytes.
func factsCommand(size int) string {
	const around = `{"certname":"web01","values":{"a":""},"environment":"qa"}`
	return `{"certname":"web01","values":{"a":"` + strings.Repeat("x", size-len(around)) + `"},"environment":"qa"}`
}

// puppetDB answers PuppetDB's API by the scripted terminus. What passes unread is
// answered with why.
func puppetDB(o *rest.Options) {
	o.PuppetDB = &rest.PuppetDB{Terminus: "script", Pass: func(w http.ResponseWriter, r *http.Request, u rest.Unread) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, u.Verb.String()+" "+u.Indirection+" "+u.Key+": "+u.Note)
	}}
	o.PassThrough = true
}

// TestPuppetDBBusy: PuppetDB's client gives up at a 503 with Retry-After, so there is
// none; a command that there is no memory to read for passes unread. Rule PDB-HTTP-12.
func TestPuppetDBBusy(t *testing.T) {
	t.Parallel()
	held, letGo := make(chan struct{}), make(chan struct{})
	st := newStage(t, &scripted{save: func(context.Context, *indirector.Request) (any, error) {
		close(held)
		<-letGo
		return nil, nil
	}}, func(_ *indirector.Config, o *rest.Options) {
		o.Bodies, o.Wait = 1<<20, 10*time.Millisecond
		puppetDB(o)
	})
	done := make(chan answer, 1)
	go func() {
		a, _ := st.try(t, postFactsCommand, factsCommand(150<<10), "Content-Type", "application/json")
		done <- a
	}()
	<-held
	got := st.ask(t, postFactsCommand, factsCommand(300<<10), "Content-Type", "application/json")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "" || !strings.HasPrefix(string(got.body), `{"error":`) {
		t.Errorf("got %d %s %v, want 503 without Retry-After", got.status, string(got.body), got.header)
	}
	close(letGo)
	if a := <-done; a.status != http.StatusOK || !strings.Contains(string(a.body), `"uuid":"00000000-`) {
		t.Errorf("the first one: got %d %s", a.status, a.body)
	}
	got = st.ask(t, postFactsCommand, factsCommand(400<<10), "Content-Type", "application/json")
	if body := string(got.body); !strings.HasPrefix(body, "save command replace facts web01: ") || !strings.HasSuffix(body, "needs more than 1048576 bytes of memory") {
		t.Errorf("got %d %s, want that it needs more memory", got.status, got.body)
	}
}

// TestPuppetDBReplies: what another terminus answers becomes what PuppetDB would
// answer.
func TestPuppetDBReplies(t *testing.T) {
	t.Parallel()
	collect := "/pdb/query/v4/resources?query=" + url.QueryEscape(`["and",["=","type","Notify"],["=","exported",true],["not",["=","certname","web01"]]]`)
	var saved *indirector.Request
	st := newStage(t, &scripted{
		find: func(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
			switch {
			case req.Key == "none":
				return nil, nil
			case req.Key == "broken":
				return nil, errors.New("disk full")
			case req.Indirection == "node":
				return &model.Node{Name: req.Key, Parameters: data.OfHash(nil)}, nil
			}
			return &model.Facts{Name: req.Key, Values: data.OfHash([]data.Pair{data.P("a", data.OfInt(1))})}, nil
		},
		search: func(_ context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
			if req.Indirection == "facts" {
				return yield(indirector.Name("web01"))
			}
			return yield(&model.Resource{Type: "Notify", Title: "x", Exporter: "db01"})
		},
		save: func(_ context.Context, req *indirector.Request) (any, error) {
			saved = req
			return nil, nil
		},
		destroy: func(context.Context, *indirector.Request) (any, error) { return true, nil },
	}, func(_ *indirector.Config, o *rest.Options) { puppetDB(o) })
	const unqueued = `{"uuid":"00000000-0000-0000-0000-000000000000"}`
	for _, tt := range []struct {
		line, body string
		status     int
		want       string
	}{
		{"GET /pdb/query/v4/nodes/web01/facts", "", 200, `[{"certname":"web01","name":"a","value":1}]`},
		{"GET /pdb/query/v4/nodes/none/facts", "", 404, `{"error":`},
		{"GET /pdb/query/v4/nodes/broken/facts", "", 500, `{"error":"disk full"}`},
		{"GET /pdb/query/v4/nodes/web01", "", 200, `{"certname":"web01"}`},
		{"GET /pdb/query/v4/nodes?query=" + url.QueryEscape(`["and",["=",["fact","a"],1]]`), "", 200, `[{"certname":"web01"}]`},
		{"GET " + collect, "", 200, `[{"tags":[],"file":null,"type":"Notify","title":"x","line":0,"exported":true,"certname":"db01","parameters":{}}]`},
		{postFactsCommand, factsCommand(100), 200, unqueued},
		{"POST /pdb/cmd/v1?version=3&certname=web01&command=deactivate_node", `{"producer_timestamp":"2026-11-20T16:03:23.884Z"}`, 200, unqueued},
		{"GET " + collect + "&limit=1", "", 200, "find query resources: "},
		{"GET /pdb/admin/v1/archive", "", 200, "find puppetdb /pdb/admin/v1/archive: "},
		{"POST /pdb/cmd/v1?version=x&certname=web01&command=replace_facts", "{}", 200, `save command replace facts web01: read command "replace facts": its version is "x", which is no number`},
		{"POST /pdb/cmd/v1?version=5&command=replace_facts", "{}", 200, `save command replace facts: read command "replace facts": it has no certname`},
	} {
		got := st.ask(t, tt.line, tt.body, "Content-Type", "application/json")
		if got.status != tt.status || !strings.HasPrefix(string(got.body), tt.want) {
			t.Errorf("%s: got %d %s, want %d %s", tt.line, got.status, string(got.body), tt.status, tt.want)
		}
	}
	if saved == nil || saved.Environment != "qa" || saved.Option("version") != "5" || saved.Cache != indirector.Off {
		t.Errorf("saved %+v, want environment qa, version 5 and no cache", saved)
	}
}
