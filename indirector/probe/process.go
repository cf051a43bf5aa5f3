package probe

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
)

// A Process is what is known of a process with a probe: one connection, which is
// one process, one fork of it, or one instance of JRuby in a server.
type Process struct {
	Attach
	Name     string    // in the list of requests: "agent-4711"; each connection has its own
	Since    time.Time // when it was attached
	Gone     bool      // its connection has ended
	Why      string    // the connection ended because of this; "" if it left
	Requests uint64    // that have ended
	Running  int       // requests that have not
	Held     int       // of these
	Dropped  uint64    // lines that the probe had no room for
	Faults   int       // of the probe itself, known when it has left
	Fault    string    // the last of these
}

// Title is what users call the process: "puppet agent (pid 4711)".
func (p *Process) Title() string {
	text := fmt.Sprintf("%s (pid %d", p.program(), p.PID)
	if p.Instances > 1 {
		text += fmt.Sprintf(", %d instances", p.Instances)
	}
	return text + ")"
}

// program is "puppet agent", "puppetserver", or what was run.
func (p *Process) program() string {
	switch {
	case p.Server():
		return "puppetserver"
	case p.App != "":
		return "puppet " + p.App
	}
	first, _, _ := strings.Cut(p.Argv, " ")
	if name := path.Base(first); name != "." && name != "/" {
		return name
	}
	return "a process"
}

// Pool is what is known of the instances of a server; "" of what is none.
func (p *Process) Pool() string {
	if !p.Server() {
		return ""
	}
	count, borrow := "number of instances not known", "borrow-timeout not known"
	switch {
	case p.Instances == 1:
		count = "1 instance"
	case p.Instances > 1:
		count = fmt.Sprintf("%d instances", p.Instances)
	}
	if p.Borrow > 0 {
		borrow = "borrow-timeout " + time.Duration(p.Borrow).String()
	}
	return count + ", " + borrow
}

// Server reports whether it is a server, whose run mode has two names.
func (p *Process) Server() bool {
	return p.App == "server" || p.App == "master" || p.App == "puppetserver"
}

// current reports whether it runs a Puppet that sentences about Puppet 7 and 8 are true
// of: one that is not known, or another, may do otherwise.
func (p *Process) current() bool {
	return strings.HasPrefix(p.Puppet, "7.") || strings.HasPrefix(p.Puppet, "8.")
}

// oneRun reports whether all that the process asks belongs to one run of an
// agent: those that run more than once fork for each.
func (p *Process) oneRun() bool { return slices.Contains([]string{"agent", "apply", "device"}, p.App) }

// name is what its requests are listed by. Nth counts the connections of the same
// process, from 1.
func (p *Process) name(nth int) string {
	short := strings.TrimPrefix(p.program(), "puppet ")
	short = strings.Map(func(r rune) rune {
		if r == ' ' || !traces.Shows(r) {
			return '_'
		}
		return r
	}, short)
	if runes := []rune(short); len(runes) > 24 {
		short = string(runes[:24])
	}
	text := fmt.Sprintf("%s-%d", short, p.PID)
	if nth > 1 {
		text += fmt.Sprintf("-%d", nth)
	}
	return text
}

// Titles are the processes that are there, each once, as "puppet agent (pid 4711),
// puppetserver (pid 815, 2 instances)". Connections of one pid are its
// instances.
func Titles(all []Process) string {
	var order []*Process
	count := map[int]int{}
	for i := range all {
		p := &all[i]
		if p.Gone {
			continue
		}
		if count[p.PID]++; count[p.PID] == 1 {
			order = append(order, p)
		}
	}
	var texts []string
	for _, p := range order {
		one := *p
		one.Instances = max(one.Instances, count[p.PID])
		texts = append(texts, one.Title())
	}
	return strings.Join(texts, ", ")
}
