// Package rest is the wire of Puppet's REST API in both directions.
//
//	m, err := rest.Encoding{}.Encode(req)        // a request as it goes over the network
//	req, err := rest.Space{}.Decode(httpRequest) // and back
//	http.Server{Handler: rest.NewHandler(x, rest.Options{…})}
//
// Both directions read one table of indirections; decoding an encoded request
// returns it.
package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// Prefixes of URLs. Rule REST-URL-01.
const (
	puppetPrefix = "/puppet/v3"
	caPrefix     = "/puppet-ca/v1"

	staticContent = "static_file_content"
)

// An indirection is the spelling of an indirection in URLs.
type indirection struct {
	name   string
	plural string // of a search
	ca     bool   // of the CA, not the server
	served string // methods that Puppet Server answers, for one and for "many"; "" is none
	find   []string
	search []string // parameters that Puppet's client sends, in order
}

// table has the indirections that Puppet or its clients treat differently from
// "append an s". Rules REST-URL-02, REST-PLU-01.
var table = [...]indirection{
	{
		name: "node", plural: "nodes", served: "GET",
		find: []string{"environment", "configured_environment", "transaction_uuid"},
	},
	{name: "catalog", plural: "catalogs", served: "GET POST"},
	{name: "facts", plural: "facts_search", served: "PUT"},
	{name: "report", plural: "reports", served: "PUT"},
	{
		name: "file_metadata", plural: "file_metadatas", served: "GET many",
		find:   []string{"links", "checksum_type", "source_permissions", "environment"},
		search: []string{"recurse", "recurselimit", "max_files", "ignore", "links", "checksum_type", "source_permissions", "environment"},
	},
	{name: "file_content", plural: "file_contents", served: "GET"},
	{name: staticContent, plural: staticContent + "s", find: []string{"environment", "code_id"}}, // no indirection, but asked for like one
	{
		name: "file_bucket_file", plural: "file_bucket_files", served: "GET HEAD PUT",
		find: []string{"environment", "bucket_path", "diff_with", "list_all", "fromdate", "todate"},
	},
	{name: "resource", plural: "resources"},
	{name: "status", plural: "statuses"},
	{name: "certificate", plural: "certificates", ca: true},
	{name: "certificate_request", plural: "certificate_requests", ca: true},
	{name: "certificate_revocation_list", plural: "certificate_revocation_lists", ca: true},
	{name: "certificate_status", plural: "certificate_statuses", ca: true},
	{name: "ocsp", plural: "ocsps", ca: true},
}

func lookup(name string) indirection {
	for i := range table {
		if table[i].name == name {
			return table[i]
		}
	}
	return indirection{name: name, plural: name + "s"}
}

func (i *indirection) prefix() string {
	if i.ca {
		return caPrefix
	}
	return puppetPrefix
}

// singular returns the indirection of a name in a URL, and whether it is
// plural. Rules REST-PLU-01, REST-PLU-02.
func singular(name string) (string, bool) {
	switch name {
	case "facts", "status", "certificate_status":
		return name, false
	}
	cut, many := strings.CutSuffix(name, "_search")
	if !many {
		cut, many = strings.CutSuffix(name, "s")
	}
	if before, ok := strings.CutSuffix(cut, "statuse"); ok {
		cut = before + "status"
	}
	return cut, many
}

// verbs are those of one instance. Many can only be searched, by GET.
var verbs = map[string]indirector.Verb{
	http.MethodGet:    indirector.Find,
	http.MethodPost:   indirector.Find,
	http.MethodPut:    indirector.Save,
	http.MethodDelete: indirector.Destroy,
	http.MethodHead:   indirector.Head,
}

// VerbOf returns the verb of a method; Find for unknown ones.
func VerbOf(method string) indirector.Verb {
	if v, ok := verbs[method]; ok {
		return v
	}
	return indirector.Find
}

