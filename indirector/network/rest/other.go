package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// internal is an error of Puppet Server's own layer.
func internal(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Message: msgInternal + err.Error(), as: plainUTF8}
}

// services are those with a status, in the versions of Puppet Server 7.9.5 that
// tools expect.
var services = []string{"puppet-profiler", "jruby-metrics", "ca", "master", "server", "status-service"}

// alerting is the service whose status has the alerts of this server.
const alerting = "server"

func (c *call) statusOf(service, level string) []data.Pair {
	version := "7.9.5"
	if service == "status-service" {
		version = "1.1.1"
	}
	var alerts []data.Value
	if service == alerting && c.h.o.Alerts != nil {
		for _, message := range c.h.o.Alerts() {
			alerts = append(alerts, data.OfHash([]data.Pair{
				data.P("severity", data.OfString("warning")), data.P("message", data.OfString(message)),
			}))
		}
	}
	return []data.Pair{
		data.P("service_version", data.OfString(version)), data.P("service_status_version", data.OfInt(1)),
		data.P("detail_level", data.OfString(level)), data.P("state", data.OfString("running")),
		data.P("status", data.OfHash(nil)), data.P("active_alerts", data.OfList(alerts)),
	}
}

// status answers whether the server runs, without a trace: balancers ask every
// second.
func (c *call) status(rest string) {
	c.bare = true
	if !c.authorized() {
		return
	}
	kind, service, _ := strings.Cut(rest, "/")
	service = strings.TrimSuffix(service, "/")
	known := slices.Contains(services, service)
	switch {
	case kind == "simple" && (service == "" || known):
		c.text(http.StatusOK, "running")
	case kind == "simple":
		c.text(http.StatusNotFound, "not found: "+service)
	case kind != "services":
		c.unrouted()
	case service != "" && !known:
		c.document(http.StatusNotFound, data.OfHash([]data.Pair{
			data.P("kind", data.OfString("service-not-found")), data.P("msg", data.OfString(fmt.Sprintf(msgNoService, service))),
		}))
	default:
		c.statusDocument(service)
	}
}

func (c *call) statusDocument(service string) {
	level, given := parseParameters(nil, c.r.URL.RawQuery).last("level")
	if !given {
		level = "info"
	}
	if !slices.Contains([]string{"critical", "info", "debug"}, level) {
		c.document(http.StatusBadRequest, data.OfHash([]data.Pair{
			data.P("kind", data.OfString("data-invalid")), data.P("msg", data.OfString("Invalid level: :"+level)),
		}))
		return
	}
	if service != "" {
		c.document(http.StatusOK, data.OfHash(append(c.statusOf(service, level), data.P("service_name", data.OfString(service)))))
		return
	}
	all := make([]data.Pair, len(services))
	for i, s := range services {
		all[i] = data.P(s, data.OfHash(c.statusOf(s, level)))
	}
	c.document(http.StatusOK, data.OfHash(all))
}

func (c *call) text(status int, text string) {
	h := c.w.Header()
	h.Set("Content-Type", "text/plain;charset=utf-8")
	if status == http.StatusOK {
		h["Vary"] = vary
	}
	c.finish(status, []byte(text))
}

func (c *call) document(status int, v data.Value) {
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		c.fail(err, traces.Caller)
		return
	}
	h := c.w.Header()
	h["Content-Type"] = jsonType
	if status == http.StatusOK {
		f, _ := format.ByName("json")
		c.send(f, b)
		return
	}
	c.finish(status, b)
}

// environments answers with the environments and their settings.
func (c *call) environments() {
	if !c.authorized() {
		return
	}
	doc, err := environmentsOf(c.h.o.Settings)
	if err != nil {
		c.fail(err, traces.Route)
		return
	}
	c.document(http.StatusOK, doc)
}

// Settings find environments: a *settings.Settings, or a *settings.Current
// where they may change.
type Settings interface {
	Get(name string) (value, source string)
	In(environment string) *settings.Settings
}

