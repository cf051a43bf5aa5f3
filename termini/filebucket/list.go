package filebucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// maxPaths is the most that is read of one paths file, in bytes.
const maxPaths = 16 << 20

// A line of a list is a path and the contents that were there.
type line struct {
	path, checksum string
	written        time.Time
}

// list answers with a line for each path of the bucket, by path and then by
// time. Contents saved without a path are not listed. Rule TERM-FB-07.
func (t *Terminus) list(ctx context.Context, req *indirector.Request, bucket string) (indirector.Instance, error) {
	switch _, err := os.Stat(bucket); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, indirector.NotFound(traces.NotFound, bucket)
	case err != nil:
		return nil, disk.Fail(err, bucket, "")
	case req.IsRemote():
		return nil, &indirector.Failure{Message: msgRemoteList, Hidden: "who may list a bucket could read all of it"}
	}
	to, err := moment(req, "todate", t.now())
	if err != nil {
		return nil, err
	}
	from, err := moment(req, "fromdate", time.Date(1970, 1, 1, 0, 0, 0, 0, time.Local))
	if err != nil {
		return nil, err
	}
	_, span := traces.Start(ctx, traces.File, "read the paths of the bucket")
	span.Attr("path", bucket)
	w := walk{from: from, to: to}
	err = filepath.WalkDir(bucket, func(path string, d fs.DirEntry, err error) error {
		if e := ctx.Err(); e != nil {
			return e
		}
		return w.visit(path, d, err)
	})
	if err != nil {
		span.End("failed", traces.Because{}, err)
		return nil, err
	}
	span.End(strconv.Itoa(len(w.lines))+" lines", traces.Because{}, nil)
	w.note(ctx, bucket)
	return model.NewFileBucketFile(t.algorithm, w.text())
}

// moment reads one of the limits of a list, in whole seconds.
func moment(req *indirector.Request, name string, unset time.Time) (time.Time, error) {
	option := req.Option(name)
	if option == nil || option == "" {
		return unset.Truncate(time.Second), nil
	}
	at, err := model.ParseTime(fmt.Sprint(option))
	if err != nil {
		return time.Time{}, &indirector.Failure{Message: fmt.Sprintf(msgDate, name), Hidden: err.Error(), Err: err}
	}
	return at.Time(), nil
}

// A walk gathers the lines of a list.
type walk struct {
	from, to   time.Time
	lines      []line
	nameless   int    // entries without a path
	unreadable int    // files and directories
	first      string // the first of these, with its error
}

func (w *walk) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		w.fail(err)
		return nil
	}
	if d.Name() != "paths" || d.IsDir() {
		return nil
	}
	text, written, err := readPaths(path)
	if err != nil {
		if info, e := os.Stat(path); e != nil || info.Mode().IsRegular() {
			w.fail(err)
		}
		return nil
	}
	if second := written.Truncate(time.Second); second.Before(w.from) || second.After(w.to) {
		return nil
	}
	checksum := filepath.Base(filepath.Dir(path))
	text = bytes.Trim(text, " \t\n\v\f\r\x00")
	if len(text) == 0 {
		w.nameless++
		return nil
	}
	for name := range strings.SplitSeq(string(text), "\n") {
		w.lines = append(w.lines, line{name, checksum, written})
	}
	return nil
}

func (w *walk) fail(err error) {
	w.unreadable++
	if w.first == "" {
		w.first = err.Error()
	}
}

func readPaths(path string) (text []byte, written time.Time, err error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, written, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, written, err
	}
	text, err = io.ReadAll(io.LimitReader(f, maxPaths+1))
	if err == nil && len(text) > maxPaths {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it holds more than %d MiB", maxPaths>>20)}
	}
	return text, info.ModTime(), err
}

// note adds notes for what a list does not show.
func (w *walk) note(ctx context.Context, bucket string) {
	if w.nameless > 0 {
		traces.AddNote(ctx, fmt.Sprintf("%d saved without a path: no list shows them", w.nameless))
	}
	if w.unreadable > 0 {
		traces.AddNote(ctx, fmt.Sprintf("%d could not be read and are left out, the first: %s", w.unreadable, w.first))
	}
	if info, err := os.Lstat(bucket); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		traces.Explain(ctx, "the bucket is a symbolic link, which a list does not follow: name the directory itself")
	}
}

// text writes the list.
func (w *walk) text() []byte {
	slices.SortFunc(w.lines, func(a, b line) int {
		return cmp.Or(strings.Compare(a.path, b.path), a.written.Compare(b.written), strings.Compare(a.checksum, b.checksum))
	})
	var b []byte
	for _, l := range w.lines {
		b = append(append(b, l.checksum...), ' ')
		b = append(l.written.Local().AppendFormat(b, time.DateTime), ' ')
		b = append(append(b, l.path...), '\n')
	}
	return b
}
