package dns

import "indirtui/indirector/model"

// Read returns the node of texts; an error is one of the node.
func Read(texts [][]byte) (*model.Node, error) {
	r, err := read("a.example.com.", texts)
	if err != nil {
		return nil, err
	}
	return r.Model("a", "production"), nil
}

// IsHostName reports whether a key is asked for.
func IsHostName(key string) bool { return isHostName(key) }
