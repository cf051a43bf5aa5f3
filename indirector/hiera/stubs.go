package hiera

func hoconData(c *Context) (*file, error) { return nil, lacking("hocon_data") }
