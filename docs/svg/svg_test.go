package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []cell // of the only row
	}{
		"plain":            {"ab", []cell{{text: "a"}, {text: "b"}}},
		"16 colours":       {"\x1b[31;44ma", []cell{{text: "a", style: style{fore: palette[1], back: palette[4]}}}},
		"bright":           {"\x1b[90;103ma", []cell{{text: "a", style: style{fore: palette[8], back: palette[11]}}}},
		"256 colours":      {"\x1b[38;5;196ma", []cell{{text: "a", style: style{fore: "#ff0000"}}}},
		"256 greys":        {"\x1b[48;5;232ma", []cell{{text: "a", style: style{back: "#080808"}}}},
		"24 bits":          {"\x1b[38;2;1;2;255ma", []cell{{text: "a", style: style{fore: "#0102ff"}}}},
		"24 bits, then on": {"\x1b[38;2;1;2;3;1ma", []cell{{text: "a", style: style{fore: "#010203", bold: true}}}},
		"bold underline":   {"\x1b[1;4ma\x1b[22mb", []cell{{text: "a", style: style{bold: true, underline: true}}, {text: "b", style: style{underline: true}}}},
		"reset":            {"\x1b[7ma\x1b[mb", []cell{{text: "a", style: style{reverse: true}}, {text: "b"}}},
		"default colours":  {"\x1b[31;41ma\x1b[39;49mb", []cell{{text: "a", style: style{fore: palette[1], back: palette[1]}}, {text: "b"}}},
		"wide":             {"本b", []cell{{text: "本", wide: true}, {}, {text: "b"}}},
		"combining":        {"e\u0301b", []cell{{text: "e\u0301"}, {text: "b"}}},
		"on a wide one":    {"本\u0301", []cell{{text: "本\u0301", wide: true}, {}}},
		"other sequences":  {"\x1b[2K\x1b]0;title\aa\x1b]8;;http://x\x1b\\b\x1b=c", []cell{{text: "a"}, {text: "b"}, {text: "c"}}},
		"cut off":          {"a\x1b[38;5", []cell{{text: "a"}}},
		"colour cut off":   {"\x1b[38;5ma", []cell{{text: "a"}}},
		"no number":        {"\x1b[?;1ma", []cell{{text: "a", style: style{bold: true}}}},
		"control":          {"a\x00\rb", []cell{{text: "a"}, {text: "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := read(tt.text)
			if len(rows) != 1 || !slices.Equal(rows[0], tt.want) {
				t.Errorf("got %+v\nwant %+v", rows, tt.want)
			}
		})
	}
	if rows := read("a\n\nb\n"); len(rows) != 3 || len(rows[1]) != 0 {
		t.Errorf("three lines: got %+v", rows)
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text    string
		want    []string
		without string
	}{
		"words stand at their cells": {"ab  cd", []string{
			`<text x="14" y="57" textLength="16.8">ab</text>`, `<text x="47.6" y="57" textLength="16.8">cd</text>`,
		}, ""},
		"second line":      {"\na", []string{`<text x="14" y="75" textLength="8.4">a</text>`}, ""},
		"colour and bold":  {"\x1b[1;31ma", []string{`<text x="14" y="57" textLength="8.4" fill="#f07178" font-weight="bold">a</text>`}, ""},
		"faint":            {"\x1b[2ma", []string{`opacity="0.6"`}, ""},
		"underlined blank": {"\x1b[4m ", []string{`<path d="M14 59.5h8.4" stroke="#cdd6e4"/>`}, "<text x=\"14\""},
		"background":       {"\x1b[41ma b", []string{`<rect x="14" y="44" width="25.2" height="18" fill="#f07178"/>`}, ""},
		"reverse": {"\x1b[7;31ma", []string{
			`<rect x="14" y="44" width="8.4" height="18" fill="#f07178"/>`, `fill="#12161f">a</text>`,
		}, ""},
		"escaped":         {`<&">`, []string{`>&lt;&amp;&quot;&gt;</text>`}, ""},
		"boxes are drawn": {"──a", []string{`<path transform="translate(14 44)" d="M0 9h8.4" stroke="#cdd6e4" fill="none"/>`, `translate(22.4 44)`}, "─"},
		"blocks":          {"\x1b[32m█", []string{`d="M0 0h8.4v18h-8.4z" fill="#a5d6a7"`}, "█"},
		"wide":            {"本b", []string{`<text x="14" y="57" textLength="16.8">本</text>`, `<text x="30.8" y="57" textLength="8.4">b</text>`}, ""},
		"what is beyond":  {"0123456789x\n2\n3", []string{`>0123456789</text>`}, ">3</text>"},
		"title":           {"", []string{`<title>a &amp; b</title>`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := draw(read(tt.text), 10, 2, "a & b")
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("want %s in\n%s", want, got)
				}
			}
			if tt.without != "" && strings.Contains(got, tt.without) {
				t.Errorf("want no %s in\n%s", tt.without, got)
			}
			wellFormed(t, got)
		})
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("\x1b[1;38;5;9mx─本\u0301\x1b]8;;\x1b\\\xff\ufffe")
	f.Fuzz(func(t *testing.T, text string) {
		wellFormed(t, draw(read(text), 20, 3, text))
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string // in the picture, or in the error
	}{
		{[]string{"-size", "10x2"}, `width="112" height="94"`},
		{[]string{"-size", "10x0", "-title", "x"}, `height="112"`},
		{[]string{"-light"}, `fill="#ffffff"`},
		{[]string{"-size", "10"}, "want columns x rows"},
		{[]string{"-size", "0x5"}, "want columns x rows"},
	} {
		var out bytes.Buffer
		if err := run(tt.args, strings.NewReader("a\nb\nc\n"), &out); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: got %s, want %s", tt.args, out.String(), tt.want)
		}
	}
}
