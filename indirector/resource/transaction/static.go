package transaction

import (
	"context"
	"errors"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/traces"
)

// inlined are sources of which a static catalog has metadata. Rule TERM-COMP-09.
type inlined struct {
	providers.Sources
	catalog *model.Catalog
}

var _ providers.Inlined = (*inlined)(nil)

// withInlined adds what a catalog has of its files to the sources. A catalog that is not
// static changes nothing.
func withInlined(s providers.Sources, c *model.Catalog) providers.Sources {
	if len(c.Metadata) == 0 && c.RecursiveMetadata.Len() == 0 {
		return s
	}
	if s == nil {
		s = &providers.Requests{Do: func(context.Context, *indirector.Request) (indirector.Response, error) {
			return indirector.Response{}, errors.New("sources that are not on this machine are not asked for here")
		}}
	}
	return &inlined{s, c}
}

// Of implements providers.Inlined.
func (in *inlined) Of(ctx context.Context, title string) *providers.Source {
	for _, m := range in.catalog.Metadata {
		if m.Title == title {
			traces.AddNote(ctx, "the static catalog has the metadata of its source: no server was asked")
			s := in.source(m.Metadata, m.Metadata.Source)
			s.URL, s.Relative = m.Metadata.Source, "."
			return &s
		}
	}
	return nil
}

// Below implements providers.Inlined.
func (in *inlined) Below(ctx context.Context, title, source string) ([]providers.Source, bool) {
	sources, has := in.catalog.RecursiveMetadata.Lookup(title)
	if !has {
		return nil, false
	}
	traces.AddNote(ctx, "the static catalog has the metadata of all below "+source+": no server was asked")
	class, _ := model.Lookup("file_metadata")
	var all []providers.Source
	for _, v := range elements(sources.Get(source)) {
		inst, err := class.FromData(v)
		if m, ok := inst.(*model.FileMetadata); ok && err == nil {
			all = append(all, in.source(m, source))
		}
	}
	return all, true
}

func (in *inlined) source(m *model.FileMetadata, source string) providers.Source {
	s := providers.SourceOf(m, source)
	s.CodeID = in.catalog.CodeID
	return s
}

func elements(v data.Value) []data.Value {
	if v.Kind() == data.List {
		return v.List()
	}
	return nil
}
