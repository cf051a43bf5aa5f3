package eval

import (
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// A Param is a parameter of a function.
type Param struct {
	Name string
	Type types.Type // nil means any
}

// many is the number of arguments of a function that takes any number.
const many = -1

// counts are a span of numbers; most is many if there is no end.
type counts struct{ least, most int }

func (c counts) has(n int) bool { return n >= c.least && (n <= c.most || c.most == many) }

func (c counts) hull(o counts) counts {
	out := counts{min(c.least, o.least), max(c.most, o.most)}
	if c.most == many || o.most == many {
		out.most = many
	}
	return out
}

// phrase is the span in messages: "at least 1". Zero has its own word.
func (c counts) phrase(zero string) string {
	switch {
	case c.most == 0:
		return zero
	case c.least == c.most:
		return strconv.Itoa(c.least)
	case c.least == 0 && c.most == many:
		return "unlimited"
	case c.least == 0:
		return "at most " + strconv.Itoa(c.most)
	case c.most == many:
		return "at least " + strconv.Itoa(c.least)
	}
	return "between " + strconv.Itoa(c.least) + " and " + strconv.Itoa(c.most)
}

// A Signature is what a function takes. The last parameter takes all arguments that are
// left, if the function takes any number.
type Signature struct {
	params []Param
	sizes  counts
	block  *blockParam // nil if no lambda is taken
}

// A blockParam is the lambda that a function takes.
type blockParam struct {
	text     string // its type, as messages show it
	name     string
	sizes    counts   // of what it is called with
	either   []counts // one of which is enough, if its type is a Variant
	any      bool     // whether it may take anything
	optional bool
	hidden   bool // messages do not show it
}

// ParseSignature reads parameters of the form "Integer radix; Any args*; Callable[1, 2]
// &block?". Behind a name ? means that the argument may be left out, * that there may be
// any number, + that there is one at least. A lambda has & before its name; the name - is
// none.
func ParseSignature(params string, lookup types.Lookup) Signature {
	var s Signature
	for param := range strings.SplitSeq(params, ";") {
		param = strings.TrimSpace(param)
		if param == "" {
			continue
		}
		at := strings.LastIndexByte(param, ' ')
		text, name := param[:at], param[at+1:]
		bare := strings.TrimRight(name, "?*+")
		if bare == "-" { // it has no name
			bare, name = "", name[1:]
		}
		if block, ok := strings.CutPrefix(bare, "&"); ok {
			s.TakeBlock(text, block, name != bare, lookup)
			continue
		}
		s.Take(Param{bare, mustType(text, lookup)}, strings.TrimPrefix(name, bare))
	}
	return s
}

// Take adds a parameter behind those that there are. The mark is what stands behind its name
// for [ParseSignature]: ?, * or +, or nothing.
func (s *Signature) Take(p Param, mark string) {
	s.params = append(s.params, p)
	switch mark {
	case "":
		s.sizes = counts{s.sizes.least + 1, s.sizes.most + 1}
	case "?":
		s.sizes.most++
	case "*":
		s.sizes.most = many
	case "+":
		s.sizes = counts{s.sizes.least + 1, many}
	}
}

// TakeBlock makes the signature take a lambda, whose type is Callable with or without
// parameters, or a name that lookup knows, which may be nil.
func (s *Signature) TakeBlock(text, name string, optional bool, lookup types.Lookup) {
	s.block = parseBlock(text, name, optional, lookup)
}

func parseBlock(text, name string, optional bool, lookup types.Lookup) *blockParam {
	b := &blockParam{name: name, optional: optional, sizes: counts{0, many}}
	if local := strings.ToLower(text); lookup != nil && lookup(local) != nil {
		// Puppet shows such a type only if the lambda may be left out.
		text = lookup(local).String()
		b.hidden = !optional
	}
	b.text = text
	if list, ok := parameters(text, "Variant"); ok { // which Puppet does not show either
		b.hidden = !optional
		for i, one := range list {
			sizes, known := callableSizes(one)
			if b.any = !known; b.any {
				return b
			}
			if b.either = append(b.either, sizes); i == 0 {
				b.sizes = sizes
			}
			b.sizes = b.sizes.hull(sizes)
		}
		return b
	}
	sizes, known := callableSizes(text)
	if b.any = !known; known {
		b.sizes = sizes
	}
	return b
}

// parameters returns those of a type of a name.
func parameters(text, name string) (list []string, ok bool) {
	inner, ok := strings.CutPrefix(text, name+"[")
	if !ok || !strings.HasSuffix(inner, "]") {
		return nil, false
	}
	return splitParts(strings.TrimSuffix(inner, "]")), true
}

// callableSizes returns how many arguments a lambda of a type Callable is called with; it is
// false if the type has nothing about that.
func callableSizes(text string) (counts, bool) {
	parts, ok := parameters(text, "Callable")
	if !ok {
		return counts{}, false
	}
	if inner, returns := strings.CutPrefix(parts[0], "["); returns { // behind it stands what it returns
		if parts = splitParts(strings.TrimSuffix(inner, "]")); parts[0] == "" {
			return counts{}, true
		}
	}
	// Types come first, one for each argument, and then how many there may be.
	isNumber := func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil || part == "default"
	}
	at := len(parts)
	for at > 0 && len(parts)-at < 2 && isNumber(parts[at-1]) {
		at--
	}
	sizes := counts{at, at}
	if at < len(parts) {
		sizes.least, _ = strconv.Atoi(parts[at]) // default is 0
		sizes.most = many
	}
	if at+2 == len(parts) && parts[at+1] != "default" {
		sizes.most, _ = strconv.Atoi(parts[at+1])
	}
	return sizes, true
}

