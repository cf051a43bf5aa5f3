package dns

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/termini/internal/layers"
	"indirtui/traces"
)

// records are what the TXT records of one name have for a node.
type records struct {
	layers.Node
	question string // the domain name
	parent   string // a key; "" if there is none
	absent   string // why there are no records; "" if there are
	texts    int    // records that count
	ignored  []string
	ttl      time.Duration
}

// special are the names that are no parameters.
var special = map[string]bool{"class": true, "environment": true, "parent": true}

var paramName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// read reads the texts of records, which have no order: they are sorted, so that the
// same zone gives the same node. Rules DNS-03, DNS-04, DNS-05.
func read(question string, texts [][]byte) (*records, error) {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, bytes.Compare)
	texts = slices.CompactFunc(texts, bytes.Equal)
	r := &records{Node: layers.Node{Source: question}, question: question}
	var order []string
	params := make(map[string][]data.Value)
	for _, t := range texts {
		name, value, cut := strings.Cut(string(t), "=")
		switch {
		case !utf8.Valid(t):
			r.ignore(t, "not UTF-8")
		case !cut:
			r.ignore(t, "no =")
		case name == "v":
			r.ignore(t, "a version")
		case !paramName.MatchString(name):
			r.ignore(t, "not the name of a parameter")
		case name == "trusted" || name == "facts":
			return nil, fmt.Errorf("the parameter %s is reserved", name)
		case value == "" && special[name]:
			r.ignore(t, "no value")
		default:
			r.texts++
			if err := r.take(name, value); err != nil {
				return nil, err
			}
			if special[name] {
				continue
			}
			if params[name] == nil {
				order = append(order, name)
			}
			params[name] = append(params[name], convert(value))
		}
	}
	for _, name := range order {
		value := params[name][0]
		if len(params[name]) > 1 {
			value = data.OfList(params[name])
		}
		r.Param(name, value, "")
	}
	return r, nil
}

// take takes in what is no parameter.
func (r *records) take(name, value string) error {
	switch name {
	case "class":
		for c := range strings.SplitSeq(value, ",") {
			if c != "" {
				r.Class(c, "")
			}
		}
	case "environment":
		if len(r.Environments) > 0 {
			return fmt.Errorf("two environments: %s and %s", r.Environments[0], value)
		}
		r.Environment(value)
	case "parent":
		if r.parent != "" {
			return fmt.Errorf("more than one parent: %s and %s", r.parent, value)
		}
		r.parent = value
	}
	return nil
}

func convert(text string) data.Value {
	switch text {
	case "true", "false":
		return data.OfBool(text == "true")
	}
	return data.OfString(text)
}

func (r *records) ignore(text []byte, why string) {
	r.ignored = append(r.ignored, strconv.QuoteToASCII(string(text[:min(len(text), 100)]))+": "+why)
}

// maxShown is how many ignored records a span lists.
const maxShown = 100

// record lists the records that were ignored in a span.
func (r *records) record(ctx context.Context) {
	if len(r.ignored) == 0 {
		return
	}
	_, span := traces.Start(ctx, traces.Note, "records of "+r.question)
	for _, i := range r.ignored[:min(len(r.ignored), maxShown)] {
		span.Attr("ignored", i)
	}
	span.End(fmt.Sprintf("%d read, %d ignored", r.texts, len(r.ignored)), traces.Because{}, nil)
}
