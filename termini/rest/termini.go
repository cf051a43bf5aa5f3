package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/traces"
)

type nodes struct{ finder }

// Find notes that the server's environment counts. Rule: specification of
// termini, node/rest.
func (t *nodes) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	inst, err := t.finder.Find(ctx, req)
	if n, ok := inst.(*model.Node); ok && overridden(req, n.Environment) {
		traces.Explain(ctx, fmt.Sprintf("asked for environment %s, but the server puts the node into %s, and that counts", req.Environment, n.Environment))
	}
	return inst, err
}

// overridden reports whether the answer is of another environment. Pains P24 to
// P26.
func overridden(req *indirector.Request, answered string) bool {
	return req.Environment != "" && answered != "" && answered != req.Environment
}

type catalogs struct{ finder }

// Find sends the facts in a form. If facts_for_catalog is a text, it names
// their terminus. Rule: specification of the wire, 3.1.
func (t *catalogs) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	none := req.Option("facts_for_catalog") == nil && req.Option("facts") == nil && req.Remote == nil
	if from, ok := req.Option("facts_for_catalog").(string); ok {
		resp, err := t.env.Do(ctx, &indirector.Request{
			Indirection: "facts", Verb: indirector.Find, Key: req.Key, Environment: req.Environment, Terminus: from, Cache: indirector.Off,
		})
		if err != nil {
			return nil, err
		}
		asked := *req
		asked.Options = slices.Clone(req.Options)
		for i := range asked.Options {
			if asked.Options[i].Name == "facts_for_catalog" {
				asked.Options[i].Value = resp.Instance()
			}
		}
		req = &asked
	}
	inst, form, err := t.find(ctx, req)
	if f := (*indirector.Failure)(nil); none && errors.As(err, &f) && (strings.HasPrefix(f.Message, "Error 400 ") || strings.HasPrefix(f.Message, "Error 500 ")) {
		f.Hidden += "; no facts were sent but null, as by puppet catalog find, which a server may refuse: facts_for_catalog=facter sends those of this host"
	}
	if c, ok := inst.(*model.Catalog); ok && overridden(req, c.Environment) {
		note := fmt.Sprintf("asked for environment %s, but the catalog is of %s", req.Environment, c.Environment)
		if len(c.Resources) == 0 {
			note += " and empty: the agent asks again in that environment"
		}
		traces.Explain(ctx, note)
	}
	if err == nil && flattened(t.encoding.Accept(req), form) {
		traces.Explain(ctx, fmt.Sprintf("the server sent the catalog as %s, which holds no types: Deferred and other typed values are text in it", form.MediaType))
	}
	return inst, err
}

type facts struct{ finder }

// Save sends the facts; its result is nil. A 404 is an error, and so is any
// option.
func (t *facts) Save(ctx context.Context, req *indirector.Request) (any, error) {
	if len(req.Options) > 0 && req.Remote == nil {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "PUT does not accept options", Hidden: "the option is " + req.Options[0].Name}
	}
	answer, err := t.ask(ctx, req, false)
	if err != nil {
		return nil, err
	}
	_, err = t.saved(ctx, req, answer, false)
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && answer.Status == http.StatusForbidden {
		f.Hidden += "; who uploads facts needs a rule for PUT of " + answer.URL.EscapedPath() + ", and may by default send those of its own name only"
	}
	return nil, err
}

type reports struct{ *service }

// Save sends the report and returns the names of the server's processors. A 404
// is nil, but for a server that takes only PSON and was sent another format.
func (t *reports) Save(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := t.ask(ctx, req, false)
	if err != nil {
		return nil, err
	}
	if version := answer.Header.Get("X-Puppet-Version"); !answer.OK() && old(version) && t.encoding.Preferred != "pson" {
		return nil, t.failure(answer, "Puppet::HTTP::ProtocolError",
			fmt.Sprintf("To submit reports to a server running puppetserver %s, set preferred_serialization_format to pson", version),
			"the server answered "+strconv.Itoa(answer.Status)+" "+answer.Reason)
	}
	if answer, err = t.saved(ctx, req, answer, true); err != nil || answer == nil {
		return nil, err
	}
	if answer.Header.Get("Content-Type") == "" {
		return nil, t.failure(answer, "RuntimeError", msgNoType, t.what(answer))
	}
	f, err := t.formatOf(ctx, answer)
	if err != nil {
		return nil, err
	}
	var names []string
	err = t.decode(ctx, answer, f, traces.FormatAccepted, "", func(*traces.Active) (format.Notes, error) {
		v, err := decodeValue(f, answer.Body)
		if err == nil && v.Kind() != data.List {
			err = fmt.Errorf("the answer to a report is %v, not a list of names", v.Kind())
		}
		for _, name := range v.List() {
			names = append(names, name.Text())
		}
		return nil, err
	})
	return names, err
}

