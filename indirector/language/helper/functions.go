package helper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/traces"
)

// Function reads a function, and returns it as one that programs can call. The file is
// executed. An error is in Puppet's words, or it names the function and its file.
func (h *Helper) Function(ctx context.Context, f Function) (b *eval.Builtin, err error) {
	switch {
	case !f.Old && !strings.Contains(f.Text, "Puppet::Functions.create_function"):
		return nil, eval.Errorf("The code loaded from %s does not seem to be a Puppet 4x API function - no create_function call.", f.File)
	case f.Old && !strings.Contains(f.Text, "newfunction"):
		return nil, eval.Errorf("The code loaded from %s does not seem to be a Puppet 3x API function - no 'newfunction' call.", f.File)
	}
	span := h.begin(ctx, "read "+f.Name)
	defer func() { span.End(fmt.Sprint(len(f.Text), " bytes"), traces.Because{}, err) }()
	u := &use{Helper: h, what: f.String(), left: h.o.Limit}
	described, err := u.load(&f)
	if err != nil {
		return nil, err
	}
	if f.Old {
		return h.old(&f, described)
	}
	return h.dispatched(&f, described)
}

// load makes the child read a function.
func (u *use) load(f *Function) (data.Value, error) {
	b := appendJSON([]byte(`{"do":"load","name":`), f.Name)
	b = appendJSON(append(b, `,"file":`...), f.File)
	b = appendText(append(b, `,"text":`...), f.Text)
	b = strconv.AppendBool(append(b, `,"old":`...), f.Old)
	x, _, err := u.run(append(b, '}'))
	if err != nil {
		return data.Value{}, u.explained(err, f)
	}
	described, err := u.value(x)
	if err != nil {
		return described, fmt.Errorf("%s: %w", u.what, err)
	}
	u.child.loaded[f.Name] = true
	return described, nil
}

// explained is the error of a function: an exception that Puppet expects of functions in its
// own words, all others with the function in front.
func (u *use) explained(err error, f *Function) error {
	var r *Raised
	switch {
	case !errors.As(err, &r):
		return err
	case r.file != "" && r.line > 0: // the exception knows its place
		return &eval.Error{Message: r.Message, File: r.file, Line: r.line, Wrapped: eval.ErrPlain}
	case r.isFinal:
		return &eval.Error{Message: r.Message, Wrapped: errors.Join(eval.ErrPlain, r)}
	case r.isStandard:
		return r
	}
	return fmt.Errorf("%s: %s: %s", f, strings.TrimPrefix(r.class, "Helper::"), r.Message)
}

// old returns a function of the older kind.
func (h *Helper) old(f *Function, described data.Value) (*eval.Builtin, error) {
	arity := int(described.Get("arity").Int())
	return &eval.Builtin{Name: f.Name, Old: true, Ways: []eval.Way{{Params: "Any args*", Do: func(c *eval.Invocation) (data.Value, error) {
		switch n := len(c.Args); {
		case arity >= 0 && n != arity:
			return data.Value{}, eval.Errorf("%s(): Wrong number of arguments given (%d for %d)", f.Name, n, arity)
		case arity < 0 && n < -arity-1:
			return data.Value{}, eval.Errorf("%s(): Wrong number of arguments given (%d for minimum %d)", f.Name, n, -arity-1)
		}
		return h.call(c, f, 0)
	}}}}, nil
}

// dispatched returns a function of the newer kind, whose signatures the child has described.
func (h *Helper) dispatched(f *Function, described data.Value) (*eval.Builtin, error) {
	lookup, err := h.localTypes(f, described.Get("types").List())
	if err != nil {
		return nil, err
	}
	b := &eval.Builtin{Name: f.Name, Types: lookup}
	for i, d := range described.Get("dispatches").List() {
		way, err := h.way(f, i, d, lookup)
		if err != nil {
			return nil, eval.Errorf("Function Load Error for function '%s': %s", f.Name, err)
		}
		b.Ways = append(b.Ways, way)
	}
	return b, nil
}

