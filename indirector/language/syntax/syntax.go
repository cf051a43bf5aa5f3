// Package syntax reads the Puppet language: manifests and EPP templates become
// trees, and what is wrong with them is reported in Puppet's words and at
// Puppet's places, as puppet parser validate has them.
//
//	src := &syntax.Source{File: "site.pp", Text: "notice 1 +"}
//	prog, report := syntax.Parse(src, syntax.Options{})
//	// prog is nil; report.Failure is "Syntax error at end of input (file: site.pp)"
//
// A source goes through three hands. The [scanner] finds tokens, as the parser
// asks for them, since what a character means may depend on the tokens before
// it. The [parser] is a recursive descent with one table of precedences; it
// builds the tree that Puppet builds, node by node, because messages name nodes
// and their places. The [checker] looks at every node of the tree, and collects
// all problems.
//
// Trees do not change and may be shared. The package knows no values and
// evaluates nothing; it imports nothing of this project. The rules LANG-LEX,
// LANG-GRAM and LANG-CHK are implemented here, and parts of LANG-ERR.
package syntax
