package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/traces/fleet"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/command"
)

// shipping are the flags of a program that ships what it records to a fleet.
type shipping struct {
	url, name string
	to        *fleet.Shipper // nil until it began
}

func (x *shipping) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.url, "traces", "", "copy the recording into a PostgreSQL that many programs share: `postgres://USER@HOST/DATABASE`; the password belongs into PGPASSFILE (docs/FLEETS.md)")
	f.StringVar(&x.name, "instance", "", "the `NAME` of this program in the fleet (default this host, and the port unless it is 8140)")
}

// prepare makes the recording of an engine one that is shipped, if that is wanted.
func (x *shipping) prepare(o *engine.Options, listen string) error {
	switch {
	case x.url == "":
		return nil
	case !fleet.IsURL(x.url):
		return &command.UsageError{What: "--traces names no database", Advice: "write postgres://USER@HOST/DATABASE"}
	case o.Recording == "":
		return &command.UsageError{What: "--traces ships the recording, and there is none", Advice: "name one: --record FILE"}
	}
	o.Session = x.session(listen)
	return nil
}

// session is what the recording is shipped as.
func (x *shipping) session(listen string) store.Session {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	name := x.name
	if name == "" {
		name, _ = os.Hostname() // else it is its port
		if _, port, err := net.SplitHostPort(listen); err == nil && port != "8140" && port != "0" {
			name = net.JoinHostPort(name, port)
		}
	}
	return store.Session{ID: hex.EncodeToString(id), Instance: cmp.Or(name, "indirtui"), To: fleet.Place(x.url)}
}

// begin ships the recording of an engine from now on. Report is called when the
// database is not reached any longer, and when it is again.
func (x *shipping) begin(e *engine.Engine, report func(string)) (err error) {
	if x.url == "" {
		return nil
	}
	x.to, err = fleet.Ship(fleet.ShipOptions{
		URL: x.url, Path: e.Store.Path(), Others: true, Report: func(s fleet.State) { report(s.String()) },
		Ended: func() uint64 { st := e.Store.Stats(); return st.Total - st.Running }, Held: func() []fleet.Held { return heldBy(e) },
	})
	return err
}

// heldBy is what an engine holds, redacted.
func heldBy(e *engine.Engine) (all []fleet.Held) {
	if e.Debugger == nil {
		return nil
	}
	const enough = 20
	for _, h := range e.Debugger.Held() {
		if len(all) == enough {
			break
		}
		name, _ := e.Redactor.Text(fmt.Sprintf("%s %s %s", h.Request.Verb, h.Request.Indirection, h.Request.Key))
		all = append(all, fleet.Held{Number: h.ID, Name: name, Since: h.Since})
	}
	return all
}

// shipLast is how long the end of a program waits for what is not shipped yet.
const shipLast = 5 * time.Second

// end ships what is left, and returns what is left then.
func (x *shipping) end() (left string) {
	if x.to == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), shipLast)
	defer cancel()
	if s := x.to.Close(ctx); s.Behind > 0 || s.Err != nil {
		return s.String() + "; what is left is shipped by the next run here"
	}
	return ""
}

// state is how far the shipping is, for the screen; nil if nothing is shipped.
func (x *shipping) state() func() (string, bool) {
	if x.to == nil {
		return nil
	}
	return func() (string, bool) {
		s := x.to.State()
		return s.String(), s.Err == nil
	}
}

// ship begins to ship the recording of a session, if that is wanted. What is left is
// shipped when the engine has ended. Quiet is for where the screen shows the state.
func (p *program) ship(x *shipping, s *workspace, as string, quiet bool) error {
	err := x.begin(s.engine, func(text string) {
		if !quiet {
			p.report(text)
		}
	})
	if err != nil || x.to == nil {
		return err
	}
	s.hello += ", shipped to " + fleet.Place(x.url) + " as " + as
	s.shipped = x.state()
	after := s.after
	s.after = func() error {
		if left := x.end(); left != "" {
			p.report(left)
		}
		if after == nil {
			return nil
		}
		return after()
	}
	return nil
}

// openFleet is a session over what all instances of a fleet have shipped.
func openFleet(ctx context.Context, url string) (*workspace, error) {
	f, err := fleet.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	return &workspace{log: f.Store, fleet: f, hello: f.Summary(), guard: new(ui.Guard), kept: new(kept), before: f.Close}, nil
}

// A fleetLog is the log of a fleet, which is asked for what a filter means.
type fleetLog struct {
	*store.Store
	of *fleet.Fleet
}

func (l fleetLog) Want(e *query.Expr) { l.of.Want(e) }
func (l fleetLog) About() string      { return l.of.About() }

// loadFleet opens a fleet for a command that reads its recording to the end: what
// the selector means is loaded.
func loadFleet(std Streams, url string, words []string) (*fleet.Fleet, error) {
	e, err := query.Parse(strings.Join(words, " "))
	if err != nil {
		return nil, &command.UsageError{What: err.Error()}
	}
	ctx := context.Background()
	f, err := fleet.Open(ctx, url)
	if err != nil {
		return nil, lostError{err}
	}
	if err := f.Load(ctx, e); err != nil {
		return nil, errors.Join(lostError{err}, f.Close())
	}
	if about := f.About(); about != "" {
		std.report(about)
	}
	return f, nil
}
