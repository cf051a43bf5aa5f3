package hiera

import (
	"errors"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/hocon"
)

// builtin are Puppet's own data_hash functions.
var builtin = map[string]func(c *Context, path string) (*file, error){
	"yaml_data": yamlData, "json_data": jsonData, "hocon_data": hoconData,
}

// fileReader returns what reads the file of a location for a built-in function.
func fileReader(function string) func(*Context) (*file, error) {
	return func(c *Context) (*file, error) {
		path, err := c.path()
		if err != nil {
			return nil, err
		}
		return builtin[function](c, path)
	}
}

// BuiltIn returns what Puppet's own data_hash function of a name makes of a file, for
// functions that call it.
func (c *Context) BuiltIn(function, path string) (data.Value, error) {
	read := builtin[function]
	if read == nil {
		return data.Value{}, argumentError("there is no function %s", function)
	}
	f, err := read(c, path)
	if err != nil {
		return data.Value{}, err
	}
	return f.value, nil
}

// path returns the file that the function is to read. Rule HIERA-DATA-02.
func (c *Context) path() (string, error) {
	if c.location == nil || c.location.uri || c.level.options.Len() > 0 {
		return "", argumentError("'%s' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this data_hash function", c.level.function)
	}
	return c.location.where, nil
}

func yamlData(c *Context, path string) (*file, error) {
	return c.level.layer.c.yamlHash(path)
}

// yamlHash reads a YAML file. What is no hash is empty. Rule HIERA-DATA-01.
func (c *Compile) yamlHash(path string) (*file, error) {
	return c.load(path, func(content []byte) (data.Value, error) {
		v, err := parseYAML(content, path)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); ok {
				return v, lookupError("Unable to parse %s", e.Message)
			}
			return v, err
		}
		if v.Kind() == data.Hash {
			return stringKeys(v), nil
		}
		message := path + ": file does not contain a valid yaml hash"
		if empty := v.Kind() == data.Bool && !v.Bool(); c.strict() == "error" && !empty {
			return v, lookupError("%s", message)
		}
		c.warnings.warn("%s", message)
		return data.OfHash(nil), nil
	})
}

func jsonData(c *Context, path string) (*file, error) {
	return c.level.layer.c.load(path, func(content []byte) (data.Value, error) {
		v, err := format.DecodeJSON(content, format.Limits{})
		if err != nil {
			return v, lookupError("Unable to parse (%s): %s", path, err)
		}
		return v, nil
	})
}

// hoconData is Puppet's data_hash function for HOCON. Rule HIERA-DATA-02.
func hoconData(c *Context, path string) (*file, error) {
	return c.level.layer.c.load(path, func(content []byte) (data.Value, error) {
		v, err := hocon.Decode(string(content))
		if err != nil {
			return v, lookupError("Unable to parse (%s): %s", path, err)
		}
		return v, nil
	})
}