// environmentsOf lists the directories below environmentpath, also those with
// broken settings.
func environmentsOf(s Settings) (data.Value, error) {
	if s == nil {
		return data.OfHash([]data.Pair{data.P("search_paths", data.OfList(nil)), data.P("environments", data.OfHash(nil))}), nil
	}
	path, _ := s.Get("environmentpath")
	searched := []data.Value{}
	var names []string
	for _, dir := range filepath.SplitList(path) {
		searched = append(searched, data.OfString("file://"+dir))
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return data.Value{}, err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			if err == nil && info.IsDir() && isWord(e.Name()) && !slices.Contains(names, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	searched = append(searched, data.OfString("data:text/plain,internal"))
	slices.Sort(names)
	known := make([]data.Pair, len(names))
	for i, name := range names {
		known[i] = data.P(name, data.OfHash([]data.Pair{data.P("settings", settingsOf(s.In(name)))}))
	}
	return data.OfHash([]data.Pair{data.P("search_paths", data.OfList(searched)), data.P("environments", data.OfHash(known))}), nil
}

func settingsOf(s *settings.Settings) data.Value {
	get := func(name string) string {
		v, _ := s.Get(name)
		return v
	}
	timeout := data.OfString(get("environment_timeout"))
	switch d, err := s.Duration("environment_timeout"); {
	case err != nil:
	case d == math.MaxInt64:
		timeout = data.OfString("unlimited")
	default:
		timeout = data.OfInt(int64(d / time.Second))
	}
	return data.OfHash([]data.Pair{
		data.P("modulepath", data.OfStrings(filepath.SplitList(get("modulepath")))),
		data.P("manifest", data.OfString(get("manifest"))),
		data.P("environment_timeout", timeout),
		data.P("config_version", data.OfString(get("config_version"))),
	})
}

// A Content is a file of a version of the code. Close must be called.
type Content struct {
	io.ReadCloser
	Size int64 // -1 if unknown
}

// staticFileContent answers with a file as it was in a version of the code, as
// agents with a static catalog request it.
func (c *call) staticFileContent(path string) {
	if !c.authorized() {
		return
	}
	query := parseParameters(nil, c.r.URL.RawQuery)
	environment, _ := query.last("environment")
	id, _ := query.last("code_id")
	refusal := func(status int, message string, args ...any) {
		c.fail(&Error{Status: status, Message: fmt.Sprintf(message, args...), as: plainText}, traces.Route)
	}
	switch {
	case environment == "" || id == "" || path == "":
		refusal(http.StatusBadRequest, msgStatic)
		return
	case !isWord(environment):
		refusal(http.StatusBadRequest, msgBadEnvironment, environment)
		return
	case !isCodeID(id):
		refusal(http.StatusBadRequest, msgCodeID, id)
		return
	case !isStaticPath(path):
		refusal(http.StatusForbidden, msgStaticPath)
		return
	case c.h.o.CodeContent == nil:
		c.fail(internal(&indirector.Failure{Message: msgNoCommand}), traces.Route)
		return
	}
	c.codeContent(environment, id, path)
}

// codeContent runs the command as a request with a trace of its own.
func (c *call) codeContent(environment, id, path string) {
	live, end := c.traced("static_file_content", path, environment, traces.Option{Name: "code_id", Value: id})
	content, err := c.h.o.CodeContent(live, environment, id, path)
	if err != nil {
		e := asError(internal(err))
		end(e)
		c.write(e)
		return
	}
	binary, _ := format.ByName("binary")
	if err := c.stream(live, given{content}, binary); err != nil {
		end(asError(err))
	} else {
		end(nil)
	}
	if c.broken {
		panic(http.ErrAbortHandler)
	}
}

// given are contents that are open.
type given struct{ content Content }

func (g given) Open() (io.ReadCloser, error) {
	if file, ok := g.content.ReadCloser.(*os.File); ok {
		return file, nil // its size is known
	}
	return g.content, nil
}

func (g given) Size() int64 { return g.content.Size }

var _ model.Contents = given{}

// traced begins the trace of a request outside of indirections that belongs to
// an agent run. The returned function ends it.
func (c *call) traced(name, key, environment string, options ...traces.Option) (context.Context, func(*Error)) {
	rec, ctx := c.h.o.Recorder, c.r.Context()
	if rec == nil {
		return ctx, func(*Error) {}
	}
	t := traces.NewTrace()
	t.Start, t.Verb, t.Indirection, t.Key, t.Environment = c.start, traces.Find, name, key, environment
	t.Caller, t.Options, t.Traceparent = "agent "+c.remote.Node, options, traces.TraceparentOf(ctx)
	if c.h.o.Run != nil {
		t.Run, t.RunGuessed = c.h.o.Run(c.r, &indirector.Request{Indirection: name, Verb: indirector.Find, Key: key, Environment: environment})
	}
	for s := range t.Steps {
		t.Steps[s] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.DefaultInCode, About: "no indirection"}}
	}
	live := &traces.Live{Context: ctx, Trace: t, Now: c.h.o.Now, Step: traces.Terminus}
	t.ID = rec.Begin(t)
	c.trace = t.ID
	return live, func(e *Error) {
		live.Close()
		t.Took = max(c.h.o.Now().Sub(t.Start), 1)
		t.Served = traces.ByTerminus
		t.Steps[traces.Terminus] = traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.Returned}, Took: t.Took}
		if e != nil {
			t.Served, t.Error = traces.ByNone, e.Message
			t.Steps[traces.Terminus] = traces.Question{Answer: traces.Raised, Because: traces.Because{Reason: traces.TerminusRaised, About: e.Message}, Took: t.Took}
			t.Faults = append(t.Faults, traces.Fault{Origin: "code-content-command", Step: traces.Terminus, Message: e.Message, Shown: true})
		}
		t.Outcome = traces.Judge(t)
		rec.End(t, nil)
	}
}

