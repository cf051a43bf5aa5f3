package systemtest

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Tree is what is planted below the root of a case, by paths.
type Tree map[string]Node

// A Node is a file, a directory, a link or a pipe.
type Node struct {
	Content string `json:"content"`
	Base64  string `json:"base64"`
	Link    string `json:"link"`
	Dir     bool   `json:"dir"`
	FIFO    bool   `json:"fifo"`
	Mode    string `json:"mode"`
	MTime   string `json:"mtime"`
}

func (n *Node) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		n.Dir = true
		return nil
	}
	if json.Unmarshal(b, &n.Content) == nil {
		return nil
	}
	type plain Node
	return json.Unmarshal(b, (*plain)(n))
}

// Planted is the time that planted files have.
var Planted = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

// Plant makes the tree below a directory.
func (tree Tree) Plant(tb testing.TB, root string) {
	tb.Helper()
	for name, n := range tree {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := n.plant(at, n.Dir || strings.HasSuffix(name, "/")); err != nil {
			tb.Fatal(err)
		}
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 || name == root {
			return err
		}
		at := Planted
		rel, _ := filepath.Rel(root, name)
		if t, err := time.Parse(time.RFC3339, tree[rel].MTime); err == nil {
			at = t
		}
		return os.Chtimes(name, at, at)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// special are the bits of modes that Go has elsewhere.
var special = map[fs.FileMode]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

func (n *Node) plant(at string, dir bool) error {
	mode := fs.FileMode(0o644)
	if dir {
		mode = 0o755
	}
	if m, err := strconv.ParseUint(n.Mode, 8, 32); err == nil {
		mode = fs.FileMode(m)
	}
	switch {
	case dir:
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	case n.Link != "":
		return os.Symlink(n.Link, at)
	case n.FIFO:
		if err := pipe(at); err != nil {
			return err
		}
	default:
		content := []byte(n.Content)
		if n.Base64 != "" {
			var err error
			if content, err = base64.StdEncoding.DecodeString(n.Base64); err != nil {
				return err
			}
		}
		if err := os.WriteFile(at, content, 0o644); err != nil {
			return err
		}
	}
	for bit, of := range special {
		if mode&bit != 0 {
			mode = mode&^bit | of
		}
	}
	return os.Chmod(at, mode)
}
