package demo

import (
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	ber "github.com/go-asn1-ber/asn1-ber"
	ldap "github.com/go-ldap/ldap/v3"
)

// entries are what the directory of the site has. A machine was moved, and its old
// entry was left.
var entries = []struct {
	dn         string
	attributes []attribute
}{
	{"cn=base,ou=roles,dc=example,dc=com", []attribute{
		{"objectClass", []string{"device", "puppetClient"}},
		{"cn", []string{"base"}},
		{"puppetClass", []string{"profile::base"}},
		{"puppetVar", []string{"datacentre=ams1", "ntp=192.0.2.1"}},
	}},
	{"cn=b02,ou=ams1,dc=example,dc=com", []attribute{
		{"objectClass", []string{"device", "puppetClient"}},
		{"cn", []string{"b02"}},
		{"puppetClass", []string{"profile::proxy"}},
		{"puppetVar", []string{"role=proxy"}},
		{"parentNode", []string{"base"}},
	}},
	{"cn=b02,ou=fra2,dc=example,dc=com", []attribute{
		{"objectClass", []string{"device", "puppetClient"}},
		{"cn", []string{"b02"}},
		{"puppetClass", []string{"profile::web"}},
		{"puppetVar", []string{"role=web", "datacentre=fra2"}},
		{"parentNode", []string{"base"}},
	}},
}

type attribute struct {
	name   string
	values []string
}

// A directory answers binds, which it takes, and searches, as LDAP servers do.
type directory struct {
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex // guards conns
	conns  map[net.Conn]bool
	closed bool
}

// newDirectory starts one on loopback, which Close ends.
func newDirectory() (*directory, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &directory{listener: listener, conns: make(map[net.Conn]bool)}
	d.work.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // it is closed
			}
			d.mu.Lock()
			if d.closed {
				_ = c.Close()
			} else {
				d.conns[c] = true
				d.work.Go(func() { d.talk(c) })
			}
			d.mu.Unlock()
		}
	})
	return d, nil
}

func (d *directory) port() string {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	return port
}

// Close ends all connections.
func (d *directory) Close() error {
	err := d.listener.Close()
	d.mu.Lock()
	d.closed = true
	for c := range d.conns {
		_ = c.Close() // a connection has no end of its own
	}
	d.mu.Unlock()
	d.work.Wait()
	return err
}

// talk answers what comes on one connection, until it ends.
func (d *directory) talk(c net.Conn) {
	defer func() {
		_ = c.Close()
		d.mu.Lock()
		delete(d.conns, c)
		d.mu.Unlock()
	}()
	const most = 1 << 20
	from := io.LimitReader(c, most)
	for {
		m, err := ber.ReadPacket(from)
		if err != nil || len(m.Children) < 2 {
			return
		}
		id, _ := m.Children[0].Value.(int64)
		var answers []*ber.Packet
		switch op := m.Children[1]; op.Tag {
		case ldap.ApplicationBindRequest:
			answers = append(answers, result(ldap.ApplicationBindResponse))
		case ldap.ApplicationSearchRequest:
			answers = append(search(op), result(ldap.ApplicationSearchResultDone))
		default:
			return
		}
		for _, a := range answers {
			envelope := ber.NewSequence("")
			envelope.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
			envelope.AppendChild(a)
			if _, err := c.Write(envelope.Bytes()); err != nil {
				return
			}
		}
	}
}

// result is the end of an answer: all went well.
func result(tag ber.Tag) *ber.Packet {
	p := ber.Encode(ber.ClassApplication, ber.TypeConstructed, tag, nil, "")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, int64(ldap.LDAPResultSuccess), ""))
	p.AppendChild(text("")) // the DN that was found instead
	p.AppendChild(text("")) // what the server adds
	return p
}

func text(s string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
}

// search returns the entries that a search finds.
func search(op *ber.Packet) (found []*ber.Packet) {
	const filter, attributes = 6, 7 // RFC 4511, 4.5.1
	if len(op.Children) <= attributes {
		return nil
	}
	base, wanted := ber.DecodeString(op.Children[0].Data.Bytes()), op.Children[attributes].Children
	for _, e := range entries {
		if !strings.HasSuffix(e.dn, base) || !matches(op.Children[filter], e.attributes) {
			continue
		}
		p := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchResultEntry, nil, "")
		p.AppendChild(text(e.dn))
		list := ber.NewSequence("")
		for _, a := range e.attributes {
			asked := func(w *ber.Packet) bool { return strings.EqualFold(ber.DecodeString(w.Data.Bytes()), a.name) }
			if len(wanted) > 0 && !slices.ContainsFunc(wanted, asked) {
				continue
			}
			one, values := ber.NewSequence(""), ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "")
			for _, v := range a.values {
				values.AppendChild(text(v))
			}
			one.AppendChild(text(a.name))
			one.AppendChild(values)
			list.AppendChild(one)
		}
		p.AppendChild(list)
		found = append(found, p)
	}
	return found
}

// matches reports whether an entry has what a filter of equalities asks for.
func matches(filter *ber.Packet, all []attribute) bool {
	switch {
	case filter.Tag == ldap.FilterAnd:
		return !slices.ContainsFunc(filter.Children, func(f *ber.Packet) bool { return !matches(f, all) })
	case filter.Tag != ldap.FilterEqualityMatch || len(filter.Children) != 2:
		return false
	}
	name, value := ber.DecodeString(filter.Children[0].Data.Bytes()), ber.DecodeString(filter.Children[1].Data.Bytes())
	return slices.ContainsFunc(all, func(a attribute) bool {
		return strings.EqualFold(a.name, name) && slices.ContainsFunc(a.values, func(v string) bool { return strings.EqualFold(v, value) })
	})
}
