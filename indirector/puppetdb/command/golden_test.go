package command_test

import (
	"encoding/base64"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// read returns a file of the recordings.
func read(tb testing.TB, part ...string) data.Value {
	tb.Helper()
	text, err := os.ReadFile(golden.PathBeside(tb, "..", append([]string{"stores"}, part...)...))
	if err != nil {
		tb.Fatal(err)
	}
	v, err := format.DecodeJSON(text, format.Limits{Depth: 200})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// What all cases have in common, as the README of the recordings has it.
const (
	producer = "compiler.example.com"
	now      = "2026-11-22T08:00:00.123Z"
)

func TestGoldenCommands(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"facts", "catalog", "report"} {
		for _, c := range read(t, "puppetdb", "commands-"+kind+".json").List() {
			t.Run(kind+"/"+c.Get("id").Str(), func(t *testing.T) {
				t.Parallel()
				runGolden(t, c)
			})
		}
	}
}

func runGolden(t *testing.T, c data.Value) {
	commands, err := save(t, c)
	want, exception := c.Get("error"), c.Get("exception").Str()
	if exception == "NameError" { // an accident of Ruby, as the README has it
		return
	}
	if !want.IsNil() {
		if failure := (*indirector.Failure)(nil); !errors.As(err, &failure) || failure.Message != want.Str() || failure.Class != exception {
			t.Errorf("got error %#v, want %s: %s", err, exception, want.Str())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	requests := c.Get("requests").List()
	if len(commands) != len(requests) {
		t.Fatalf("got %d commands, want %d", len(commands), len(requests))
	}
	var warnings, wantWarnings []string
	for i, made := range commands {
		body, warning := made.Body()
		warnings = append(warnings, made.Warnings...)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		compareRequest(t, made, body, requests[i])
	}
	for _, l := range c.Get("logs").List() {
		if l.List()[0].Str() == "warning" {
			wantWarnings = append(wantWarnings, l.List()[1].Str())
		}
	}
	if !slices.Equal(warnings, wantWarnings) {
		t.Errorf("got warnings %q, want %q", warnings, wantWarnings)
	}
}

// New values, and the numbers that Puppet gives to what is sensitive.
var (
	fresh    = regexp.MustCompile(`<UUID>|<N>`)
	anything = map[string]string{"<UUID>": `[0-9a-f-]{36}`, "<N>": `\d+`}
)

func compareRequest(t *testing.T, c *command.Command, body []byte, request data.Value) {
	t.Helper()
	want := request.Get("body").Str()
	if at := fresh.FindStringIndex(want); at != nil {
		quoted := regexp.QuoteMeta(want)
		for mark, pattern := range anything {
			quoted = strings.ReplaceAll(quoted, regexp.QuoteMeta(mark), pattern)
		}
		if !regexp.MustCompile("^" + quoted + "$").Match(body) {
			t.Errorf("got body\n%s\nwant\n%s", body, want)
		}
	} else if string(body) != want {
		t.Errorf("got body\n%s\nwant\n%s", body, want)
	}
	headers := request.Get("headers")
	if length := headers.Get("X-Uncompressed-Length"); !length.IsNil() && length.Str() != strconv.Itoa(len(body)) {
		t.Errorf("got %d bytes, want %s", len(body), length.Str())
	}
	target := command.Path + "?" + c.Query(body)
	wantTarget := request.Get("target").Str()
	if strings.Contains(wantTarget, "<SHA1>") {
		target = strings.Replace(target, c.Checksum(body), "<SHA1>", 1)
	}
	// Puppet escapes nothing but what no URL may have.
	escaped := regexp.MustCompile(`(certname=)[^&]*`)
	if got := escaped.ReplaceAllLiteralString(target, "certname="+strings.ReplaceAll(c.Certname, " ", "%20")); got != wantTarget {
		t.Errorf("got target\n%s\nwant\n%s", got, wantTarget)
	}
}

// save returns the commands of a case.
func save(t *testing.T, c data.Value) ([]*command.Command, error) {
	o := options(t, c)
	var made *command.Command
	var err error
	switch c.Get("kind").Str() {
	case "node":
		if c.Get("verb").Str() != "destroy" {
			return nil, nil
		}
		made = command.Deactivate(c.Get("key").Str(), o)
	case "facts":
		made, err = command.Facts(instance[*model.Facts](t, "facts", c), o)
	case "report":
		made, err = command.Report(instance[*model.Report](t, "report", c), o)
	case "catalog":
		made, err = command.Catalog(catalog(t, c), o)
	}
	if err != nil {
		return nil, err
	}
	commands := []*command.Command{made}
	// Nothing in Puppet 7.23 records what is looked up, so no inputs are made here. Those
	// that were recorded are read, and written again.
	for i, r := range c.Get("requests").List() {
		if i == 0 {
			continue
		}
		again, err := command.Read(command.ReplaceCatalogInputs, 1, made.Certname, made.Produced, []byte(r.Get("body").Str()))
		if err != nil {
			return nil, err
		}
		commands = append(commands, again)
	}
	return commands, nil
}

// options returns what a case has of its request and its sender.
func options(t *testing.T, c data.Value) command.Options {
	o := command.Options{
		Key: c.Get("certname").Str(), Produced: produced(t, c.Get("zone").Str()), Producer: producer, Environment: "production",
		Trusted: c.Get("trusted"), TransactionUUID: c.Dig("options", "transaction_uuid").Text(), JobID: c.Dig("options", "job_id").Text(),
		Unchanged: strings.Contains(c.Get("conf").Str(), "include_unchanged_resources = true"),
	}
	if e := c.Get("environment"); !e.IsNil() {
		o.Environment = e.Str()
	}
	return o
}

func produced(t *testing.T, zone string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, now)
	if err != nil {
		t.Fatal(err)
	}
	if zone == "" {
		return at
	}
	local, err := time.Parse("-07:00", zone)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(local.Location())
}

func instance[T indirector.Instance](t *testing.T, class string, c data.Value) T {
	t.Helper()
	of, ok := model.Lookup(class)
	if !ok {
		t.Fatal("there is no model " + class)
	}
	i, err := of.FromData(withBytes(c.Get("input")))
	if err != nil {
		t.Fatal(err)
	}
	return i.(T)
}

// catalog returns the catalog of a case.
func catalog(t *testing.T, c data.Value) *model.Catalog {
	cat := instance[*model.Catalog](t, "catalog", c)
	asSent(cat, c)
	return cat
}

// asSent gives a catalog what it has not from the wire: what is virtual and, if it was
// compiled, the class main under its own name, and titles that are no texts. These
// are on the wire as names, too.
func asSent(cat *model.Catalog, c data.Value) {
	_, compiled := c.Lookup("manifest")
	var virtual []string
	for _, ref := range c.Get("virtual").List() {
		virtual = append(virtual, ref.Str())
	}
	for i := range cat.Resources {
		r := &cat.Resources[i]
		r.Virtual = slices.Contains(virtual, r.Ref())
		if !compiled {
			continue
		}
		if r.Type == "Class" && r.Title == "Main" {
			r.Title = "main"
		}
		if r.Parameters.Get("name").Str() == r.Title {
			r.KeepName()
		}
	}
	for i := range cat.Edges {
		if e := &cat.Edges[i]; compiled {
			e.Source = strings.Replace(e.Source, "Class[Main]", "Class[main]", 1)
			e.Target = strings.Replace(e.Target, "Class[Main]", "Class[main]", 1)
		}
	}
}

// withBytes returns a value in which hashes with base64 alone are the bytes of it.
func withBytes(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = withBytes(x)
		}
		return data.OfList(l)
	case data.Hash:
		if text, ok := v.Lookup("base64"); ok && v.Len() == 1 {
			raw, err := base64.StdEncoding.DecodeString(text.Str())
			if err == nil {
				return data.OfString(string(raw))
			}
		}
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: p.Key, Value: withBytes(p.Value)}
		}
		return data.OfHash(h)
	}
	return v
}