func isCodeID(id string) bool {
	for i := range len(id) {
		if !isWord(id[i:i+1]) && strings.IndexByte("-:;", id[i]) < 0 {
			return false
		}
	}
	return true
}

// isStaticPath reports whether a path is a file of a module: any directory, the
// module, one of four directories, the rest.
func isStaticPath(path string) bool {
	_, rest, ok := strings.Cut(path, "/")
	if !ok {
		return false
	}
	module, rest, _ := strings.Cut(rest, "/")
	kind, file, _ := strings.Cut(rest, "/")
	return module != "" && file != "" && slices.Contains([]string{"files", "tasks", "scripts", "lib"}, kind)
}

// Commands are the two programs of Puppet Server's setting versioned-code. They
// run as "ID ENVIRONMENT" and "CONTENT ENVIRONMENT CODE-ID PATH".
type Commands struct {
	ID, Content string        // paths; both or none
	Limit       time.Duration // 0 is a minute
}

// CodeID runs the first command, for Options.CodeID.
func (m Commands) CodeID(ctx context.Context, environment string) (string, error) {
	file, err := m.run(ctx, m.ID, environment)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, 4096))
	id := strings.TrimRight(string(b), "\r\n")
	if err == nil && !isCodeID(id) {
		err = &indirector.Failure{Message: fmt.Sprintf(msgCodeID, id)}
	}
	return id, err
}

// CodeContent runs the second command, for Options.CodeContent. Its output goes
// through an unnamed file, since the status comes first.
func (m Commands) CodeContent(ctx context.Context, environment, codeID, path string) (Content, error) {
	file, err := m.run(ctx, m.Content, environment, codeID, path)
	if err != nil {
		return Content{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return Content{}, errors.Join(err, file.Close())
	}
	return Content{file, info.Size()}, nil
}

func (m Commands) run(ctx context.Context, command string, args ...string) (file *os.File, err error) {
	ctx, span := traces.Start(ctx, traces.Exec, "exec "+command+" "+strings.Join(args, " "))
	defer func() {
		if err != nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.End("exit 0", traces.Because{}, nil)
	}()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.Limit, time.Minute))
	defer cancel()
	file, err = os.CreateTemp("", "indirtui-code-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, os.Remove(file.Name()))
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	stderr := child.Buffer{Max: 4096}
	run := exec.CommandContext(ctx, command, args...)
	run.Stdout, run.Stderr = file, &stderr
	child.Session(run)
	err = child.Run(run, time.Second)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		out := make([]byte, 4096)
		n, _ := file.ReadAt(out, 0)
		return file, &indirector.Failure{Message: fmt.Sprintf(msgExit, command, exit.ExitCode(), out[:n], stderr.Kept), Err: err}
	}
	if err != nil {
		return file, &indirector.Failure{Message: fmt.Sprintf(msgCommand, command, err), Err: err}
	}
	if len(stderr.Kept) > 0 {
		traces.AddNote(ctx, command+" wrote to stderr: "+strconv.Quote(string(stderr.Kept)))
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}
