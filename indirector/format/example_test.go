package format_test

import (
	"fmt"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

func Example() {
	json, _ := format.ByName("json")
	i, notes, err := format.Intern(json, "facts", []byte(`{"name":"web01","values":{"kernel":"Linux"}}`), format.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	facts := i.(*model.Facts)
	fmt.Println(facts.Name, facts.Get("kernel").Str(), len(notes))

	yaml, _ := format.ByName("yaml")
	b, _ := format.Render(yaml, facts)
	fmt.Print(string(b))

	_, _, err = format.Intern(json, "node", []byte(`{"environment":"production"}`), format.Options{})
	fmt.Println(err)
	// Output:
	// web01 Linux 0
	// --- !ruby/object:Puppet::Node::Facts
	// name: web01
	// values:
	//   kernel: Linux
	// Could not intern from json: No name provided in serialized data
}