// What a compile knows of the class main and of the stage main is lost on the wire.
var (
	mainClass = regexp.MustCompile(`(\{"type":"Class","title":")main"`)
	mainStage = regexp.MustCompile(`(\{"type":"Stage","title":"main",[^{}]*"parameters":)\{"name":"main","alias":\["main"\]\}`)
)

// A catalog that was on the wire makes the same command as the compiled one.
func TestGoldenFromWire(t *testing.T) {
	t.Parallel()
	for _, c := range read(t, "puppetdb", "commands-catalog.json").List() {
		if c.Get("from_wire").Str() != "same" || !c.Get("error").IsNil() {
			continue
		}
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			cat := instance[*model.Catalog](t, "catalog", c)
			asSent(cat, c.Without("manifest"))
			made, err := command.Catalog(cat, options(t, c))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := made.Body()
			want := c.Get("requests").List()[0].Get("body").Str()
			want = mainStage.ReplaceAllString(mainClass.ReplaceAllString(want, `${1}Main"`), "$1{}")
			if string(body) != want {
				t.Errorf("got\n%s\nwant\n%s", body, want)
			}
		})
	}
}

// The table of types that commands are made with is Puppet's.
func TestGoldenTypes(t *testing.T) {
	t.Parallel()
	known := rtype.BuiltIn()
	for _, p := range read(t, "types.json").Hash() {
		name, want := p.Key.Str(), p.Value
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := known[name]
			if of == nil {
				t.Fatal("the type is not known")
			}
			if keys := data.OfStrings(of.Keys); !data.Equal(keys, want.Get("key_attributes")) {
				t.Errorf("got %s, want %s", keys, want.Get("key_attributes"))
			}
			if want.Get("isomorphic").Bool() == of.Many {
				t.Errorf("got isomorphic %t", !of.Many)
			}
			var patterns []data.Value
			for _, x := range of.Titles {
				patterns = append(patterns, data.OfList([]data.Value{data.OfString(x.Pattern), data.OfStrings(x.Attributes), data.OfBool(x.Converted)}))
			}
			if got := data.OfList(patterns); !data.Equal(got, want.Get("title_patterns")) {
				t.Errorf("got %s, want %s", got, want.Get("title_patterns"))
			}
			aliased(t, name, want)
		})
	}
}

// aliased looks whether a resource whose name is not its title has the name as an alias: not
// if several attributes name it, and not if others may have the name.
func aliased(t *testing.T, typ string, want data.Value) {
	keys := want.Get("key_attributes").List()
	cat := &model.Catalog{Name: "n", Resources: []model.Resource{{
		Type: strings.ToUpper(typ[:1]) + typ[1:], Title: "title", Parameters: data.OfHash([]data.Pair{{Key: keys[0], Value: data.OfString("/name")}}),
	}}}
	c, err := command.Catalog(cat, command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, got := c.Payload.Get("resources").List()[0].Get("parameters").Lookup("alias")
	if should := len(keys) == 1 && want.Get("isomorphic").Bool(); got != should {
		t.Errorf("got alias %t, want %t: %s", got, should, c.Payload.Get("resources"))
	}
}