// old reports whether a version is before 5, which had only PSON.
func old(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < 5
}

// decodeValue decodes what is no instance.
func decodeValue(f *format.Format, b []byte) (data.Value, error) {
	switch f.Name {
	case "msgpack", "rich_data_msgpack":
		return format.DecodeMsgpack(b, format.Limits{})
	case "pson":
		return format.DecodePSON(b, format.Limits{})
	}
	return format.DecodeJSON(b, format.Limits{})
}

type content struct{ *service }

// Find requests the file, which is streamed. Rule: gap L10.
func (t *content) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if x, ok := ofVersion(req); ok {
		traces.AddNote(ctx, "asked as static_file_content of "+x.Key+", as it is in a version of the code")
		req = x
	}
	answer, err := t.ask(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, t.notFound(ctx, req, answer)
	}
	contents, err := t.contents(req, answer)
	if err != nil {
		return nil, err
	}
	return &model.FileContent{Path: "/this/is/a/fake/path", Contents: contents}, nil
}

// ofVersion is the request for a file of a static catalog as it is in a version of the
// code: content_uri has its path, and code_id the version.
func ofVersion(req *indirector.Request) (*indirector.Request, bool) {
	uri, hasURI := req.Option("content_uri").(string)
	id, hasID := req.Option("code_id").(string)
	u, err := url.Parse(strings.ReplaceAll(uri, " ", "%20"))
	if !hasURI || !hasID || err != nil {
		return nil, false
	}
	out := *req
	out.Indirection, out.Key = "static_file_content", strings.TrimPrefix(u.Path, "/")
	out.Options = []indirector.Option{{Name: "code_id", Value: id}}
	return &out, true
}

// resources has been in Puppet until version 3.
type resources struct{ yielder }

// Save sends the resource. The result is the changed resource and the report.
func (t *resources) Save(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := t.save(ctx, req, true)
	if err != nil || answer == nil {
		return nil, err
	}
	f, err := t.formatOf(ctx, answer)
	if err != nil {
		return nil, err
	}
	var pair []indirector.Instance
	err = t.decode(ctx, answer, f, traces.FormatAccepted, "", func(*traces.Active) (format.Notes, error) {
		v, err := decodeValue(f, answer.Body)
		if err != nil {
			return nil, err
		}
		if v.Kind() != data.List || len(v.List()) != 2 {
			return nil, fmt.Errorf("the answer is no list of a resource and a report")
		}
		for i, name := range []string{"resource", "report"} {
			class, _ := model.Lookup(name)
			inst, err := class.FromData(v.List()[i])
			if err != nil {
				return nil, err
			}
			pair = append(pair, inst)
		}
		return nil, nil
	})
	return pair, err
}

// status has been in Puppet until version 6.
type status struct{ finder }

func (t *status) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	inst, err := t.finder.Find(ctx, req)
	if s, ok := inst.(*model.Status); ok && s.Name == "" {
		named := *s
		named.Name = req.Key // the answer has none
		return &named, err
	}
	return inst, err
}

var (
	_ indirector.Finder   = finder{}
	_ indirector.Searcher = searcher{}
	_ indirector.Yielder  = yielder{}
	_ indirector.Finder   = (*nodes)(nil)
	_ indirector.Finder   = (*catalogs)(nil)
	_ indirector.Saver    = (*facts)(nil)
	_ indirector.Saver    = (*reports)(nil)
	_ indirector.Finder   = (*content)(nil)
	_ indirector.Header   = (*bucket)(nil)
	_ indirector.Finder   = (*bucket)(nil)
	_ indirector.Saver    = (*bucket)(nil)
	_ indirector.Saver    = (*resources)(nil)
	_ indirector.Finder   = (*status)(nil)
)