// splitParts splits at commas that are not within brackets.
func splitParts(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(list[from:i]))
				from = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(list[from:]))
}

// at returns the parameter that takes an argument.
func (s *Signature) at(i int) Param { return s.params[min(i, len(s.params)-1)] }

// takes reports whether a function accepts arguments and a lambda.
func (s *Signature) takes(args []data.Value, block *Lambda) bool {
	return s.sizes.has(len(args)) && s.wrong(args) < 0 && s.blockProblem(block) == nil
}

// wrong returns the first argument that a parameter does not take, or -1.
func (s *Signature) wrong(args []data.Value) int {
	for i, v := range args {
		if t := s.at(i).Type; t != nil && !Accepts(t, v) {
			return i
		}
	}
	return -1
}

// String returns the parameters as messages show them.
func (s *Signature) String() string {
	var out []string
	for i, p := range s.params {
		text, mark := "Any", ""
		if p.Type != nil {
			text = p.Type.String()
		}
		switch {
		case s.sizes.most == many && i == len(s.params)-1 && s.sizes.least == len(s.params):
			mark = "+"
		case s.sizes.most == many && i == len(s.params)-1:
			mark = "*"
		case i >= s.sizes.least:
			mark = "?"
			if inner, ok := strings.CutPrefix(text, "Optional["); ok {
				text = strings.TrimSuffix(inner, "]")
			}
		}
		out = append(out, text+" "+p.Name+mark)
	}
	if b := s.block; b != nil && !b.hidden {
		mark := ""
		if b.optional {
			mark = "?"
		}
		out = append(out, b.text+" "+b.name+mark)
	}
	return strings.Join(out, ", ")
}

// A problemKind is why a signature takes no arguments. Their order is that in which
// problems of several signatures are looked at to make one of them.
type problemKind uint8

const (
	wrongCount problemKind = iota
	missingBlock
	unexpectedBlock
	wrongType
)

// A problem is one reason.
type problem struct {
	kind          problemKind
	at            string // "", " parameter 'x'", " block"
	expected, got counts
	accepts       types.Type // of a wrong type
	value         data.Value
}

// String returns the text, which begins with a blank, unless there are several lines.
func (p *problem) String() string {
	switch p.kind {
	case wrongCount:
		plural := "s"
		if e := p.expected; e.least == 1 && (e.most == 1 || e.most == many) || e.least == 0 && e.most == 1 {
			plural = ""
		}
		return p.at + " expects " + p.expected.phrase("no") + " argument" + plural + ", got " + p.got.phrase("none")
	case missingBlock:
		return p.at + " expects a block"
	case unexpectedBlock:
		return p.at + " does not expect a block"
	}
	return strings.Join(p.lines(), "\n ")
}

// lines returns what is wrong, a line for each reason, with a blank before it.
func (p *problem) lines() []string {
	if p.kind != wrongType {
		return []string{p.String()}
	}
	at := strings.TrimPrefix(p.at, " ")
	text := Mismatch(at, p.accepts, p.value)
	if text == "" { // one signature refused the value, another one a later value
		text = types.Unfit(at, p.accepts, p.value)
	}
	all := strings.Split(text, "\n ")
	for i, line := range all {
		all[i] = " " + strings.TrimSpace(line)
	}
	return all
}

// alone returns the one line that stands for a problem: the only one, or the only one
// about a type. Else it is false. Rule LANG-TYPE-31.
func (p *problem) alone() (string, bool) {
	all := p.lines()
	if len(all) == 1 {
		return all[0], true
	}
	of := ofTypes(all)
	if len(of) != 1 {
		return "", false
	}
	return of[0], true
}

