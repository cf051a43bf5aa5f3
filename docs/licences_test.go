package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// licences are what the program may be made of, by words that only they have.
var licences = []struct{ name, words string }{
	{"MIT and Apache-2.0", "This project is covered by two different licenses: MIT and Apache"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
}

// TestLicences holds LICENCES.md against the licences of the modules that are
// part of the binary.
func TestLicences(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", ".")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	rows := make(map[string]bool)
	for m := range slices.Chunk(modules, 2) {
		name, err := licenceOf(m[1])
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
		rows[fmt.Sprintf("| `%s` | %s |", m[0], name)] = true
	}
	text, err := os.ReadFile("LICENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "| `") && !rows[line] {
			t.Errorf("LICENCES.md has a row that is not so: %s", line)
		}
		delete(rows, line)
	}
	for row := range rows {
		t.Errorf("LICENCES.md lacks %s", row)
	}
}

var blanks = regexp.MustCompile(`[\s*]+`)

// licenceOf returns the name of the licence in a directory.
func licenceOf(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "LICENSE*"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no file LICENSE: %v", err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	text = blanks.ReplaceAll(text, []byte(" "))
	for _, l := range licences {
		if bytes.Contains(text, []byte(l.words)) {
			return l.name, nil
		}
	}
	return "", fmt.Errorf("%s has a licence that is not in the table of this test", files[0])
}
