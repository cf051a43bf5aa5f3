package hiera

import "indirtui/indirector/data"

func hoconData(c *Context) (*file, error) { return nil, lacking("hocon_data") }

func eyamlLookupKey(c *Context, k key) (data.Value, bool, error) {
	return data.Value{}, false, lacking("eyaml_lookup_key")
}
