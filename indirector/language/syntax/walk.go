package syntax

// children visits the nodes directly below a node, in the order in which Puppet
// reports problems.
func children(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Text:
		visit(n.Expr)
	case *Paren:
		visit(n.Expr)
	case *Unary:
		visit(n.Expr)
	case *Render:
		visit(n.Expr)
	case *Binary:
		visit(n.Left)
		visit(n.Right)
	case *Member:
		visit(n.Left)
		visit(n.Name)
	case *Access:
		visit(n.Left)
		visitAll(n.Keys, visit)
	case *Array:
		visitAll(n.Values, visit)
	case *Hash:
		visitAll(n.Entries, visit)
	case *Entry:
		visit(n.Key)
		visit(n.Value)
	case *Concat:
		visitAll(n.Segments, visit)
	case *Heredoc:
		visit(n.Text)
	case *Call:
		visit(n.Functor)
		visitAll(n.Args, visit)
		visitLambda(n.Lambda, visit)
	case *Method:
		visit(n.Functor)
		visitAll(n.Args, visit)
		visitLambda(n.Lambda, visit)
	case *Block:
		visitAll(n.Statements, visit)
	case *If:
		visit(n.Test)
		visitSome(visit, n.Then, n.Else)
	case *Case:
		visit(n.Test)
		visitAll(n.Options, visit)
	case *Option:
		visitAll(n.Values, visit)
		visitSome(visit, n.Then)
	case *Selector:
		visit(n.Left)
		visitAll(n.Choices, visit)
	case *Choice:
		visit(n.Match)
		visit(n.Value)
	default:
		childrenOfDefinition(n, visit)
	}
}

// childrenOfDefinition is children for resources and what is defined.
func childrenOfDefinition(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Resource:
		visit(n.Type)
		visitAll(n.Bodies, visit)
	case *ResourceBody:
		visit(n.Title)
		visitAll(n.Ops, visit)
	case *Defaults:
		visit(n.Type)
		visitAll(n.Ops, visit)
	case *Override:
		visit(n.Resource)
		visitAll(n.Ops, visit)
	case *Attribute:
		visit(n.Value)
	case *Collect:
		visit(n.Type)
		visit(n.Query)
		visitAll(n.Ops, visit)
	case *Query:
		visitSome(visit, n.Expr)
	case *Lambda:
		visitAll(n.Params, visit)
		visitSome(visit, n.Body, n.Returns)
	case *Parameter:
		visitSome(visit, n.Default, n.Type)
	case *Class:
		visitAll(n.Params, visit)
		visitSome(visit, n.Body)
	case *Define:
		visitAll(n.Params, visit)
		visitSome(visit, n.Body)
	case *Function:
		visitAll(n.Params, visit)
		visitSome(visit, n.Body, n.Returns)
	case *NodeDefinition:
		visitSome(visit, n.Parent)
		visitAll(n.Hosts, visit)
		visitSome(visit, n.Body)
	case *TypeAlias:
		visit(n.Type)
	case *TypeMapping:
		visit(n.Type)
		visit(n.Mapping)
	case *TypeDefinition:
		visitSome(visit, n.Body)
	case *EPP:
		visitSome(visit, n.Body)
	}
}

func visitAll[N Node](all []N, visit func(Node)) {
	for _, n := range all {
		visit(n)
	}
}

// visitSome visits those that are there.
func visitSome(visit func(Node), some ...Node) {
	for _, n := range some {
		if n != nil {
			visit(n)
		}
	}
}

func visitLambda(l *Lambda, visit func(Node)) {
	if l != nil {
		visit(l)
	}
}

// Walk visits a node and all below it. What visit returns is whether to go on below the
// node it was given.
func Walk(n Node, visit func(Node) bool) {
	if visit(n) {
		children(n, func(child Node) { Walk(child, visit) })
	}
}
