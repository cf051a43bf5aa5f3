package fnmatch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Glob returns the paths that a pattern means, as Ruby's Dir.glob: braces, then
// for each the names of every directory in their order, with what is below them
// before the next. ** stands for directories, but follows no links. At most limit
// paths are returned. What cannot be read has no names.
func Glob(pattern string, limit int) []string {
	g := globber{limit: limit}
	for _, p := range Braces(pattern) {
		dir := ""
		if strings.HasPrefix(p, "/") {
			dir = "/"
		}
		parts := slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" })
		// What has no pattern is followed without reading directories.
		for len(parts) > 1 && !strings.ContainsAny(parts[0], `*?[\`) {
			dir, parts = filepath.Join(dir, parts[0]), parts[1:]
		}
		if len(parts) > 0 {
			g.below(dir, [][]string{parts}, 0)
		}
	}
	return g.found
}

type globber struct {
	found []string
	limit int
}

// maxLevels bounds how deep directories are searched.
const maxLevels = 100

func (g *globber) below(dir string, patterns [][]string, depth int) {
	read := dir
	if read == "" {
		read = "."
	}
	entries, err := os.ReadDir(read)
	if err != nil || depth > maxLevels {
		return
	}
	// Where ** stands for no directory, what follows it counts here.
	for i := 0; i < len(patterns); i++ {
		if p := patterns[i]; p[0] == "**" && len(p) > 1 {
			patterns = append(slices.Clip(patterns), p[1:])
		}
	}
	for _, e := range entries {
		if len(g.found) >= g.limit {
			return
		}
		path := filepath.Join(dir, e.Name())
		match, next := matching(patterns, e)
		if match {
			g.found = append(g.found, path)
		}
		if len(next) > 0 && isDir(path, e) {
			g.below(path, next, depth+1)
		}
	}
}

// matching reports whether an entry is meant, and returns the patterns for what is
// below it.
func matching(patterns [][]string, e fs.DirEntry) (match bool, next [][]string) {
	name := e.Name()
	for _, p := range patterns {
		recursive := p[0] == "**" && len(p) > 1
		switch {
		case recursive:
			if e.IsDir() && !strings.HasPrefix(name, ".") {
				next = append(next, p)
			}
		case !Match(p[0], name):
		case len(p) == 1:
			match = true
		default:
			next = append(next, p[1:])
		}
	}
	return match, next
}

func isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir()
}
