package store

// field reads a field of the line.
func (s *scanner) field(name string, l *line) {
	switch name {
	case "t":
		from := s.at
		s.raw()
		s.odd = s.odd || l.Time.UnmarshalJSON(s.b[from:s.at]) != nil
	case "steps":
		objects(s, &l.Steps, s.step)
	case "spans":
		objects(s, &l.Spans, s.span)
	case "faults":
		objects(s, &l.Faults, s.fault)
	case "primary":
		objects(s, &l.Primary, s.choice)
	case "caches":
		objects(s, &l.Caches, s.choice)
	case "options":
		objects(s, &l.Options, s.pair)
	case "flags":
		s.strings(&l.Flags)
	case "notes":
		s.strings(&l.Notes)
	case "noted":
		s.strings(&l.About)
	case "changes":
		s.strings(&l.Changes)
	case "cwritten":
		l.CacheWrote = s.boolean()
	case "touched":
		l.Touched = s.boolean()
	case "direct": // means nothing here
		s.boolean()
	case "thread": // likewise
		s.num()
	case "trace":
		l.Trace = s.id()
	case "begin":
		l.Begin = s.id()
	case "route":
		l.Route = s.id()
	case "parent":
		l.Parent = s.id()
	case "took":
		l.Took = s.num()
	case "at":
		l.At = s.num()
	case "held":
		l.Held = s.num()
	default:
		if text := l.textOf(name); text != nil {
			*text = s.text()
		} else {
			s.odd = true
		}
	}
}

// textOf returns the text of a line that has a name, or nil.
func (l *line) textOf(name string) *string {
	switch name {
	case "verb":
		return &l.Verb
	case "ind":
		return &l.Indirection
	case "key":
		return &l.Key
	case "env":
		return &l.Environment
	case "run":
		return &l.Run
	case "caller":
		return &l.Caller
	case "out":
		return &l.Outcome
	case "served":
		return &l.Served
	case "terminus":
		return &l.Terminus
	case "cache":
		return &l.Cache
	case "setby":
		return &l.SetBy
	case "csetby":
		return &l.CacheSetBy
	case "origin":
		return &l.Origin
	case "fault":
		return &l.Fault
	case "pstep":
		return &l.ParentStep
	case "traceparent":
		return &l.Traceparent
	case "app":
		return &l.Application
	case "error":
		return &l.Error
	}
	return nil
}

func (s *scanner) step(name string, q *lineStep) {
	switch name {
	case "step":
		q.Step = s.text()
	case "is":
		q.Is = s.text()
	case "why":
		q.Why = s.text()
	case "about":
		q.About = s.text()
	case "at":
		q.At = s.num()
	case "took":
		q.Took = s.num()
	default:
		s.odd = true
	}
}

func (s *scanner) span(name string, x *lineSpan) {
	switch name {
	case "id":
		x.ID = int(s.num())
	case "parent":
		x.Parent = int(s.num())
	case "step":
		x.Step = s.text()
	case "kind":
		x.Kind = s.text()
	case "name":
		x.Name = s.text()
	case "is":
		x.Is = s.text()
	case "err":
		x.Err = s.text()
	case "at":
		x.At = s.num()
	case "took":
		x.Took = s.num()
	case "attrs":
		objects(s, &x.Attrs, s.pair)
	default:
		s.odd = true
	}
}

func (s *scanner) pair(name string, p *linePair) {
	switch name {
	case "name":
		p.Name = s.text()
	case "value":
		p.Value = s.text()
	default:
		s.odd = true
	}
}

func (s *scanner) fault(name string, f *lineFault) {
	switch name {
	case "origin":
		f.Origin = s.text()
	case "step":
		f.Step = s.text()
	case "message":
		f.Message = s.text()
	case "hidden":
		f.Hidden = s.text()
	case "path":
		f.Path = s.text()
	case "shown":
		f.Shown = s.boolean()
	default:
		s.odd = true
	}
}

func (s *scanner) choice(name string, c *lineChoice) {
	switch name {
	case "terminus":
		c.Terminus = s.text()
	case "by":
		c.By = s.text()
	case "place":
		c.Place = s.text()
	case "setting":
		c.Setting = s.text()
	case "symbol":
		c.Symbol = s.boolean()
	default:
		s.odd = true
	}
}
