package syntax

import "strings"

// value wants a node that has a value. Rule LANG-CHK-08.
func (c *checker) value(n Node) {
	switch n := n.(type) {
	case *Unary:
		c.value(n.Expr)
	case *Paren:
		c.value(n.Expr)
	case *Text:
		c.value(n.Expr)
	case *Render:
		c.value(n.Expr)
	case *Collect, *Class, *Define, *Function, *NodeDefinition, *TypeAlias, *TypeMapping, *TypeDefinition:
		c.err(n, "Invalid use of expression. %s does not produce a value", upperALabel(n))
	}
}

func (c *checker) values(all []Node) {
	for _, n := range all {
		c.value(n)
	}
}

func (c *checker) checkBinary(n *Binary) {
	switch n.Op {
	case "=":
		c.checkTarget(n.Left)
		c.value(n.Right)
	case "+=", "-=": // Rule LANG-CHK-03.
		c.err(n, "The operator '%s' is no longer supported. See http://links.puppet.com/remove-plus-equals", n.Op)
	case "->", "~>", "<-", "<~":
		c.related(n.Left)
		c.related(n.Right)
	default:
		c.value(n.Left)
		c.value(n.Right)
	}
}

// related wants what a relationship may have: also a collector.
func (c *checker) related(n Node) {
	if _, ok := n.(*Collect); !ok {
		c.value(n)
	}
}

// checkTarget wants variables on the left side of an assignment. Rules LANG-CHK-01
// and LANG-CHK-02.
func (c *checker) checkTarget(n Node) {
	switch n := n.(type) {
	case *Variable:
		if isMatchVariable(n.Name) {
			c.err(n, "Illegal attempt to assign to the numeric match result variable '$%s'. Numeric variables are not assignable", n.Name)
		}
		if strings.Contains(n.Name, "::") {
			c.err(n, "Illegal attempt to assign to '%s'. Cannot assign to variables in other namespaces", n.Name)
		}
	case *Access:
		c.err(n, "Illegal attempt to assign via [index/key]. Not an assignable reference")
	case *Array:
		for _, v := range n.Values {
			c.checkTarget(v)
		}
	default:
		c.err(n, "Illegal attempt to assign to '%s'. Not an assignable reference", aLabel(n))
	}
}

// checkBlock looks for the first statement that does nothing. Rules LANG-CHK-05
// and LANG-CHK-06.
func (c *checker) checkBlock(b *Block) {
	if isUntitled(b) {
		c.err(b, "This expression is invalid. Did you try declaring a '%s' resource without a title?", b.Statements[0].(*Name).Value)
		return
	}
	for _, n := range b.Statements[:len(b.Statements)-1] {
		if isIdle(n) {
			c.err(n, "This %s has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)", label(n))
			return
		}
	}
}

// isUntitled reports whether a node is a name and a hash, which only look like a
// resource.
func isUntitled(n Node) bool {
	b, ok := n.(*Block)
	if !ok || len(b.Statements) != 2 {
		return false
	}
	_, name := b.Statements[0].(*Name)
	_, hash := b.Statements[1].(*Hash)
	return name && hash
}

// checkLast looks at what a class, define or node ends with. Rule LANG-CHK-05.
func (c *checker) checkLast(body, in Node) {
	last := body
	if b, ok := body.(*Block); ok {
		last = b.Statements[len(b.Statements)-1]
	}
	if last != nil && isIdle(last) && !isUntitled(last) {
		c.err(last, "This %s has no effect. %s can not end with a value-producing expression without other effect", label(last), upperALabel(in))
	}
}

// isIdle reports whether a node has no effect but its value. Nothing has none.
func isIdle(n Node) bool {
	switch n := n.(type) {
	case nil, *Nop, *Undef, *Default, *Boolean, *Integer, *Float, *String, *Regexp, *Name, *TypeName, *Reserved, *Variable,
		*Concat, *Text, *Heredoc, *Array, *Hash, *Unary, *Access, *Member, *Selector:
		return true
	case *Binary:
		switch n.Op { // a match sets $0
		case "=", "+=", "-=", "=~", "!~", "->", "~>", "<-", "<~":
			return false
		}
		return true
	case *Paren:
		return isIdle(n.Expr)
	case *Block:
		return allIdle(n.Statements)
	case *If:
		return isIdle(n.Test) && isIdle(n.Then) && isIdle(n.Else)
	case *Case:
		for _, o := range n.Options {
			if !allIdle(o.Values) || !isIdle(o.Then) {
				return false
			}
		}
		return isIdle(n.Test)
	}
	return false
}

func allIdle(all []Node) bool {
	for _, n := range all {
		if !isIdle(n) {
			return false
		}
	}
	return true
}
