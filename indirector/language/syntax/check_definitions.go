package syntax

import (
	"regexp"
	"strings"
)

// What Puppet calls itself. Rule LANG-CHK-10.
var reservedTypeNames = setOf("type any unit scalar boolean numeric integer float collection array hash tuple struct variant optional enum " +
	"regexp pattern runtime init object sensitive semver semverrange string timestamp timespan typeset")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

func (c *checker) checkDefinition(n Node) {
	switch n := n.(type) {
	case *Class:
		c.checkNamed(n, n.Name)
		c.checkBody(n, n.Params, n.Body)
	case *Define:
		c.checkNamed(n, n.Name)
		c.checkBody(n, n.Params, n.Body)
	case *Function:
		c.checkNamed(n, n.Name)
		c.checkReturns(n, n.Returns)
		c.checkUnique(n.Params)
	case *TypeAlias:
		c.checkPlace(n)
		if strings.HasPrefix(n.Name, "::") {
			c.badName(n, n.Name)
		}
		c.checkReturns(n, n.Type)
	case *TypeMapping:
		c.checkPlace(n)
		c.checkMapping(n)
	case *TypeDefinition:
		c.checkPlace(n)
		c.unsupported(n)
	case *NodeDefinition:
		for _, h := range n.Hosts {
			c.checkHost(h, n)
		}
		c.checkPlace(n)
		c.checkLast(n.Body, n)
		if n.Parent != nil {
			c.err(n.Parent, "Node inheritance is not supported in Puppet >= 4.0.0. See http://links.puppet.com/puppet-node-inheritance-deprecation")
		}
	}
}

// checkTop allows definitions only at the top of a file of a module. Rule
// LANG-CHK-11.
func (c *checker) checkTop(body Node) {
	if c.options.Allowed == nil {
		return
	}
	statements := []Node{body}
	if b, ok := body.(*Block); ok {
		statements = b.Statements
	}
	for _, n := range statements {
		switch n.(type) {
		case *Class, *Define, *Function, *TypeAlias, *TypeMapping, *TypeDefinition, *Nop:
		default:
			c.err(n, "This %s is unacceptable as a top level construct in this location", label(n))
		}
	}
}

// checkPlace wants definitions at the top or in classes, and functions and types at
// the top only. Rule LANG-CHK-04.
func (c *checker) checkPlace(n Node) {
	for level := 1; ; level++ {
		switch c.around(level).(type) {
		case nil, *Class:
			return
		case *Block:
			if c.around(level+1) != nil && onlyAtTop(n) {
				c.err(n, "%s may only appear at toplevel", upperALabel(n))
				return
			}
		default:
			c.err(n, "Classes, definitions, and nodes may only appear at toplevel or inside other classes")
			return
		}
	}
}

func onlyAtTop(n Node) bool {
	switch n.(type) {
	case *Function, *TypeAlias, *TypeDefinition:
		return true
	}
	return false
}

var definitionName = regexp.MustCompile(`\A[a-z]\w*(?:::[a-z]\w*)*\z`)

// checkNamed looks at place and name of a class, define or function. Rules
// LANG-CHK-10 and LANG-CHK-11.
func (c *checker) checkNamed(n Node, name string) {
	c.checkPlace(n)
	if !definitionName.MatchString(name) {
		c.badName(n, name)
	}
	if c.options.Allowed != nil && !c.options.Allowed(name) {
		c.err(n, "Unacceptable location. The name '%s' is unacceptable in file '%s'", name, c.source.File)
	}
	if reservedTypeNames[name] {
		c.err(n, "The name: '%s' is already defined by Puppet and can not be used as the name of %s.", name, aLabel(n))
	}
	c.checkFuture(n, name)
}

func (c *checker) badName(n Node, name string) {
	c.err(n, "Unacceptable name. The name '%s' is unacceptable as the name of %s", name, aLabel(n))
}

func (c *checker) checkFuture(n Node, name string) {
	if name == "plan" {
		c.add(Deprecation, n, "Use of future reserved word: 'plan'")
	}
}

// checkBody looks at parameters and end of a class or define. Rule LANG-CHK-12.
func (c *checker) checkBody(n Node, params []*Parameter, body Node) {
	c.checkNoRest(params, n)
	c.checkUnique(params)
	for _, p := range params {
		if p.Name == "name" || p.Name == "title" {
			c.err(p, "The parameter $%s redefines a built in parameter in the %s", p.Name, label(n))
		}
	}
	if body == nil {
		return
	}
	c.checkLast(body, n)
}

