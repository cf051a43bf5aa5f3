// Package api reads requests of PuppetDB's HTTP API as requests of indirections,
// and writes both them and their answers:
//
//	POST /pdb/cmd/v1?command=replace_catalog&certname=web01&…   save catalog web01
//	GET  /pdb/query/v4/resources?query=["and",["=","type",T],…  search resource T
//	GET  /pdb/query/v4/nodes/web01/facts                        find facts web01
//	GET  /pdb/query/v4/nodes?query=["and",["=",["fact",F],V]]   search facts
//	GET  /pdb/query/v4/nodes/web01                              find node web01
//
// Everything else has only a name. See [Called] and [Asked].
package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/puppetdb/command"
)

// Where PuppetDB takes commands and answers questions.
const (
	Commands = command.Path
	Queries  = "/pdb/query/v4"
)

// The parameters of a command.
const (
	paramCommand  = "command"
	paramVersion  = "version"
	paramCertname = "certname"
	paramProduced = "producer-timestamp"
	paramChecksum = "checksum"
)

// indirections are the requests that commands are. Others are none.
var indirections = map[string]struct {
	indirection string
	verb        indirector.Verb
}{
	command.ReplaceCatalog: {"catalog", indirector.Save},
	command.ReplaceFacts:   {"facts", indirector.Save},
	command.StoreReport:    {"report", indirector.Save},
	command.DeactivateNode: {"node", indirector.Destroy},
}

// A Call is a command as it was sent.
type Call struct {
	Name     string // with blanks: "replace facts"
	Version  int
	Certname string
	Produced time.Time // zero if it was not sent
	Payload  []byte
	Checksum string // as sent; "" is none
	Enclosed bool   // everything is in the body, as of old

	others []indirector.Option // parameters of no meaning here
}

// Called reads a command from the query of its URL and its unpacked body. One
// without parameters has all in the body: {"command": …, "version": …,
// "payload": …}. The payload shares the memory of body. Rule PDB-HTTP-02.
func Called(query string, body []byte) (*Call, error) {
	c := &Call{Payload: body}
	version := ""
	for name, value := range pairs(query) {
		switch name {
		case paramCommand:
			c.Name = strings.ReplaceAll(value, "_", " ")
		case paramVersion:
			version = value
		case paramCertname:
			c.Certname = value
		case paramProduced:
			c.Produced, _ = time.Parse(time.RFC3339Nano, value) // PuppetDB takes its own time then
		case paramChecksum:
			c.Checksum = value
		default:
			c.others = append(c.others, indirector.Option{Name: name, Value: value})
		}
	}
	if c.Name == "" {
		return c, c.open(body)
	}
	var err error
	if c.Version, err = strconv.Atoi(version); err != nil {
		return c, fmt.Errorf("read command %q: its version is %q, which is no number", c.Name, version)
	}
	return c, nil
}

// open reads the older form, which is the body alone.
func (c *Call) open(body []byte) error {
	doc, err := format.DecodeJSON(body, format.Limits{})
	if err != nil {
		return fmt.Errorf("read a command: no parameter names it, and its body is no JSON: %w", err)
	}
	name, ok := doc.Get("command").AsStr()
	if !ok {
		return fmt.Errorf("read a command: neither a parameter nor its body names it")
	}
	c.Name, c.Enclosed = strings.ReplaceAll(name, "_", " "), true
	c.Version = int(doc.Get("version").Int())
	payload := doc.Get("payload")
	if text, ok := payload.AsStr(); ok { // of version 1 of the API: JSON within JSON
		c.Payload = []byte(text)
		payload, err = format.DecodeJSON(c.Payload, format.Limits{})
	} else {
		c.Payload, err = format.AppendJSON(nil, payload)
	}
	if err != nil {
		return fmt.Errorf("read command %q: %w", c.Name, err)
	}
	c.Certname, _ = payload.Get("certname").AsStr()
	return nil
}

// pairs yields the parameters of a query in order. Undecodable ones are left out.
func pairs(query string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			n, err := url.QueryUnescape(name)
			v, invalid := url.QueryUnescape(value)
			if pair != "" && err == nil && invalid == nil && !yield(strings.ToValidUTF8(n, "\uFFFD"), strings.ToValidUTF8(v, "\uFFFD")) {
				return
			}
		}
	}
}

// Request returns the request that the command is, or nil if it is none. An
// error reports a payload that cannot be read.
func (c *Call) Request() (*indirector.Request, error) {
	is, ok := indirections[c.Name]
	switch {
	case !ok:
		return nil, nil
	case c.Certname == "":
		return nil, fmt.Errorf("read command %q: it has no certname", c.Name)
	}
	cmd, err := command.Read(c.Name, c.Version, c.Certname, c.Produced, c.Payload)
	if err != nil {
		return nil, err
	}
	req := &indirector.Request{Indirection: is.indirection, Verb: is.verb, Key: cmd.Certname, Keyed: true, Options: c.options()}
	req.Environment, _ = cmd.Payload.Get("environment").AsStr()
	req.Run, _ = cmd.Payload.Get("transaction_uuid").AsStr()
	if is.verb == indirector.Save {
		req.Instance, err = cmd.Instance()
	}
	return req, err
}

// options are those of the request, by which the command is written again.
func (c *Call) options() []indirector.Option {
	o := []indirector.Option{{Name: paramCommand, Value: c.Name}, {Name: paramVersion, Value: strconv.Itoa(c.Version)}}
	if !c.Produced.IsZero() {
		o = append(o, indirector.Option{Name: paramProduced, Value: stamp(c.Produced)})
	}
	if c.Checksum != "" {
		o = append(o, indirector.Option{Name: paramChecksum, Value: c.Checksum})
	}
	return append(o, c.others...)
}

// stamp writes a producer-timestamp: in UTC, in whole milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Doubt returns what is wrong with the checksum, or "". PuppetDB takes the command
// in any case.
func (c *Call) Doubt() string {
	if c.Checksum == "" || c.Enclosed {
		return ""
	}
	if sum := c.head(c.Certname).Checksum(c.Payload); !strings.EqualFold(sum, c.Checksum) {
		return fmt.Sprintf("the checksum of the command is %s, and %q came with it: PuppetDB takes it all the same", sum, c.Checksum)
	}
	return ""
}

// head returns the command without its payload.
func (c *Call) head(certname string) *command.Command {
	return &command.Command{Name: c.Name, Version: c.Version, Certname: certname, Produced: c.Produced}
}
