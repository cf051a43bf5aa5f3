//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"indirtui/traces/fleet/fleettest"
)

// TestFleetOfServers: the run of a real agent, whose connections are spread over three
// servers that ship into one PostgreSQL, is one story. Rules FLEET-04, FLEET-02.
func TestFleetOfServers(t *testing.T) {
	t.Parallel()
	if os.Getenv("INDIRTUI_FLEET") == "" {
		t.Skip("a run without kept connections takes a minute: INDIRTUI_FLEET is not set")
	}
	needAgent(t)
	database, err := fleettest.Start()
	if err != nil {
		t.Skip(err)
	}
	defer database.Stop()
	url := database.Database(t)
	s := newSite(t)
	names := []string{"one", "three", "two"}
	var servers []*listener
	var addresses []string
	for _, name := range names {
		l := s.run("serve", "--confdir", s.path("srv"), "--traces", url, "--instance", name)
		servers, addresses = append(servers, l), append(addresses, l.address)
	}
	port := balance(t, addresses)
	const node = "web01.example.com"
	s.write("srv/var/server_data/catalog/"+node+".json", s.catalog(node, port, "production"))
	if out, code := s.agent(node, port, "--http_keepalive_timeout", "0"); code != 2 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	requests := 0
	for i, l := range servers {
		l.end() // ships what is left
		printed := len(regexp.MustCompile(`(?m)^\S+ #\d+ .* agent `+regexp.QuoteMeta(node)+`( |$)`).FindAllString(l.output(), -1))
		if printed == 0 {
			t.Errorf("%s was asked nothing:\n%s", names[i], l.output())
		}
		requests += printed
	}
	shown := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), s.program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	story := shown("story", "--recording", url, "caller='agent "+node+"'")
	runs := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(node)+` run .*$`).FindAllString(story, -1)
	if len(runs) != 1 {
		t.Fatalf("got the runs %q, want one\n%.3000s", runs, story)
	}
	through := strings.Split(regexp.MustCompile(`; through (\w+, \w+, \w+)|$`).FindStringSubmatch(runs[0])[1], ", ")
	slices.Sort(through)
	for _, want := range []string{fmt.Sprintf(" %d requests in ", requests), "report saved: status changed"} {
		if !strings.Contains(runs[0], want) || !slices.Equal(through, names) {
			t.Errorf("got %q, want %q in it, and through %v", runs[0], want, names)
		}
	}
	if list := shown("traces", "list", url); strings.Count(list, "ended, all shipped") != len(names) {
		t.Errorf("traces list:\n%s", list)
	}
}

// balance returns the port of a balancer that gives each connection to the next address.
func balance(t *testing.T, addresses []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var next atomic.Int64
	var all sync.WaitGroup
	pass := func(from net.Conn) {
		defer from.Close()
		to, err := new(net.Dialer).DialContext(ctx, "tcp", addresses[int(next.Add(1))%len(addresses)])
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		defer context.AfterFunc(ctx, func() { from.Close(); to.Close() })()
		var back sync.WaitGroup
		back.Go(func() {
			_, _ = io.Copy(from, to)
			from.Close()
		})
		_, _ = io.Copy(to, from)
		to.Close()
		back.Wait()
	}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { pass(c) })
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		all.Wait()
	})
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	return port
}
