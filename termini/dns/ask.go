package dns

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/traces"
)

// An answer is what a server has about a name.
type answer struct {
	question string
	texts    [][]byte // of each record, joined
	ttl      uint32   // the smallest, in seconds
	absent   string   // why there are no records; "" if there are
}

// udpSize is the largest answer by UDP, in bytes, which fits into any network's
// packets. Rule DNS-08.
const udpSize = 1232

// A problem is why no server gave an answer that can be used.
type problem struct {
	text   string // "SERVFAIL", "timeout after 5s"
	detail string // with servers: "SERVFAIL from 10.0.0.2"; "" is the same as text
	err    error  // may be nil
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// failed is an outage, never a node that is not there. Rule DNS-07.
func failed(ctx context.Context, node string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	detail := err.Error()
	if p := (*problem)(nil); errors.As(err, &p) && p.detail != "" {
		detail = p.detail
	}
	traces.ExplainFailure(ctx, err.Error()+": an outage, not an unknown node")
	return &indirector.Failure{Message: fmt.Sprintf("Could not look up node %s in DNS: %s", node, detail), Origin: "network", Err: err}
}

// ask asks the servers in turn, each once, until one answers. Rule DNS-08.
func (c *config) ask(ctx context.Context, name string) (*answer, error) {
	servers, err := c.asked()
	if err != nil {
		return nil, &problem{text: "no server: " + err.Error(), err: err}
	}
	var texts, details []string
	var errs []error
	for _, server := range servers {
		a, err := c.query(ctx, dns.Fqdn(name), server)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !slices.Contains(texts, err.Error()) {
			texts = append(texts, err.Error())
		}
		details, errs = append(details, err.Error()+" from "+shown(server)), append(errs, err)
	}
	return nil, &problem{text: strings.Join(texts, ", then "), detail: strings.Join(details, ", then "), err: errors.Join(errs...)}
}

// shown is the address of a server without the usual port.
func shown(server string) string {
	if host, port, err := net.SplitHostPort(server); err == nil && port == "53" {
		return host
	}
	return server
}

// query asks one server, by UDP and, if the answer does not fit, by TCP. Each opens a
// span.
func (c *config) query(ctx context.Context, name, server string) (*answer, error) {
	m, err := c.exchange(ctx, name, server, "udp")
	if m != nil && m.Truncated {
		m, err = c.exchange(ctx, name, server, "tcp")
	}
	if err != nil {
		return nil, err
	}
	return c.read(m, name, server)
}

func (c *config) exchange(ctx context.Context, name, server, network string) (m *dns.Msg, err error) {
	_, span := traces.Start(ctx, traces.Network, fmt.Sprintf("TXT %s at %s by %s", name, shown(server), network))
	defer func() {
		if m == nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.Attr("rcode", dns.RcodeToString[m.Rcode])
		span.Attr("flags", flags(m))
		for _, rr := range m.Answer[:min(len(m.Answer), maxAliases)] {
			if c, ok := rr.(*dns.CNAME); ok {
				span.Attr("alias", c.Hdr.Name+" is "+c.Target)
			}
		}
		span.End(fmt.Sprintf("%s, %d records", dns.RcodeToString[m.Rcode], len(m.Answer)), traces.Because{}, err)
	}()
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	question := new(dns.Msg).SetQuestion(name, dns.TypeTXT)
	question.AuthenticatedData = true
	question.SetEdns0(udpSize, false)
	client := &dns.Client{Net: network, Timeout: c.limit}
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, c.words(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	m, _, err = client.ExchangeWithConnContext(ctx, question, conn)
	switch {
	case m != nil && m.Truncated && network == "udp":
		return m, nil
	case err != nil:
		return nil, c.words(ctx, err)
	case !m.Response || len(m.Question) != 1 || m.Question[0].Qtype != dns.TypeTXT || !strings.EqualFold(m.Question[0].Name, name):
		return nil, &problem{text: "malformed answer: it is to another question"}
	case m.Truncated:
		return nil, &problem{text: "malformed answer: it is truncated"}
	}
	return m, nil
}

func flags(m *dns.Msg) string {
	var set []string
	for _, f := range []struct {
		name string
		on   bool
	}{{"aa", m.Authoritative}, {"tc", m.Truncated}, {"ra", m.RecursionAvailable}, {"ad", m.AuthenticatedData}} {
		if f.on {
			set = append(set, f.name)
		}
	}
	return strings.Join(set, " ")
}

// words finds words for an exchange that failed.
func (c *config) words(ctx context.Context, err error) error {
	var network net.Error
	var malformed *dns.Error
	text := err.Error()
	switch {
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		text = fmt.Sprintf("timeout after %s (%s)", c.limit, settingTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "connection refused"
	case errors.As(err, &malformed):
		text = "malformed answer: " + malformed.Error()
	}
	return &problem{text: text, err: err}
}

// read takes in an answer. Rules DNS-06, DNS-07, DNS-08.
func (c *config) read(m *dns.Msg, name, server string) (*answer, error) {
	if m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError {
		return nil, &problem{text: rcode(m.Rcode)}
	}
	if c.signed && !m.AuthenticatedData {
		return nil, &problem{text: "answer without AD (" + settingAD + ")"}
	}
	a := &answer{question: name, ttl: math.MaxInt32}
	owner, err := a.follow(m, name)
	if err != nil {
		return nil, err
	}
	for _, rr := range m.Answer {
		if txt, ok := rr.(*dns.TXT); ok && strings.EqualFold(txt.Hdr.Name, owner) && txt.Hdr.Class == dns.ClassINET {
			a.ttl = min(a.ttl, lifetime(txt.Hdr.Ttl))
			a.texts = append(a.texts, joined(txt.Txt))
		}
	}
	if len(a.texts) > 0 && m.Rcode == dns.RcodeSuccess {
		return a, nil
	}
	a.absent, err = absent(m, owner, server)
	return a, err
}

// lifetime is a time to live in seconds; beyond 31 bits it is none, as RFC 2181 has it.
func lifetime(ttl uint32) uint32 {
	if ttl > math.MaxInt32 {
		return 0
	}
	return ttl
}

func rcode(code int) string {
	if s := dns.RcodeToString[code]; s != "" {
		return s
	}
	return "rcode " + strconv.Itoa(code)
}

// maxAliases bounds a chain of CNAMEs.
const maxAliases = 32

// follow returns the name at the end of the chain of CNAMEs.
func (a *answer) follow(m *dns.Msg, name string) (string, error) {
	to := make(map[string]*dns.CNAME)
	for _, rr := range m.Answer {
		if c, ok := rr.(*dns.CNAME); ok {
			to[strings.ToLower(c.Hdr.Name)] = c
		}
	}
	for n := 0; ; n++ {
		c := to[strings.ToLower(name)]
		if c == nil {
			return name, nil
		}
		if n == maxAliases {
			return "", &problem{text: fmt.Sprintf("CNAME loop, or more than %d aliases, at %s", maxAliases, name)}
		}
		a.ttl = min(a.ttl, lifetime(c.Hdr.Ttl))
		name = c.Target
	}
}

// absent returns in words that a name has no records, and which of the two reasons
// there are. An answer that only refers elsewhere is an error.
func absent(m *dns.Msg, owner, server string) (string, error) {
	what := "NXDOMAIN from " + shown(server)
	if m.Rcode == dns.RcodeSuccess {
		what = fmt.Sprintf("NODATA from %s: %s has no TXT records", shown(server), owner)
	}
	referral := false
	for _, rr := range m.Ns {
		switch rr := rr.(type) {
		case *dns.SOA:
			return fmt.Sprintf("%s, asked again after %d s (zone %s)", what, lifetime(min(rr.Hdr.Ttl, rr.Minttl)), rr.Hdr.Name), nil
		case *dns.NS:
			referral = true
		}
	}
	if m.Rcode == dns.RcodeSuccess && (referral || len(m.Answer) > 0 && !m.RecursionAvailable) {
		return "", &problem{text: "a referral (the server does not follow " + owner + ")"}
	}
	return what, nil
}

// joined returns the strings of a record as one text. The library has them with
// escapes. Rule DNS-02.
func joined(parts []string) []byte {
	var all []byte
	for _, s := range parts {
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] != '\\' || i+1 == len(s):
				all = append(all, s[i])
			case i+3 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) && isDigit(s[i+3]):
				all = append(all, (s[i+1]-'0')*100+(s[i+2]-'0')*10+(s[i+3]-'0'))
				i += 3
			default:
				i++
				all = append(all, s[i])
			}
		}
	}
	return all
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
