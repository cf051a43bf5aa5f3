package types

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"regexp"
	"strings"
	"time"
)

// Checksums are the kinds of checksums of files, in Puppet's order. Rule RES-FILE-09.
var Checksums = []string{
	"sha256", "sha256lite", "md5", "md5lite", "sha1", "sha1lite", "sha512", "sha384", "sha224", "mtime", "ctime", "none",
}

// NewHash is the hash of a kind of checksum, and how many bytes count; 0 is all. It is
// nil for those that are no digest (mtime, ctime, none) and for unknown ones.
func NewHash(kind string) (h hash.Hash, limit int64) {
	if short, ok := strings.CutSuffix(kind, "lite"); ok {
		kind, limit = short, 512
	}
	switch kind {
	case "md5":
		return md5.New(), limit
	case "sha1":
		return sha1.New(), limit
	case "sha224":
		return sha256.New224(), limit
	case "sha256":
		return sha256.New(), limit
	case "sha384":
		return sha512.New384(), limit
	case "sha512":
		return sha512.New(), limit
	}
	return nil, 0
}

// Sum is the checksum of a text as Puppet writes it: "{sha256}2cf2...". That of a kind
// that is no digest has no more than the kind.
func Sum(kind string, text string) string {
	h, limit := NewHash(kind)
	if h == nil {
		return "{" + kind + "}"
	}
	if limit > 0 && int64(len(text)) > limit {
		text = text[:limit]
	}
	h.Write([]byte(text))
	return "{" + kind + "}" + hex.EncodeToString(h.Sum(nil))
}

var isChecksum = regexp.MustCompile(`(?m)^\{\w{3,10}\}\S+`)

// IsChecksum reports whether a content is meant as a checksum: "{md5}...".
func IsChecksum(text string) bool { return strings.Contains(text, "{") && isChecksum.MatchString(text) }

var hexDigits = regexp.MustCompile(`(?m)^[0-9a-fA-F]+$`)

// validChecksum reports whether a value can be a checksum of a kind.
func validChecksum(kind, value string) bool {
	switch kind {
	case "none":
		return value == ""
	case "mtime", "ctime":
		return isTime(value)
	}
	h, _ := NewHash(kind)
	return h != nil && len(hexDigits.FindString(value)) == 2*h.Size()
}

// isTime takes the forms in which times of files are written.
func isTime(s string) bool {
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", time.RFC3339, time.RFC1123, time.RFC1123Z} {
		if _, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return true
		}
	}
	return false
}