// An Encoding decides how requests are written. The zero Encoding writes them
// as Puppet 7's agent does by default.
type Encoding struct {
	Legacy    bool     // URLs and formats of Puppet 2.6 to 3. Rule REST-URL-05
	Preferred string   // setting preferred_serialization_format; "" is json
	Digest    string   // setting digest_algorithm; "" is sha256
	Checksums []string // setting supported_checksum_types; nil is Puppet 7's default
	Plain     bool     // setting rich_data is off
}

// A Message is a request on the wire.
type Message struct {
	Method string
	Path   string      // escaped, from the root
	Query  string      // escaped, without "?"
	Header http.Header // Accept and Content-Type; the client adds the rest
	// Body may be opened several times, for redirects and retries; nil is none.
	Body model.Contents
	// Warnings are Puppet's about rich values that are sent as strings.
	Warnings []string
}

// Target returns path and query.
func (m *Message) Target() string {
	if m.Query == "" {
		return m.Path
	}
	return m.Path + "?" + m.Query
}

// Encode returns req as it goes over the network. One that came over the
// network (Remote) keeps exactly its parameters; one of this process gets what
// Puppet's client sends, defaults included. An error reports what cannot be
// written: a parameter that is no scalar or list of scalars, an instance that
// the format does not take. Rules REST-URL-06, REST-PAR-06, REST-PLU-03.
func (e Encoding) Encode(req *indirector.Request) (*Message, error) {
	ind := lookup(req.Indirection)
	m := &Message{Header: make(http.Header, 2)}
	name := ind.name
	switch req.Verb {
	case indirector.Find:
		m.Method = http.MethodGet
	case indirector.Search:
		m.Method, name = http.MethodGet, ind.plural
	case indirector.Head:
		m.Method = http.MethodHead
	case indirector.Save:
		m.Method = http.MethodPut
	case indirector.Destroy:
		m.Method = http.MethodDelete
	default:
		return nil, fmt.Errorf("%v goes over no network", req.Verb)
	}
	m.Path = e.path(&ind, req, name)
	m.Header["Accept"] = nil // else the client adds one
	if accept := strings.Join(e.Accept(req), ", "); accept != "" {
		m.Header.Set("Accept", accept)
	}
	params, err := e.parameters(&ind, req)
	if err != nil {
		return nil, err
	}
	if ind.name == "catalog" && req.Verb == indirector.Find && posts(req) {
		return e.postCatalog(m, req, params)
	}
	m.Query = params.encode()
	if req.Verb == indirector.Save {
		err = e.encodeInstance(m, req)
	}
	return m, err
}

func (e Encoding) path(ind *indirection, req *indirector.Request, name string) string {
	prefix := ind.prefix()
	if e.Legacy {
		prefix = "/" + escape(environmentOf(req), pathByte)
	}
	return prefix + "/" + name + "/" + escapePath(req.Key)
}

func environmentOf(req *indirector.Request) string {
	if req.Environment == "" {
		return "production"
	}
	return req.Environment
}

