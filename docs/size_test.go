package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader takes in at once.
const (
	maxLines    = 80 // of a function that is no table
	maxBranches = 30 // cyclomatic complexity
)

// TestSizes finds functions that are too long or branch too much. The YAML of
// Ruby in indirector/format/psych may branch more.
func TestSizes(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			seen++
			at := name + ": " + f.Name.Name
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > maxLines && !isTable(set, f) {
				t.Errorf("%s has %d lines", at, n)
			}
			if n := branches(f); n > maxBranches && !strings.HasPrefix(name, "indirector/format/psych/") {
				t.Errorf("%s has %d branches", at, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 4000 {
		t.Errorf("only %d functions were looked at", seen)
	}
}

// isTable reports whether most of a function is composite literals.
func isTable(set *token.FileSet, f *ast.FuncDecl) bool {
	lines := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
	literal := 0
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if l, ok := n.(*ast.CompositeLit); ok {
			literal += lines(l)
			return false
		}
		return true
	})
	return literal*10 > lines(f)*7
}

// branches counts the ways through a function: one, and one more for each
// condition, loop, case and logical operator.
func branches(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