// ofTypes returns those of the lines that are about a type: not those about keys and sizes.
func ofTypes(lines []string) (out []string) {
	for _, line := range lines {
		if !strings.Contains(line, " expects a value for key ") && !strings.Contains(line, " unrecognized key ") && !strings.Contains(line, " expects size to be ") {
			out = append(out, line)
		}
	}
	return out
}

// Mismatch is types.Mismatch that knows iterators.
func Mismatch(subject string, t types.Type, v data.Value) string {
	it, ok := v.Rich().(*Iterator)
	if !ok {
		return types.Mismatch(subject, t, v)
	}
	of := types.Normalize(it.Element())
	if strings.HasPrefix(t.String(), "Variant[") {
		of = types.Normalize(of) // Puppet makes one mismatch of several, and their types simpler
	}
	element, _, _ := strings.Cut(of.String(), "[")
	// The words are those about another value that is of no other type.
	text := types.Mismatch(subject, t, types.OfDefault())
	return strings.TrimSuffix(text, "Default") + "Iterator[" + element + "]"
}

// argumentProblem returns what is wrong with arguments: with their number, or with the
// first that is.
func (s *Signature) argumentProblem(args []data.Value) *problem {
	if !s.sizes.has(len(args)) {
		return &problem{kind: wrongCount, expected: s.sizes, got: counts{len(args), len(args)}}
	}
	for i, v := range args { // Puppet describes types of arguments, also where values decided
		p, of := s.at(i), TypeOf(v)
		if p.Type != nil && !types.Assignable(p.Type, of) && types.MismatchOf("", p.Type, of) != "" {
			return &problem{kind: wrongType, at: " parameter '" + p.Name + "'", accepts: p.Type, value: v}
		}
	}
	return nil
}

func (s *Signature) blockProblem(block *Lambda) *problem {
	switch {
	case block == nil && (s.block == nil || s.block.optional):
		return nil
	case block == nil:
		return &problem{kind: missingBlock}
	case s.block == nil:
		return &problem{kind: unexpectedBlock}
	}
	got := block.sizes()
	enough := func(c counts) bool {
		return got.has(c.least) && (got.most == many || c.most != many && c.most <= got.most)
	}
	if s.block.any || len(s.block.either) == 0 && enough(s.block.sizes) || slices.ContainsFunc(s.block.either, enough) {
		return nil
	}
	return &problem{kind: wrongCount, at: " block", expected: s.block.sizes, got: got}
}

// rejection describes why none of the signatures of a function takes arguments and a
// lambda. The subject is the function, in quotes, or the word block. Rule LANG-TYPE-31.
func rejection(subject string, signatures []*Signature, args []data.Value, block *Lambda) string {
	problems := make([]*problem, len(signatures))
	blocks := make([]*problem, len(signatures))
	for i, s := range signatures {
		problems[i], blocks[i] = s.argumentProblem(args), s.blockProblem(block)
	}
	if slices.Contains(problems, nil) { // otherwise lambdas are not looked at
		switch {
		case !slices.Contains(blocks, nil):
			problems = blocks
		default:
			for i, p := range problems {
				if p == nil {
					problems[i] = blocks[i]
				}
			}
		}
	}
	if one := merged(problems); one != nil {
		if text, ok := one.alone(); ok {
			return subject + text
		}
	}
	begin, indent := "The function "+subject+" was called with arguments it does not accept. It expects one of:\n  ", "  "
	if len(signatures) == 1 {
		begin, indent = subject+" expects ", ""
	}
	var lines []string
	for i, s := range signatures {
		lines = append(lines, indent+"("+s.String()+")")
		if problems[i] != nil {
			for _, text := range problems[i].lines() {
				lines = append(lines, indent+"  rejected:"+text)
			}
		}
	}
	return begin + strings.TrimPrefix(strings.Join(lines, "\n"), indent)
}

// merged returns the one problem that all of them are, or nil.
func merged(problems []*problem) *problem {
	var all []*problem
	for _, p := range problems {
		if p != nil {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	out := *all[0]
	if len(all) == 1 {
		return &out
	}
	if len(all) < len(problems) {
		return nil
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, p.lines()...)
	}
	if out.kind == wrongType && len(ofTypes(lines)) != len(all) {
		return nil
	}
	for _, p := range all[1:] {
		if p.kind != out.kind || p.at != out.at {
			return nil
		}
		out.expected = out.expected.hull(p.expected)
		if p.kind == wrongType {
			out.accepts = either(out.accepts, p.accepts)
		}
	}
	return &out
}

// either returns the type that accepts what one of two does.
func either(a, b types.Type) types.Type {
	v, err := types.Parametrize(richTypes()["Variant"], []data.Value{types.OfType(a), types.OfType(b)})
	if err != nil {
		return a
	}
	t, _ := types.AsType(v)
	return t
}
