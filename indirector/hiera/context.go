package hiera

import (
	"os"

	"indirtui/indirector/data"
)

// What functions of levels may ask their context for. Rule HIERA-DATA-05.

// Environment returns the name of the environment.
func (c *Context) Environment() string { return c.level.layer.c.o.Environment }

// Module returns the name of the module whose layer asks, or "".
func (c *Context) Module() string { return c.level.layer.module }

// Interpolate replaces the expressions in all texts of a value. Rule HIERA-INT-01.
func (c *Context) Interpolate(v data.Value) (data.Value, error) { return c.in.interpolate(v, true) }

// Explaining reports whether a record is kept, which texts can be added to.
func (c *Context) Explaining() bool { return c.in.record != nil }

// Explain adds a text to what is being recorded.
func (c *Context) Explain(text string) { c.in.text(text) }

// FileData returns what parse makes of a file, once while a compile lasts and the file does
// not change. Functions share it, whatever their parse does.
func (c *Context) FileData(path string, parse func(content string) (data.Value, error)) (data.Value, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return data.Value{}, readError(path, err)
	}
	read := c.level.layer.c.read
	if f := read[path]; f != nil && f.is(stat) {
		return f.value, nil
	}
	content, err := readRegular(path, stat)
	if err != nil {
		return data.Value{}, err
	}
	v, err := parse(string(content))
	if err == nil {
		read[path] = &file{stat: stat, value: v}
	}
	return v, err
}