// way returns one of the ways of a function.
func (h *Helper) way(f *Function, i int, d data.Value, lookup types.Lookup) (eval.Way, error) {
	s := &eval.Signature{}
	for _, p := range d.Get("params").List() {
		t, err := parsed(p.Get("type").Str(), lookup)
		if err != nil {
			return eval.Way{}, err
		}
		s.Take(eval.Param{Name: p.Get("name").Str(), Type: t}, p.Get("mark").Str())
	}
	if block := d.Get("block"); !block.IsNil() {
		t, err := parsed(block.Get("type").Str(), lookup)
		if err != nil {
			return eval.Way{}, err
		}
		s.TakeBlock(t.String(), block.Get("name").Str(), block.Get("optional").Bool(), nil)
	}
	var result types.Type
	if text := d.Get("result").Str(); text != "" {
		var err error
		if result, err = parsed(text, lookup); err != nil {
			return eval.Way{}, err
		}
	}
	isRefusal, method := d.Get("mismatch").Bool(), d.Get("method").Str()
	return eval.Way{Signature: s, Refusal: isRefusal, Do: func(c *eval.Invocation) (data.Value, error) {
		v, err := h.call(c, f, i)
		switch {
		case err != nil:
		case isRefusal:
			err = eval.Errorf("%s", v.Text())
		case result != nil && !eval.Accepts(result, v):
			err = eval.Errorf("%s", eval.Mismatch("value returned from function '"+method+"' has wrong type,", result, v))
		}
		return v, err
	}}, nil
}

func parsed(text string, lookup types.Lookup) (types.Type, error) {
	t, err := types.Parse(text, lookup)
	if err != nil {
		return nil, eval.Errorf("Parsing of type string '\"%s\"' failed with message: <%s>.\n", text, err)
	}
	return t, nil
}

// localTypes adds the types that a function declares for itself.
func (h *Helper) localTypes(f *Function, texts []data.Value) (types.Lookup, error) {
	local := map[string]types.Type{}
	lookup := func(name string) types.Type {
		if t, ok := local[name]; ok {
			return t
		}
		if h.o.Type == nil {
			return nil
		}
		return h.o.Type(name)
	}
	for _, text := range texts {
		name, definition, ok := strings.Cut(text.Str(), "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, eval.Errorf("Function Load Error for function '%s': Expected a type alias assignment on the form 'AliasType = T', got '%s'.", f.Name, text.Str())
		}
		t, err := types.NewAlias(name, func(self types.Type) (types.Type, error) {
			return types.Parse(definition, func(other string) types.Type {
				if other == strings.ToLower(name) {
					return self
				}
				return lookup(other)
			})
		})
		if err != nil {
			return nil, eval.Errorf("Function Load Error for function '%s': Parsing of 'type \"%s\"' failed with message: <%s>.", f.Name, text.Str(), err)
		}
		local[strings.ToLower(name)] = t
	}
	return lookup, nil
}

// call calls a function.
func (h *Helper) call(c *eval.Invocation, f *Function, dispatch int) (v data.Value, err error) {
	bytes := 0
	span := h.begin(c.Context(), "run "+f.Name)
	defer func() { span.End(fmt.Sprint(bytes, " bytes"), traces.Because{}, err) }()
	u := &use{Helper: h, c: c, host: h.o.Host(c), what: f.String(), left: h.o.Limit}
	if h.child == nil || !h.child.loaded[f.Name] {
		if _, err := u.load(f); err != nil {
			return v, err
		}
	}
	b := appendJSON([]byte(`{"do":"call","name":`), f.Name)
	b = append(b, fmt.Sprintf(`,"dispatch":%d,"block":%t,"args":`, dispatch, c.Block != nil)...)
	if b, err = h.appendList(b, c.Args); err != nil {
		return v, err
	}
	x, bytes, err := u.run(append(b, '}'))
	if err != nil {
		return v, u.explained(err, f)
	}
	if v, err = h.value(x); err != nil {
		err = fmt.Errorf("%s: %w", f, err)
	}
	return v, err
}

// A TemplateError is a template that Ruby could not render.
type TemplateError struct {
	Class, Message string
	Line           int // from 1; 0 if it is not known
	// IsStandard reports whether Puppet expects such an error of templates.
	IsStandard bool
}

func (e *TemplateError) Error() string { return e.Message }

// Render renders a template. The path is its file, or what stands for one. An error is a
// *TemplateError, or what a function that it called failed with.
func (h *Helper) Render(c *eval.Invocation, host Host, name, path, source string) (out string, err error) {
	span := h.begin(c.Context(), "render "+name)
	defer func() { span.End(fmt.Sprint(len(out), " bytes"), traces.Because{}, err) }()
	u := &use{Helper: h, c: c, host: host, what: name, left: h.o.Limit}
	b := appendJSON([]byte(`{"do":"render","path":`), path)
	b = appendText(append(b, `,"source":`...), source)
	x, _, err := u.run(append(b, '}'))
	var r *Raised
	if errors.As(err, &r) {
		return "", &TemplateError{strings.TrimPrefix(r.class, "Helper::"), r.Message, r.line, r.isStandard}
	}
	if err != nil {
		return "", err
	}
	v, err := h.value(x)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return v.Str(), nil
}
