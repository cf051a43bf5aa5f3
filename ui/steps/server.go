package steps

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// Server returns the address that a watch asks about, and whether it is of that
// kind at all: "server(puppet:8140)". The error is that the address is none.
func Server(watch string) (address string, is bool, err error) {
	address, is = strings.CutPrefix(watch, "server(")
	if !is {
		return "", false, nil
	}
	address, closed := strings.CutSuffix(address, ")")
	host, port, err := net.SplitHostPort(address)
	n, bad := strconv.ParseUint(port, 10, 16)
	if !closed || err != nil || bad != nil || host == "" || n == 0 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", true, fmt.Errorf("%q names no server; write server(puppet:8140)", watch)
	}
	return address, true, nil
}

// A server is what is known of one that is watched.
type server struct {
	text   string
	at     time.Time // when it was asked last
	asking bool
}

// often is how often a server that is watched is asked, and patient how long it
// is waited for.
const (
	often   = 10 * time.Second
	patient = 3 * time.Second
)

// probed is what became of asking a server.
type probed struct{ address, text string }

// probe asks the servers that the user watches how they are while a request is
// held, beside all else.
func (s *Steps) probe() tea.Cmd {
	if s.hold.stay == nil || s.env.Probe == nil {
		return nil
	}
	var cmds []tea.Cmd
	now := s.env.Now()
	for _, watch := range s.env.Watches {
		address, is, err := Server(watch)
		if !is || err != nil {
			continue
		}
		known := s.servers[address]
		if known == nil {
			known = new(server)
			if s.servers == nil {
				s.servers = make(map[string]*server)
			}
			s.servers[address] = known
		}
		if known.asking || !known.at.IsZero() && now.Sub(known.at) < often {
			continue
		}
		known.asking, known.at = true, now
		probe := s.env.Probe
		cmds = append(cmds, screen.Later(func() tea.Msg {
			ctx, cancel := context.WithTimeout(context.Background(), patient)
			defer cancel()
			return screen.For{Screen: s, Msg: probed{address, probe(ctx, address)}}
		}))
	}
	return tea.Batch(cmds...)
}
