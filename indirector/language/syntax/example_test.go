package syntax_test

import (
	"fmt"

	"indirtui/indirector/language/syntax"
)

func ExampleParse() {
	prog, _ := syntax.Parse(&syntax.Source{Text: "notice 1 + 2"}, syntax.Options{})
	fmt.Println(syntax.PN(prog, false))
	fmt.Print(syntax.Print(prog))

	_, report := syntax.Parse(&syntax.Source{File: "site.pp", Text: "notice 1 +"}, syntax.Options{})
	fmt.Println(report.Failure)
	// Output:
	// (invoke {:functor (qn "notice") :args [(+ 1 2)]})
	// notice(1 + 2)
	// Syntax error at end of input (file: site.pp)
}
