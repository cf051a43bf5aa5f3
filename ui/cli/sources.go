package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
)

// fileSources finds by requests what files are copied from.
type fileSources struct{ e *engine.Engine }

var _ providers.Sources = fileSources{}

func (s fileSources) ask(ctx context.Context, verb indirector.Verb, ind, source string, q providers.Query) (*indirector.Response, error) {
	links := "manage"
	if q.Follow {
		links = "follow"
	}
	req := &indirector.Request{Indirection: ind, Verb: verb, Key: source, Environment: q.Environment, Caller: "plan", Options: []indirector.Option{
		{Name: "links", Value: links}, {Name: "checksum_type", Value: q.Checksum}, {Name: "source_permissions", Value: q.Permissions},
	}}
	if verb == indirector.Search {
		req.Options = append(req.Options, indirector.Option{Name: "recurse", Value: true}, indirector.Option{Name: "ignore", Value: q.Ignore})
		if q.Limit >= 0 {
			req.Options = append(req.Options, indirector.Option{Name: "recurselimit", Value: int64(q.Limit)})
		}
	}
	resp, err := s.e.Ask(ctx, req)
	if errors.Is(err, indirector.ErrNotFound) {
		return nil, nil
	}
	return resp, err
}

// Find asks for the metadata of one source.
func (s fileSources) Find(ctx context.Context, source string, q providers.Query) (*providers.Source, error) {
	resp, err := s.ask(ctx, indirector.Find, "file_metadata", source, q)
	if resp == nil {
		return nil, err
	}
	found, err := sourceOf(resp.Instance(), source)
	return &found, err
}

// Search asks for the metadata of a source and of all below it.
func (s fileSources) Search(ctx context.Context, source string, q providers.Query) (all []providers.Source, err error) {
	resp, err := s.ask(ctx, indirector.Search, "file_metadata", source, q)
	if resp == nil {
		return nil, err
	}
	list, _ := resp.Value.([]indirector.Instance)
	for _, inst := range list {
		found, err := sourceOf(inst, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// sourceOf is the metadata of a file as providers know it.
func sourceOf(inst indirector.Instance, source string) (providers.Source, error) {
	m, is := inst.(*model.FileMetadata)
	if !is {
		return providers.Source{}, fmt.Errorf("the answer for %q is no metadata of a file", source)
	}
	s := providers.Source{URL: source, Relative: ".", Kind: m.Type, UID: number(m.Owner), GID: number(m.Group), Checksum: m.Checksum, Target: m.Destination}
	if below := m.RelativePath; below != "" && below != "." {
		s.URL, s.Relative = source+"/"+below, below
	}
	if m.Mode.Kind() == data.Int {
		s.Mode = fs.FileMode(m.Mode.Int()) & 0o7777
	}
	return s, nil
}

func number(v data.Value) int {
	if v.Kind() == data.Int {
		return int(v.Int())
	}
	return -1
}

// Open asks for the content of what was found.
func (s fileSources) Open(ctx context.Context, found *providers.Source) (io.ReadCloser, error) {
	resp, err := s.ask(ctx, indirector.Find, "file_content", found.URL, providers.Query{})
	if err != nil {
		return nil, err
	}
	if resp != nil {
		if content, is := resp.Instance().(*model.FileContent); is {
			return content.Contents.Open()
		}
	}
	return nil, fmt.Errorf("find the content of %q: %w", found.URL, fs.ErrNotExist)
}