// parameters returns those of the query.
func (e Encoding) parameters(ind *indirection, req *indirector.Request) (parameters, error) {
	var p parameters
	environment := !ind.ca && !e.Legacy
	if req.Remote != nil {
		if environment {
			p.add("environment", environmentOf(req))
		}
		for _, name := range req.Flags.Names() {
			p.add(name, "true")
		}
		return p, p.addAll(req.Options)
	}
	names := ind.find
	switch {
	case req.Verb == indirector.Search:
		names = ind.search
	case req.Verb == indirector.Head && ind.name == "file_bucket_file":
		names = []string{"environment", "bucket_path"}
	case req.Verb == indirector.Save, req.Verb == indirector.Destroy, req.Verb == indirector.Head:
		names = nil
	}
	if names == nil {
		if environment {
			p.add("environment", environmentOf(req))
		}
		return p, nil
	}
	for _, name := range names {
		switch value := e.parameter(ind, req, name); {
		case name == "environment" && !environment:
		case value != nil:
			if err := p.addValue(name, value); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// parameter returns what Puppet's client sends under that name; nil is nothing.
func (e Encoding) parameter(ind *indirection, req *indirector.Request, name string) any {
	if v := req.Option(name); v != nil {
		return v
	}
	switch name {
	case "environment", "configured_environment":
		return environmentOf(req)
	}
	return nil
}

// posts reports whether a catalog is requested by POST. Puppet's client always
// does; a forwarded request without facts does not.
func posts(req *indirector.Request) bool {
	return req.Remote == nil || req.Option("facts") != nil || req.Option("facts_for_catalog") != nil
}

// postCatalog requests a catalog by a form. The facts are encoded twice, as
// facts and as a field. Rules: 3.1, REST-PAR-05.
func (e Encoding) postCatalog(m *Message, req *indirector.Request, query parameters) (*Message, error) {
	form := query
	if req.Remote == nil {
		var err error
		if form, err = e.catalogForm(req); err != nil {
			return nil, err
		}
	}
	if e.Legacy {
		// Puppet 3 uses GET as long as the line is short. Rule REST-CLI-10.
		if m.Query = form.encode(); len(m.Target()) <= 1024 {
			return m, nil
		}
		m.Query = ""
	} else {
		m.Query = parameters{{"environment", environmentOf(req)}}.encode()
	}
	m.Method = http.MethodPost
	m.Header.Set("Content-Type", formType)
	m.Body = model.Bytes(form.encode())
	return m, nil
}

func (e Encoding) catalogForm(req *indirector.Request) (parameters, error) {
	var form parameters
	if err := e.addFacts(&form, req); err != nil {
		return nil, err
	}
	environment := environmentOf(req)
	text := func(name, missing string) {
		if s, ok := scalar(req.Option(name)); ok {
			missing = s
		}
		form.add(name, missing)
	}
	if !e.Legacy {
		form.add("environment", environment)
		text("configured_environment", environment)
		check, _ := req.Option("check_environment").(bool)
		form.add("check_environment", fmt.Sprint(check))
	}
	text("transaction_uuid", "")
	job, _ := scalar(req.Option("job_id"))
	form.add("job_uuid", job)
	text("static_catalog", "")
	checksums := e.Checksums
	if checksums == nil {
		checksums = []string{"sha256", "sha384", "sha512", "sha224", "md5"}
	}
	text("checksum_type", strings.Join(checksums, "."))
	return form, nil
}

// addFacts adds the option facts_for_catalog, facts already encoded, or
// Puppet's null.
func (e Encoding) addFacts(form *parameters, req *indirector.Request) error {
	if text, ok := req.Option("facts").(string); ok {
		kind, _ := scalar(req.Option("facts_format"))
		form.add("facts_format", kind)
		form.add("facts", text)
		return nil
	}
	name, kind := "json", "application/json"
	if e.Legacy || e.Preferred == "pson" {
		name, kind = "pson", "pson"
	}
	text := []byte("null")
	if facts, ok := req.Option("facts_for_catalog").(indirector.Instance); ok {
		f, _ := format.ByName(name)
		var err error
		if text, err = format.Render(f, facts); err != nil {
			return cannotSerialize(facts, name, err)
		}
	}
	form.add("facts_format", kind)
	form.add("facts", escape(string(text), queryByte))
	return nil
}

func cannotSerialize(inst indirector.Instance, name string, err error) error {
	class := fmt.Sprintf("%T", inst)
	if c := model.ClassOf(inst); c != nil {
		class = c.Ruby
	}
	return &indirector.Failure{
		Class: "Puppet::HTTP::SerializationError", Origin: "encode",
		Message: fmt.Sprintf("Failed to serialize %s to %s: %s", class, name, err), Err: err,
	}
}

// encodeInstance writes the body of a save: contents as they are, all else in
// the preferred format.
func (e Encoding) encodeInstance(m *Message, req *indirector.Request) error {
	if req.Instance == nil {
		return fmt.Errorf("save %s %q: there is no instance", req.Indirection, req.Key)
	}
	names := e.formats(req.Indirection)
	f, ok := format.ByName(names[0])
	if !ok {
		return fmt.Errorf("there is no format %q", names[0])
	}
	m.Header.Set("Content-Type", f.MediaType)
	inst := req.Instance
	if e.Plain {
		inst, m.Warnings = model.Plain(inst)
	}
	switch x := inst.(type) {
	case *model.FileContent:
		m.Body = x.Contents
	case *model.FileBucketFile:
		m.Body = x.Contents
	default:
		b, err := format.Render(f, inst)
		if err != nil {
			return cannotSerialize(req.Instance, f.Name, err)
		}
		m.Body = model.Bytes(b)
	}
	if m.Body == nil {
		m.Body = model.Bytes(nil)
	}
	return nil
}

// formats returns the names of the formats that a client accepts for a model,
// the preferred first, never yaml or dot. Rules REST-FMT-01, REST-FMT-02,
// REST-FMT-06.
func (e Encoding) formats(name string) []string {
	if name == staticContent {
		name = "file_content"
	}
	c, ok := model.Lookup(name)
	if !ok {
		if lookup(name).ca {
			return []string{"s"}
		}
		return []string{"json"}
	}
	preferred := cmp.Or(e.Preferred, "json")
	if e.Legacy {
		preferred = "pson"
	}
	var formats []*format.Format
	for _, n := range c.Formats {
		rich := strings.HasPrefix(n, "rich_data_")
		if f, ok := format.ByName(n); ok && n != "yaml" && n != "dot" && !(rich && (e.Plain || e.Legacy)) {
			formats = append(formats, f)
		}
	}
	rank := func(f *format.Format) int {
		if strings.HasSuffix(f.MediaType, preferred) {
			return f.Weight + 1000
		}
		return f.Weight
	}
	slices.SortStableFunc(formats, func(a, b *format.Format) int { return rank(b) - rank(a) })
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// Accept returns what the client accepts for req, most wanted first: that of
// its Wire, else all formats of the model. One empty entry is a missing header.
// Puppet 2.6 to 3 use names of formats.
func (e Encoding) Accept(req *indirector.Request) []string {
	if wire := req.Wire(); wire != nil && len(wire.Accept) > 0 {
		return wire.Accept
	}
	names := e.formats(req.Indirection)
	if e.Legacy {
		return names
	}
	for i, n := range names {
		if f, ok := format.ByName(n); ok {
			names[i] = f.MediaType
		}
	}
	return names
}

// A Space decides how requests are read. The zero Space reads the URLs of
// Puppet 4 and later.
type Space struct {
	Legacy bool // reads URLs of Puppet 2.6 to 3, too
	// Form is the largest form in bytes, which holds facts; 0 is 16 MiB.
	Form int64
	// Body is the largest instance in bytes; 0 is 32 MiB. Contents of files are
	// streamed without a limit.
	Body int64
	// Has reports whether an indirection exists; nil knows all.
	Has func(name string) bool
}

const (
	defaultForm = 16 << 20
	defaultBody = 32 << 20
	formType    = "application/x-www-form-urlencoded"
)

// Decode returns the request that r is, with its instance. An error is an
// *[Error]. Contents of files are read from r.Body when they are opened, once.
func (s Space) Decode(r *http.Request) (*indirector.Request, error) {
	req, err := s.Parse(r)
	if err != nil || req.Verb != indirector.Save {
		return req, err
	}
	return req, s.readInstance(r, req)
}

// Parse returns the request that r is, without the instance of a save, after
// the checks that need no Indirector, in Puppet's order. The environment may
// not exist. Rules REST-URL-01 to REST-URL-05, REST-PAR-01 to REST-PAR-05.
func (s Space) Parse(r *http.Request) (*indirector.Request, error) {
	path := r.URL.Path
	if err := checkPath(path); err != nil {
		return nil, err
	}
	params, err := s.readParameters(r)
	if err != nil {
		return nil, err
	}
	p, ok := s.split(path)
	if !ok {
		return nil, refuse(http.StatusNotFound, HandlerNotFound, msgNoRoute, r.Method, path)
	}
	return s.parse(r, p, params)
}

// A location is a parsed path.
type location struct {
	prefix, name, key string
	environment       string // of a legacy path
	legacy            bool
}

// split parses a path: the key is all that follows the name. Rules REST-URL-01,
// REST-URL-05.
func (s Space) split(path string) (location, bool) {
	for _, prefix := range [...]string{puppetPrefix, caPrefix} {
		if rest, ok := strings.CutPrefix(path, prefix+"/"); ok {
			name, key, _ := strings.Cut(rest, "/")
			return location{prefix: prefix, name: name, key: key}, true
		}
	}
	if !s.Legacy || strings.Count(path, "/") < 3 {
		return location{}, false
	}
	environment, rest, _ := strings.Cut(path[1:], "/")
	name, key, _ := strings.Cut(rest, "/")
	return location{name: name, key: key, environment: environment, legacy: true}, true
}

func (s Space) parse(r *http.Request, p location, params parameters) (*indirector.Request, error) {
	if !isWord(p.name) {
		return nil, refuse(http.StatusBadRequest, RuntimeError, msgBadIndirection, p.name)
	}
	verb, known := verbs[r.Method]
	if !known {
		return nil, refuse(http.StatusMethodNotAllowed, RuntimeError, msgNoMethod, r.Method)
	}
	name, many := singular(p.name)
	if many {
		if r.Method != http.MethodGet {
			return nil, refuse(http.StatusBadRequest, RuntimeError, msgPlurality, r.Method)
		}
		verb = indirector.Search
	}
	ind := lookup(name)
	switch {
	case !p.legacy && p.prefix != ind.prefix():
		return nil, refuse(http.StatusBadRequest, RuntimeError, msgPrefix, name, p.prefix)
	case s.Has != nil && !s.Has(name):
		return nil, refuse(http.StatusNotFound, HandlerNotFound, msgNoIndirection, name)
	}
	environment, given := params.only("environment")
	if p.legacy {
		environment, given = p.environment, true
	}
	switch {
	case !given && ind.ca: // the CA has no environments
	case !given:
		return nil, refuse(http.StatusBadRequest, RuntimeError, msgNoEnvironment)
	case !isWord(environment):
		return nil, refuse(http.StatusBadRequest, RuntimeError, msgBadEnvironment, environment)
	}
	if p.key == "" {
		return nil, refuse(http.StatusBadRequest, RuntimeError, msgNoKey, r.URL.Path)
	}
	req := indirector.NewRequest(name, verb, p.key, nil, params.options())
	req.Environment = environment
	return req, nil
}

// readInstance reads the instance of a save from the body of r. Rule
// REST-FMT-07.
func (s Space) readInstance(r *http.Request, req *indirector.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return refuse(http.StatusBadRequest, MissingHeaderField, msgNoContentType)
	}
	kind, _, _ := strings.Cut(header, ";")
	kind = strings.TrimRight(kind, " \t")
	f, known := format.ByMediaType(kind)
	class, has := model.Lookup(req.Indirection)
	if !known || f.Name == "yaml" || !has || !slices.Contains(class.Formats, f.Name) {
		return refuse(http.StatusUnsupportedMediaType, UnsupportedMediaType, msgMediaType, kind)
	}
	switch class.Name {
	case "file_bucket_file":
		req.Instance = &model.FileBucketFile{ChecksumType: "sha256", Contents: newStream(r)}
		return nil
	case "file_content":
		req.Instance = &model.FileContent{Path: "/this/is/a/fake/path", Contents: newStream(r)}
		return nil
	}
	b, err := readBody(r, s.Body, defaultBody)
	if err != nil {
		return err
	}
	held := shareOf(r)
	inst, _, err := format.Intern(f, class.Name, b, format.Options{Limits: format.Limits{Own: true, Grow: held.grow}})
	if held != nil && held.err != nil {
		return held.err
	}
	if err != nil {
		return refuse(http.StatusBadRequest, RuntimeError, msgBadBody, indirector.Message(err))
	}
	req.Instance = inst
	return nil
}
