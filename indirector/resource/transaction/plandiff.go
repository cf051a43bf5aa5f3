package transaction

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"indirtui/indirector/resource/providers"
)

// maxDiff is how much of each side of a diff is compared, in bytes.
const maxDiff = 1 << 20

// contexts is how many lines that are the same are shown around those that are not.
const contexts = 3

// contentDiff is how the content of a file would change, as a unified diff, or why that
// cannot be shown; "" if r has no content that is known.
func (t *transaction) contentDiff(r *Resource) string {
	p, ok := t.providerOf(r).(providers.Contents)
	if !ok || !r.RAL.Managed("content") || r.RAL.Value("ensure").Text() == "absent" {
		return ""
	}
	if r.RAL.Sensitive("content") || r.RAL.Value("show_diff").Text() == "false" {
		return "the diff is " + redacted + "\n"
	}
	text, err := t.diffWith(p, r)
	if err != nil {
		return "no diff: " + err.Error() + "\n"
	}
	return text
}

func (t *transaction) diffWith(p providers.Contents, r *Resource) (string, error) {
	name := r.RAL.Name()
	before := name
	is, err := text(t.System.Open(t.ctx, name))
	if errors.Is(err, fs.ErrNotExist) {
		before, err = "/dev/null", nil
	}
	if err != nil {
		return "", err
	}
	should, err := text(p.Contents(t.ctx, t.System, r.RAL))
	if err != nil || is == should {
		return "", err
	}
	return udiff.ToUnified(before, name, is, udiff.Lines(is, should), contexts)
}

// text reads all of a file, if it is text and not too long.
func text(in io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxDiff+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxDiff:
		return "", errors.New("a content has more than 1 MiB")
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		return "", errors.New("a content is not text")
	}
	return string(b), nil
}
