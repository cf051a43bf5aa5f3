// Package origins keeps where the attributes of the resources of a catalog are from: which
// line of which manifest set them, which level of data, what was overruled.
//
// A compile fills a [Table], which costs it little and holds no value. Recordings and
// screens have it as a [Document], without secrets; [Document.Why] puts that beside the
// values of one resource.
package origins

import "unsafe"

// A Kind is how an attribute got its value.
type Kind uint8

// The kinds.
const (
	Unknown    Kind = iota
	Literal         // the resource expression
	Default         // Type { … }
	Override        // Ref[…] { … }
	Collector       // Type <| … |> { … }
	Parameter       // the default of a parameter
	Data            // hiera
	Classifier      // the node classifier
	Function        // create_resources and require
	Container       // a metaparameter of what contains the resource
	Relation        // ->
	Exported        // what another node exports
)

var names = [...]string{
	"unknown", "resource expression", "resource default", "override", "collector", "default of the parameter", "data",
	"node classifier", "function", "container", "relationship", "exported resource",
}

// String returns the name of k.
func (k Kind) String() string { return names[k] }

// An Origin is where the value of an attribute came from.
type Origin struct {
	Kind  Kind
	File  string // "" if it is not known
	Line  int    // from 1; 0 if it is not known
	Level string // of data, the level that has it; of several, all with their files and lines; "of NODE" of what that exports
	Lost  int32  // the number of the origin of the value that was replaced; 0 if there was none
}

// A Table is where everything in a catalog is from. It is not changed any more when the
// catalog is there.
type Table struct {
	Resources []Resource
	Origins   []Origin // the first stands for none
}

// A Resource is one that was declared.
type Resource struct {
	Type, Title string
	File        string // "" if it is not known
	Line        int    // from 1; 0 if it is not known
	Virtual     bool   // the node does not get it
	Absent      bool   // the catalog does not have it
	Container   int32  // one more than the number of the resource that contains it; 0 if none does
	Attributes  []Attribute
}

// An Attribute has the number of its origin.
type Attribute struct {
	Name   string
	Origin int32
}

// Weight estimates the memory of the table, in bytes. A nil Table has none.
func (t *Table) Weight() int64 {
	if t == nil {
		return 0
	}
	n := len(t.Resources)*int(unsafe.Sizeof(Resource{})) + len(t.Origins)*int(unsafe.Sizeof(Origin{}))
	for i := range t.Resources {
		n += len(t.Resources[i].Attributes) * int(unsafe.Sizeof(Attribute{}))
	}
	for i := range t.Origins {
		n += len(t.Origins[i].Level)
	}
	return int64(n)
}
