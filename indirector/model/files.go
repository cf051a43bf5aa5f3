package model

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// ChecksumTypes are the checksums that Puppet knows, in its order.
var ChecksumTypes = []string{
	"sha256", "sha256lite", "md5", "md5lite", "sha1", "sha1lite", "sha512", "sha384", "sha224", "mtime", "ctime", "none",
}

// FileMetadata is a file server's description of a file.
type FileMetadata struct {
	Envelope
	Path          string     // absolute
	RelativePath  string     // below Path, for a search; "" is unset
	Links         string     // manage, follow; "" is manage
	Owner, Group  data.Value // a number, or a name
	Mode          data.Value // a number; nil if unknown
	ChecksumType  string     // "" is sha256
	Checksum      string     // "{sha256}ab12"; "" is unknown
	Type          string     // file, directory, link
	Destination   string     // of a link
	ContentURI    string
	Source        string
	ChecksumExtra []data.Pair
	Extra         []data.Pair
	odd           odd
}

var _ indirector.Expirer = (*FileMetadata)(nil)

func (m *FileMetadata) Key() string { return m.Path }

func (m *FileMetadata) WithExpiration(t time.Time) indirector.Instance { return expiring(*m, t) }

func metadataFromData(v data.Value) (*FileMetadata, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	m := &FileMetadata{Links: "manage", ChecksumType: "sha256"}
	o := &m.odd
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "path":
			m.Path = o.text(k, v)
		case "relative_path":
			if v.Truthy() {
				m.RelativePath = o.text(k, v)
			}
		case "links":
			if v.Truthy() {
				m.Links = v.Text()
			}
		case "owner":
			m.Owner = v
		case "group":
			m.Group = v
		case "mode":
			m.Mode = v
		case "checksum":
			if err := m.readChecksum(v); err != nil {
				return nil, err
			}
		case "type":
			m.Type = o.text(k, v)
		case "destination":
			m.Destination = o.text(k, v)
		case "content_uri":
			m.ContentURI = o.text(k, v)
		case "source":
			m.Source = o.text(k, v)
		default:
			m.Extra = append(m.Extra, p)
		}
	}
	return m, m.check()
}

func (m *FileMetadata) readChecksum(v data.Value) error {
	if !v.Truthy() {
		return nil
	}
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		switch key(p) {
		case "type":
			if p.Value.Truthy() {
				m.ChecksumType = m.odd.text("checksum type", p.Value)
			}
		case "value":
			m.Checksum = m.odd.text("checksum value", p.Value)
		default:
			m.ChecksumExtra = append(m.ChecksumExtra, p)
		}
	}
	return nil
}

func (m *FileMetadata) check() error {
	if m.Links == "ignore" {
		m.Links = "manage"
	}
	switch {
	case !strings.HasPrefix(m.Path, "/"):
		return errorf(notAbsolute)
	case m.Links != "manage" && m.Links != "follow":
		return errors.New(":links can only be set to :manage or :follow")
	case strings.HasPrefix(m.RelativePath, "/"):
		return errorf(notRelative)
	}
	return nil
}

func (m *FileMetadata) Data() data.Value {
	links, checksumType := m.Links, m.odd.ofText("checksum type", m.ChecksumType)
	links = cmp.Or(links, "manage")
	if checksumType.IsNil() {
		checksumType = data.OfString("sha256")
	}
	sum := append([]data.Pair{
		data.P("type", checksumType),
		data.P("value", m.odd.ofText("checksum value", m.Checksum)),
	}, m.ChecksumExtra...)
	h := make([]data.Pair, 0, 11+len(m.Extra))
	h = append(h,
		data.P("path", data.OfString(m.Path)),
		data.P("relative_path", m.odd.ofText("relative_path", m.RelativePath)),
		data.P("links", data.OfString(links)),
		data.P("owner", m.Owner),
		data.P("group", m.Group),
		data.P("mode", m.Mode),
		data.P("checksum", data.OfHash(sum)),
		data.P("type", m.odd.ofText("type", m.Type)),
		data.P("destination", m.odd.ofText("destination", m.Destination)),
	)
	if v := m.odd.ofText("content_uri", m.ContentURI); v.Truthy() {
		h = append(h, data.P("content_uri", v))
	}
	if v := m.odd.ofText("source", m.Source); v.Truthy() {
		h = append(h, data.P("source", v))
	}
	return data.OfHash(append(h, m.Extra...))
}

// Contents are the bytes of a file, which need not be in memory.
type Contents interface {
	// Open returns a reader from the first byte on, which the caller closes.
	Open() (io.ReadCloser, error)
	// Size is the number of bytes; negative if unknown.
	Size() int64
}

// Kept are Contents on this machine, which can be opened without a request.
type Kept interface {
	Contents
	// Path is the path of the file; "" is memory.
	Path() string
}

// Preview returns the first bytes of c, at most n, and whether these are all.
func Preview(c Contents, n int) (b []byte, whole bool, err error) {
	r, err := c.Open()
	if err != nil {
		return nil, false, err
	}
	b, err = io.ReadAll(io.LimitReader(r, int64(n)+1))
	if whole = len(b) <= n; !whole {
		b = b[:n]
	}
	return b, whole && err == nil, errors.Join(err, r.Close())
}

// Bytes are contents in memory.
type Bytes []byte

var _ Kept = Bytes(nil)

// Path returns "".
func (b Bytes) Path() string { return "" }

// Open returns a reader over b; it does not fail.
func (b Bytes) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// Size returns the number of bytes.
func (b Bytes) Size() int64 { return int64(len(b)) }

// FileContent is a served file.
type FileContent struct {
	Envelope
	Path         string
	RelativePath string
	Links        string
	Contents     Contents
}

var _ indirector.Expirer = (*FileContent)(nil)

func (c *FileContent) Key() string { return c.Path }

func (c *FileContent) WithExpiration(t time.Time) indirector.Instance { return expiring(*c, t) }

// FileBucketFile is a copy that is kept, named by its checksum.
type FileBucketFile struct {
	Envelope
	ChecksumType string // sha256, …
	Checksum     string // in hex, without the type; "" if it is not computed yet
	BucketPath   string // "" is the bucket of the settings
	Contents     Contents
}

var _ indirector.Expirer = (*FileBucketFile)(nil)

// NewFileBucketFile returns the file of the contents b under the checksum of
// that type.
func NewFileBucketFile(checksumType string, b []byte) (*FileBucketFile, error) {
	h := NewDigest(checksumType)
	if h == nil {
		return nil, errorf(unknownChecksum, checksumType)
	}
	h.Write(b)
	return &FileBucketFile{ChecksumType: checksumType, Checksum: hex.EncodeToString(h.Sum(nil)), Contents: Bytes(b)}, nil
}

// Key returns type and checksum: "sha256/ab12".
func (f *FileBucketFile) Key() string { return f.ChecksumType + "/" + f.Checksum }

func (f *FileBucketFile) WithExpiration(t time.Time) indirector.Instance { return expiring(*f, t) }

// NewDigest returns the digest that Puppet calls by that name, or nil. The
// lite ones take only the first 512 bytes, which the caller sees to.
func NewDigest(name string) hash.Hash {
	switch strings.TrimSuffix(name, "lite") {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}
