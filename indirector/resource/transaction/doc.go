// Package transaction applies catalogs: it makes instances of their resources, orders
// them in a graph, and walks it. It decides what is to be done, which providers then
// do, and writes down what became of it as Puppet's report does.
//
//	c, err := transaction.Convert(catalog, types.All(), host, log)
//	g, err := c.Relate(nil)
//	g.Expand()
//	err = g.Walk(transaction.Walker{Visit: print})
//
// [Run] does all of this, and applies each resource in fixed steps (see [Step]), which
// an [Observer] sees.
package transaction