func (c *checker) checkNoRest(params []*Parameter, in Node) {
	for _, p := range params {
		if p.Rest {
			c.err(p, "Parameter $%s has 'captures rest' - not supported in %s", p.Name, aLabel(in))
		}
	}
}

func (c *checker) checkRestLast(params []*Parameter) {
	for i, p := range params {
		if p.Rest && i < len(params)-1 {
			c.err(p, "Parameter $%s is not last, and has 'captures rest'", p.Name)
		}
	}
}

func (c *checker) checkUnique(params []*Parameter) {
	seen := make(map[string]bool, len(params))
	for _, p := range params {
		if seen[p.Name] {
			c.err(p, "The parameter '%s' is declared more than once in the parameter list", p.Name)
		}
		seen[p.Name] = true
	}
}

// checkParameter looks at name and default. Rule LANG-CHK-12.
func (c *checker) checkParameter(p *Parameter) {
	if digits := strings.TrimPrefix(p.Name, "0x"); digits != "" && allDigits(digits) {
		c.err(p, "The numeric parameter name '$%s' cannot be used (clashes with numeric match result variables)", p.Name)
	}
	if p.Name == "" || !isLower(p.Name[0]) || wordEnd(p.Name, 0) < len(p.Name) {
		c.err(p, `Illegal parameter name. The given name '%s' does not conform to the naming rule /^[a-z_]\w*$/`, p.Name)
	}
	if p.Default != nil {
		c.checkNoAssignment(p.Default)
	}
}

// checkNoAssignment looks for assignments, but not in lambdas.
func (c *checker) checkNoAssignment(n Node) {
	switch n := n.(type) {
	case *Lambda:
		return
	case *Binary:
		if n.Op == "=" || n.Op == "+=" || n.Op == "-=" {
			c.err(n, "Assignment not allowed here")
			return
		}
	}
	children(n, c.checkNoAssignment)
}

// checkReturns wants the name of a type, perhaps with keys. Rule LANG-CHK-19.
func (c *checker) checkReturns(n, returns Node) {
	if returns == nil {
		return
	}
	left := returns
	if a, ok := returns.(*Access); ok {
		left = a.Left
	}
	if name, ok := left.(*TypeName); ok {
		c.checkFuture(returns, strings.ToLower(name.Value))
		return
	}
	c.unacceptable(returns, "a type reference", n)
}

func (c *checker) unsupported(n Node) {
	c.err(n, "Expressions of type %s are not supported in this version of Puppet", aLabel(n))
}

// checkMapping wants a type of Runtime and what it is mapped to: a type, or a
// pattern and its replacement if the left side has them, too.
func (c *checker) checkMapping(n *TypeMapping) {
	left := n.Type.(*Access)
	if name, ok := left.Left.(*TypeName); !ok || name.Value != "Runtime" {
		c.unsupported(n)
		return
	}
	pattern := len(left.Keys) == 2 && isReplacement(left.Keys[1])
	right := n.Mapping
	if a, ok := right.(*Access); ok {
		right = a.Left
	}
	_, isType := right.(*TypeName)
	switch {
	case isReplacement(n.Mapping) && !pattern, !isReplacement(n.Mapping) && !isType && !pattern:
		c.err(n, "Illegal type mapping. Expected a Type on the left side, got %s", upperALabel(n))
	case !isReplacement(n.Mapping) && pattern:
		c.err(n, "Illegal type mapping. Expected a Tuple[Regexp,String] on the left side, got %s", upperALabel(n))
	}
}

// isReplacement reports whether a node is a pattern and what replaces it.
func isReplacement(n Node) bool {
	a, ok := n.(*Array)
	if !ok || len(a.Values) != 2 {
		return false
	}
	_, pattern := a.Values[0].(*Regexp)
	_, text := a.Values[1].(*String)
	return pattern && text
}

// checkHost looks at what matches a node. Rule LANG-CHK-16.
func (c *checker) checkHost(n Node, in Node) {
	switch n := n.(type) {
	case *String:
		if strings.ContainsFunc(n.Value, func(r rune) bool { return r != '-' && r != '.' && (r > 'z' || !isWord(byte(r))) }) {
			c.err(n, "The hostname '%s' contains illegal characters (only letters, digits, '_', '-', and '.' are allowed)", n.Value)
		}
	case *Concat:
		for _, s := range n.Segments {
			if t, ok := s.(*Text); ok {
				c.err(t.Expr, "An interpolated expression is not allowed in a hostname of a node")
				return
			}
		}
	case *Default, *Regexp:
	default:
		c.unacceptable(n, "hostname", in)
	}
}
