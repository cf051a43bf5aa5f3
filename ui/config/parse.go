package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"indirtui/traces/spell"
	"indirtui/ui/screen"
)

// Parse reads a file. Nothing is put in force; what it returns is in the order
// of the file. The errors are each a *ValueError with file and line.
func Parse(path string, data []byte) (found []given, errs []error) {
	at := func(line int) string { return fmt.Sprintf("%s:%d", path, max(line, 1)) }
	bad := func(n *yaml.Node, key, format string, args ...any) {
		errs = append(errs, &ValueError{at(n.Line), key, fmt.Sprintf(format, args...)})
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		line, text := lineOf(err)
		return nil, []error{&ValueError{at(line), "", text}}
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, []error{&ValueError{path, "", "it has more than one document"}}
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		bad(top, "", "want KEY: VALUE lines")
		return nil, errs
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		name, value := top.Content[i], top.Content[i+1]
		if name.Kind != yaml.ScalarNode {
			bad(name, "", "a key is a word")
			continue
		}
		if line := seen[name.Value]; line > 0 {
			bad(name, name.Value, "it is already given in line %d", line)
			continue
		}
		seen[name.Value] = name.Line
		if name.Value == "keys" {
			found = append(found, keysOf(value, at, bad)...)
			continue
		}
		list := slices.ContainsFunc(table, func(k key) bool { return k.name == name.Value && k.list })
		values, ok := scalars(value, list)
		if !ok && slices.Contains(Keys(), name.Value) {
			want := "one value"
			if list {
				want = "a value or a list of values"
			}
			bad(value, name.Value, "want %s", want)
			continue
		}
		if len(values) > 0 || !ok {
			found = append(found, given{name.Value, values, at(name.Line), path, name.Line})
		}
	}
	return found, errs
}

// scalars returns a value, or those of a list. Nothing is none of them.
func scalars(n *yaml.Node, list bool) (values []string, ok bool) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, true
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, true
	case n.Kind == yaml.SequenceNode && list:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, false
			}
			values = append(values, item.Value)
		}
		return values, true
	}
	return nil, false
}

// keysOf reads the keys of actions.
func keysOf(n *yaml.Node, at func(int) string, bad func(*yaml.Node, string, string, ...any)) (found []given) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		bad(n, "keys", "want ACTION: KEY lines")
		return nil
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		keys, ok := scalars(value, true)
		for i := range keys {
			if keys[i] == "space" {
				keys[i] = " "
			}
		}
		switch {
		case name.Kind != yaml.ScalarNode:
			bad(name, "keys", "an action is a word")
		case seen[name.Value] > 0:
			bad(name, "keys."+name.Value, "it is already given in line %d", seen[name.Value])
		case !ok || len(keys) == 0:
			bad(value, "keys."+name.Value, "want a key or a list of keys")
		default:
			seen[name.Value] = name.Line
			found = append(found, given{"keys." + name.Value, keys, at(name.Line), "", name.Line})
		}
	}
	return found
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// lineOf takes the line out of an error of the YAML reader.
func lineOf(err error) (line int, text string) {
	text, _, _ = strings.Cut(err.Error(), "\n")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	return line, text
}

// unknown reports that there is no such key, and which one may be meant; ""
// if there is.
func unknown(s given) string {
	if action, is := strings.CutPrefix(s.key, "keys."); is {
		all := screen.Actions()
		if slices.Contains(all, screen.Action(action)) {
			return ""
		}
		var names []string
		for _, a := range all {
			names = append(names, string(a))
		}
		return fmt.Sprintf("there is no action %q%s", action, guess(action, names))
	}
	if slices.Contains(Keys(), s.key) {
		return ""
	}
	return fmt.Sprintf("there is no key %q%s", s.key, guess(s.key, Keys()))
}

func guess(name string, all []string) string {
	if near := spell.Nearest(name, all); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; there are: " + strings.Join(all, ", ")
}
