package types

import (
	"indirtui/indirector/data"
)

// filebucketType is where files are backed up to. Rule RES-MISC-03.
func filebucketType() *Type {
	return Define(Type{
		Name: "filebucket", Doc: "A place that keeps contents of files by their checksums: a directory here, or a server's.",
		Namevars: []string{"name"},
		Attributes: []*Attribute{
			nameParameter("The name, by which the backup of files chooses the bucket."),
			{Name: "server", Kind: Parameter, Doc: "The server of a bucket that is not here. The default is the server of the catalog."},
			{Name: "port", Kind: Parameter, Doc: "The port of that server."},
			{
				Name: "path", Kind: Parameter, Setting: "clientbucketdir",
				Doc: "The directory, or false for the bucket of a server.",
				Validate: func(r *Resource, v data.Value) error {
					switch {
					case v.Kind() == data.List:
						return refuse("You can only have one filebucket path")
					case v.Kind() == data.String && !r.absolute(v):
						return refuse("Filebucket paths must be absolute")
					}
					return nil
				},
			},
		},
	})
}