// settings returns those of every rest terminus.
func settings(more ...indirector.Setting) []indirector.Setting {
	all := append(client.ServerSettings(), client.Settings()...)
	all = append(all,
		indirector.Setting{Name: "certname", Doc: "The name of this host in messages about its certificate."},
		indirector.Setting{Name: "certdir", Doc: "Certificates of the nodes for which requests are passed on."},
		indirector.Setting{Name: "privatekeydir", Doc: "Their keys."},
		indirector.Setting{Name: "preferred_serialization_format", Doc: "The format that is asked for first, and sent."},
		indirector.Setting{Name: "rich_data", Doc: "false asks for no rich data."},
		indirector.Setting{Name: "digest_algorithm", Doc: "Type of checksum if the request names none."},
		indirector.Setting{Name: "supported_checksum_types", Doc: "Types of checksum that a static catalog may use."},
		indirector.Setting{Name: settingForward, Doc: "How the server is told which node asked us: headers (X-Client-DN and others), certificate (that of the node is shown) or false. Not a setting of Puppet."},
		indirector.Setting{Name: settingLegacy, Doc: "true asks with the URLs and formats of Puppet 2.6 to 3. Not a setting of Puppet."},
		indirector.Setting{Name: settingFollow, Doc: "true sends PSON to a server that has said it is older than Puppet 5. Not a setting of Puppet."},
	)
	return append(all, more...)
}

// restNotes are what matters when choosing a rest terminus, where the summary is
// long.
var restNotes = map[string]string{
	"catalog":            "asks a server, and sends it the facts",
	"certificate":        "asks the CA",
	"facts":              "save needs a server rule",
	"file_metadata":      "files of a server",
	"node":               "the agent learns its environment so",
	"certificate_status": "has the CA sign and revoke",
}

// descriptor has what the termini have in common. Forwarded requests were
// validated by the server.
func descriptor(indirection, doc string, service client.Service, wrap func(*service) indirector.Terminus, more ...indirector.Setting) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: "rest", Party: "the server", Note: restNotes[indirection], KeepsExpiry: indirection == "facts", Doc: doc, Settings: settings(more...), REST: true, Type: wrap(nil),
		Rules: []string{"IND-TERM-12", "REST-URL-06", "REST-FMT-09", "REST-CLI-09"},
		New: func(env indirector.Env) (indirector.Terminus, error) {
			t, err := newService(env, service)
			if err != nil {
				return nil, err
			}
			return wrap(t), nil
		},
	}
}

var reportSettings = []indirector.Setting{
	{Name: "report_server", Doc: "The server for reports."},
	{Name: "report_port", Doc: "Its port."},
}

// Descriptors of the rest termini. Facts carry their expiration.
var (
	Catalog = descriptor("catalog", "Asks a server for the catalog of a node, and sends it the facts of the option facts_for_catalog.",
		client.Puppet, func(t *service) indirector.Terminus { return &catalogs{finder{t}} })
	Facts = descriptor("facts", "Asks a server for the facts of a node, and sends them. Puppet Server does not answer the first and, unless its auth.conf says so, lets each node do the second for itself only.",
		client.Puppet, func(t *service) indirector.Terminus { return &facts{finder{t}} })
	BucketFile = descriptor("file_bucket_file", "Keeps files in the bucket of a server. A server that the key names does not count.",
		client.Puppet, func(t *service) indirector.Terminus { return &bucket{t} })
	FileContent = descriptor("file_content", "Reads files of a server, as they come. The key is a mount and a path below it, or a puppet: address, whose server is then asked.",
		client.FileServer, func(t *service) indirector.Terminus { return &content{t} })
	FileMetadata = descriptor("file_metadata", "Asks a server what it says of its files. The key is a mount and a path below it, or a puppet: address, whose server is then asked.",
		client.FileServer, func(t *service) indirector.Terminus { return yielder{searcher{finder{t}}} })
	Node = descriptor("node", "Asks a server what is known of a node; the agent learns its environment so.",
		client.Puppet, func(t *service) indirector.Terminus { return &nodes{finder{t}} })
	Report = descriptor("report", "Sends a report to a server. That it is not known there is no error.",
		client.Report, func(t *service) indirector.Terminus { return &reports{t} }, reportSettings...)
	Resource = descriptor("resource", "Asks a host about its resources, and changes them. Puppet had this terminus until version 3.",
		client.Puppet, func(t *service) indirector.Terminus { return &resources{yielder{searcher{finder{t}}}} })
	Status = descriptor("status", "Asks whether a server is alive. Puppet had this terminus until version 6.",
		client.Puppet, func(t *service) indirector.Terminus { return &status{finder{t}} })
)
