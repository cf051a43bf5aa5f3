package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// Requests are Sources that ask the indirections file_metadata and file_content, so that
// the trace shows each question. Rules RES-FILE-11 and RES-FILE-12.
type Requests struct {
	Do func(context.Context, *indirector.Request) (indirector.Response, error)
}

var (
	_ Sources = (*Requests)(nil)
	_ Buckets = (*Requests)(nil)
)

func (r *Requests) ask(ctx context.Context, verb indirector.Verb, source string, q Query, more ...indirector.Option) (indirector.Response, error) {
	links := "manage"
	if q.Follow {
		links = "follow"
	}
	options := append(more, indirector.Option{Name: "links", Value: links}, indirector.Option{Name: "checksum_type", Value: q.Checksum},
		indirector.Option{Name: "source_permissions", Value: q.Permissions})
	if q.Environment != "" {
		options = append(options, indirector.Option{Name: "environment", Value: q.Environment})
	}
	resp, err := r.Do(ctx, indirector.NewRequest("file_metadata", verb, source, nil, options))
	if errors.Is(err, indirector.ErrNotFound) {
		return indirector.Response{}, nil
	}
	return resp, err
}

// Find asks for the metadata of a file.
func (r *Requests) Find(ctx context.Context, source string, q Query) (*Source, error) {
	resp, err := r.ask(ctx, indirector.Find, source, q)
	if resp.Value == nil {
		return nil, err
	}
	m, ok := resp.Instance().(*model.FileMetadata)
	if !ok {
		return nil, fmt.Errorf("the answer about %q is a %T", source, resp.Instance())
	}
	found := SourceOf(m, source)
	return &found, nil
}

// Search asks for the metadata of a directory and all that is in it.
func (r *Requests) Search(ctx context.Context, source string, q Query) ([]Source, error) {
	more := []indirector.Option{{Name: "recurse", Value: true}, {Name: "max_files", Value: q.MaxFiles}}
	if q.Limit >= 0 {
		more = append(more, indirector.Option{Name: "recurselimit", Value: q.Limit})
	}
	if len(q.Ignore) > 0 {
		more = append(more, indirector.Option{Name: "ignore", Value: q.Ignore})
	}
	resp, err := r.ask(ctx, indirector.Search, source, q, more...)
	if resp.Value == nil {
		return nil, err
	}
	list, _ := resp.Value.([]indirector.Instance)
	var all []Source
	for _, inst := range list {
		if m, ok := inst.(*model.FileMetadata); ok {
			all = append(all, SourceOf(m, source))
		}
	}
	return all, nil
}

// SourceOf is what metadata has of a source.
func SourceOf(m *model.FileMetadata, source string) Source {
	s := Source{
		URL: source, Relative: ".", Kind: m.Type, UID: -1, GID: -1, Mode: fs.FileMode(m.Mode.Int()), Checksum: m.Checksum, Target: m.Destination,
		ContentURI: m.ContentURI,
	}
	if m.RelativePath != "" && m.RelativePath != "." {
		s.URL, s.Relative = source+"/"+m.RelativePath, m.RelativePath
	}
	if m.Owner.Kind() == data.Int && m.Group.Kind() == data.Int {
		s.UID, s.GID = int(m.Owner.Int()), int(m.Group.Int())
	}
	if m.Type != "file" {
		s.Checksum = "" // Puppet's of a directory is its time
	}
	return s
}

// Open asks for the content of a file: for that of a version of the code, if the source is
// of one. A terminus that has only the present code ignores that, and the checksum decides.
func (r *Requests) Open(ctx context.Context, s *Source) (io.ReadCloser, error) {
	var options []indirector.Option // contents refuse what metadata is asked for with
	if s.ContentURI != "" && s.CodeID != "" {
		options = []indirector.Option{{Name: "code_id", Value: s.CodeID}, {Name: "content_uri", Value: s.ContentURI}}
	}
	resp, err := r.Do(ctx, indirector.NewRequest("file_content", indirector.Find, s.URL, nil, options))
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return nil, err
	}
	if c, ok := resp.Instance().(*model.FileContent); ok {
		return c.Contents.Open()
	}
	return nil, fmt.Errorf("find the content of %q: %w", s.URL, indirector.ErrNotFound)
}

// Keep keeps a file in the bucket of a server, unless that has it already. Rules RES-FILE-18
// and RES-MISC-03.
func (r *Requests) Keep(ctx context.Context, b BucketServer, name string, content []byte) (string, error) {
	file, err := model.NewFileBucketFile(b.Digest, content)
	if err != nil {
		return "", err
	}
	key := "filebucket://" + net.JoinHostPort(b.Host, b.Port) + "/" + file.Key() + "/" + name
	resp, err := r.Do(ctx, indirector.NewRequest("file_bucket_file", indirector.Head, key, nil, nil))
	if errors.Is(err, indirector.ErrNotFound) || err == nil && resp.Value != true {
		_, err = r.Do(ctx, indirector.NewRequest("file_bucket_file", indirector.Save, key, file, nil))
	}
	if err != nil {
		return "", errors.New(indirector.Message(err))
	}
	return file.Checksum, nil
}
