package command

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// Body returns the bytes that PuppetDB gets, and the warning that Puppet logs if they
// are not what was given: in a body with one text that is not UTF-8, every byte beyond
// ASCII becomes U+FFFD, also those of other texts. Rule PDB-HTTP-02.
func (c *Command) Body() (body []byte, warning string) {
	v := c.sent
	if v.IsNil() {
		v = c.Payload
	}
	body = encode(v)
	if utf8.Valid(body) {
		return body, ""
	}
	return ascii(body), fmt.Sprintf(badBytes, c.Name, c.Certname)
}

const badBytes = "Error encoding a '%s' command for host '%s' ignoring invalid UTF-8 byte sequences in data to be sent to PuppetDB, see debug logging for more info"

// encode writes a payload. PSON takes every value, so there is no error. Room for the
// resources at first saves half of the time.
func encode(v data.Value) []byte {
	text, _ := format.AppendPSON(make([]byte, 0, 1024*(1+v.Get("resources").Len())), v)
	return text
}

// ascii returns text in which every byte beyond ASCII is U+FFFD.
func ascii(text []byte) []byte {
	out := make([]byte, 0, 2*len(text))
	for _, b := range text {
		if b < utf8.RuneSelf {
			out = append(out, b)
			continue
		}
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

// Checksum returns what PuppetDB calls the checksum of the command with that body.
func (c *Command) Checksum(body []byte) string {
	h := sha1.New()
	certname, _ := format.AppendPSON(nil, data.OfString(c.Certname))
	if !utf8.Valid(certname) {
		certname = ascii(certname)
	}
	fmt.Fprintf(h, `{"command":"%s","version":%d,"certname":%s,"payload":`, c.Name, c.Version, certname)
	h.Write(body)
	h.Write([]byte{'}'})
	return hex.EncodeToString(h.Sum(nil))
}

// Query returns the parameters of the URL for that body, in Puppet's order. Puppet does not
// escape the certname, which may thus add parameters; it is escaped here. Rule
// PDB-HTTP-02.
func (c *Command) Query(body []byte) string {
	return "checksum=" + c.Checksum(body) + "&version=" + strconv.Itoa(c.Version) +
		"&certname=" + strings.ReplaceAll(url.QueryEscape(c.Certname), "+", "%20") +
		"&command=" + strings.ReplaceAll(c.Name, " ", "_") +
		"&producer-timestamp=" + c.Produced.UTC().Format("2006-01-02T15:04:05.000Z")
}

// kept are the keys that [Command.Hash] digests; those of reports are all but when and
// by whom they were sent.
var kept = map[string][]string{
	ReplaceCatalog:       {"resources", "edges"},
	ReplaceCatalogInputs: {"inputs"},
	ReplaceFacts:         {"values", "package_inventory"},
}

// Hash returns a digest of what the command replaces: the resources and edges of a
// catalog, the values and packages of facts, all of a report. It is the same for commands that differ
// only in when, by whom and in which transaction they were made.
func (c *Command) Hash() [sha1.Size]byte {
	of := c.Payload.Without("producer_timestamp", "producer")
	if keys, ok := kept[c.Name]; ok {
		h := make([]data.Pair, len(keys))
		for i, k := range keys {
			h[i] = data.P(k, of.Get(k))
		}
		of = data.OfHash(h)
	}
	return sha1.Sum(encode(of))
}
