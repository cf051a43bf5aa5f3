package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
)

// A sources asks for files that are copied from elsewhere: each question is a request of
// its own, below that of the resource.
type sources struct {
	engine                   *engine.Engine
	environment, caller, run string
}

var _ providers.Sources = sources{}

// Sources finds what files are copied from by requests of a caller and a run, which is ""
// for a plan.
func Sources(e *engine.Engine, caller, run string) providers.Sources {
	environment, _ := e.Settings.Get("environment")
	return sources{e, environment, caller, run}
}

// ask returns nil if nothing is found.
func (s sources) ask(ctx context.Context, req *indirector.Request) (*indirector.Response, error) {
	req.Caller, req.Run = s.caller, s.run
	resp, err := s.engine.Once(ctx, req)
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, &indirector.Failure{Message: indirector.Message(err), Err: err}
	}
	return resp, nil
}

func (q query) request(verb indirector.Verb, source string, more ...indirector.Option) *indirector.Request {
	links := "manage"
	if q.Follow {
		links = "follow"
	}
	return &indirector.Request{
		Indirection: "file_metadata", Verb: verb, Key: source, Environment: q.Environment,
		Options: append([]indirector.Option{
			{Name: "links", Value: links},
			{Name: "checksum_type", Value: q.Checksum},
			{Name: "source_permissions", Value: q.Permissions},
		}, more...),
	}
}

type query struct{ providers.Query }

func (s sources) Find(ctx context.Context, source string, q providers.Query) (*providers.Source, error) {
	resp, err := s.ask(ctx, query{q}.request(indirector.Find, source))
	if resp == nil {
		return nil, err
	}
	m, ok := resp.Instance().(*model.FileMetadata)
	if !ok {
		return nil, fmt.Errorf("find the metadata of %q: the answer is none", source)
	}
	return sourceOf(m, source), nil
}

func (s sources) Search(ctx context.Context, source string, q providers.Query) ([]providers.Source, error) {
	more := []indirector.Option{{Name: "recurse", Value: true}}
	if q.Limit >= 0 {
		more = append(more, indirector.Option{Name: "recurselimit", Value: int64(q.Limit)})
	}
	if len(q.Ignore) > 0 {
		more = append(more, indirector.Option{Name: "ignore", Value: q.Ignore})
	}
	if q.MaxFiles != "" {
		more = append(more, indirector.Option{Name: "max_files", Value: q.MaxFiles})
	}
	resp, err := s.ask(ctx, query{q}.request(indirector.Search, source, more...))
	if resp == nil {
		return nil, err
	}
	found, _ := resp.Value.([]indirector.Instance)
	var all []providers.Source
	for _, inst := range found {
		m, ok := inst.(*model.FileMetadata)
		if !ok {
			return nil, fmt.Errorf("search the metadata of %q: %T is none", source, inst)
		}
		one := sourceOf(m, source)
		if one.Relative = m.RelativePath; one.Relative != "." {
			one.URL += "/" + one.Relative
		}
		all = append(all, *one)
	}
	return all, nil
}

// Open opens the content.
func (s sources) Open(ctx context.Context, src *providers.Source) (io.ReadCloser, error) {
	resp, err := s.ask(ctx, &indirector.Request{
		Indirection: "file_content", Verb: indirector.Find, Key: src.URL, Environment: s.environment,
	})
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, &indirector.Failure{Message: fmt.Sprintf("Could not find any content at %s", src.URL)}
	}
	content, ok := resp.Instance().(*model.FileContent)
	if !ok || content.Contents == nil {
		return nil, fmt.Errorf("find the content of %q: the answer is none", src.URL)
	}
	return content.Contents.Open()
}

func sourceOf(m *model.FileMetadata, url string) *providers.Source {
	return &providers.Source{
		URL: strings.TrimSuffix(url, "/"), Relative: ".", Kind: m.Type, UID: idOf(m.Owner), GID: idOf(m.Group),
		Mode: fs.FileMode(m.Mode.Int()) & fs.ModePerm, Checksum: m.Checksum, Target: m.Destination,
	}
}

// idOf is the number of an owner; -1 if it is a name, which may be unknown here.
func idOf(v data.Value) int {
	if v.Kind() != data.Int {
		return -1
	}
	return int(v.Int())
}
