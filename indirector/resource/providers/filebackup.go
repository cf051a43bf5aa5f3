package providers

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// backup keeps what will be replaced: beside it, or in a bucket. Rule RES-FILE-18.
func (f *file) backup(ctx context.Context, s System, r *types.Resource, info Info) error {
	to := r.Value("backup").Text()
	if _, err := s.Stat(ctx, r.Name()); err != nil {
		return nil // a link to nothing
	}
	if strings.HasPrefix(to, ".") {
		return f.copyBeside(ctx, s, r, to)
	}
	switch info.Kind {
	case "file":
		return f.bucket(ctx, s, r, r.Name(), to)
	case "directory":
		if r.Value("recurse").Truthy() {
			return nil
		}
		f.log.note(r, "info", "Recursively backing up to filebucket")
		return f.bucketAll(ctx, s, r, r.Name(), to)
	}
	return nil
}

// bucketAll keeps the files of a directory, and those that links in it lead to.
func (f *file) bucketAll(ctx context.Context, s System, r *types.Resource, dir, into string) error {
	names, err := s.ReadDir(ctx, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		at := path.Join(dir, name)
		info, err := s.Lstat(ctx, at)
		if err != nil {
			return err
		}
		if info.Kind == "directory" {
			err = f.bucketAll(ctx, s, r, at, into)
		} else if to, missing := s.Stat(ctx, at); missing == nil && to.Kind == "file" {
			err = f.bucket(ctx, s, r, at, into)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *file) bucket(ctx context.Context, s System, r *types.Resource, name, to string) error {
	dir, server, err := bucketOf(s, r, to)
	if err != nil {
		return err
	}
	var sum string
	if server == nil {
		sum, err = keep(ctx, s, f.log, name, dir)
	} else {
		sum, err = f.keepOn(ctx, s, *server, name)
	}
	if err != nil {
		return err
	}
	f.log.note(r, "info", "Filebucketed "+name+" to "+to+" with sum "+sum)
	return nil
}

// bucketOf is where a bucket of the catalog is: a directory, "" being the local one, or on
// a server.
func bucketOf(s System, r *types.Resource, title string) (dir string, server *BucketServer, err error) {
	if r.Catalog == nil {
		return "", nil, nil
	}
	bucket := r.Catalog.Resource(types.Ref{Type: "Filebucket", Title: title})
	if bucket == nil {
		return "", nil, nil
	}
	if at := bucket.Value("path"); at.Kind() == data.String {
		return at.Str(), nil, nil
	}
	digest, _ := s.Setting("digest_algorithm")
	port, _ := s.Setting("serverport")
	return "", &BucketServer{Host: bucket.Value("server").Text(), Port: cmp.Or(bucket.Value("port").Text(), port), Digest: cmp.Or(digest, "sha256")}, nil
}

// keepOn keeps a file in the bucket of a server.
func (f *file) keepOn(ctx context.Context, s System, server BucketServer, name string) (string, error) {
	if f.buckets == nil {
		return "", failure("the bucket is on a server, and servers are not asked here")
	}
	content, err := s.ReadFile(ctx, name)
	if err != nil {
		return "", err
	}
	f.log.line(Line{Level: "info", Message: "Computing checksum on file " + name})
	sum, err := f.buckets.Keep(ctx, server, name, content)
	if err != nil {
		err = failure("Could not back up %s: %w", name, err)
		f.log.line(Line{Level: "err", Message: err.Error()})
	}
	return sum, err
}

// copyBeside copies a file, with its mode and times.
func (f *file) copyBeside(ctx context.Context, s System, r *types.Resource, extension string) error {
	to := r.Name() + extension
	if info, err := s.Lstat(ctx, to); err == nil {
		if info.Kind == "directory" {
			return failure("Will not remove directory backup %s; use a filebucket", to)
		}
		f.log.note(r, "info", "Removing old backup of type "+info.Kind)
		if err := s.Remove(ctx, to); err != nil {
			return failure("Could not remove old backup: %w", err)
		}
	}
	if err := s.Copy(ctx, r.Name(), to); err != nil {
		return failure("Could not back %s up: %w", r.Name(), inRuby("rb_sysopen", err))
	}
	return nil
}

// maxDiff is how much of a new content is compared.
const maxDiff = 64 << 20

// showDiff logs how the file that is there differs from the one that should be.
func (f *file) showDiff(ctx context.Context, s System, r *types.Resource) error {
	if setting, _ := s.Setting("show_diff"); setting != "true" || r.Value("show_diff").Text() == "false" {
		return nil
	}
	line := Line{Level: r.Value("loglevel").Text(), Resource: r, Property: "content"}
	if r.Sensitive("content") {
		line.Message = "[diff redacted]"
		f.log.line(line)
		return nil
	}
	program, _ := s.Setting("diff")
	args, _ := s.Setting("diff_args")
	argv := append(append([]string{cmp.Or(program, "diff")}, strings.Fields(cmp.Or(args, "-u"))...), r.Name(), "-")
	in, err := f.open(ctx, s, r)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxDiff))
	if err != nil {
		return err
	}
	result, err := s.Run(ctx, Command{Argv: argv, Stdin: text})
	if err != nil {
		return err
	}
	temporary := path.Join(os.TempDir(), "puppet-file")
	out := bytes.Replace(result.Output, []byte("\n+++ -\t"), []byte("\n+++ "+temporary+"\t"), 1)
	line.Message = "\n" + string(out)
	if !utf8.Valid(out) || bytes.HasPrefix(out, []byte("Binary files")) {
		line.Message = "\nBinary files " + r.Name() + " and " + temporary + " differ\n"
	}
	f.log.line(line)
	return nil
}
