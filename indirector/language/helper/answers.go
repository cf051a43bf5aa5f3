package helper

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// errNotHere reports a question for what there is only while a function runs.
var errNotHere = errors.New("a file of functions cannot ask for that while it is read")

// A missing is what functions cannot have here at all: no rescue of theirs sees it.
type missing struct{ error }

// answer answers a question of the child.
func (u *use) answer(m map[string]any) []byte {
	n, _ := integer(m["n"])
	v, err := u.asked(m)
	b := fmt.Appendf(nil, `{"n":%d,`, n)
	if err == nil {
		var line []byte
		if line, err = u.append(append(b, `"value":`...), v); err == nil {
			return append(line, '}')
		}
	}
	_, isMissing := err.(missing)
	b = append(b, fmt.Sprintf(`"failed":{"id":%d,"jump":%t,"missing":%t,"message":`, len(u.failed), eval.IsJump(err), isMissing)...)
	u.failed = append(u.failed, err)
	return append(appendJSON(b, strings.ToValidUTF8(err.Error(), "?")), "}}"...)
}

// asked returns what the child asks for.
func (u *use) asked(m map[string]any) (data.Value, error) {
	name, _ := m["name"].(string)
	given, err := u.value(m["args"])
	if err != nil {
		return given, err
	}
	args := given.List()
	first := data.Value{}
	if len(args) > 0 {
		first = args[0]
	}
	if m["ask"] == "log" {
		u.log(m, first.Text())
		return data.Value{}, nil
	}
	if u.c == nil {
		return data.Value{}, missing{errNotHere}
	}
	c, host := u.c, u.host
	if m["top"] == true {
		c = c.AtTop()
		host = u.o.Host(c)
	}
	switch m["ask"] {
	case "variable":
		if v, ok := host.Variable(name); ok {
			return data.OfList([]data.Value{v}), nil
		}
		if m["wanted"] == true {
			return data.OfList(nil), c.NotFound(name)
		}
		return data.OfList(nil), nil
	case "variables":
		return data.OfHash(host.Variables()), nil
	case "set":
		if !host.Set(name, first) {
			return first, eval.Errorf("Cannot reassign variable '$%s'", name)
		}
		return first, nil
	case "owner":
		return data.OfString(c.Scope().Owner.String()), nil
	case "names":
		all, err := host.Names(name)
		return data.OfStrings(all), err
	case "call":
		return u.callFor(c, host, m, name, args)
	case "yield":
		return c.Block.Call(args...)
	case "member":
		return u.member(c, m, name, args)
	case "older":
		b := c.Loaded(name)
		return data.OfBool(b != nil && b.Old), nil
	case "resource":
		if u.o.Resource == nil || len(args) < 2 {
			return data.Value{}, nil
		}
		v, _ := u.o.Resource(c, first.Text(), args[1].Text())
		return v, nil
	case "defaults":
		if u.o.Defaults == nil {
			break
		}
		return u.o.Defaults(c, name), nil
	case "find":
		below, _ := m["below"].(string)
		if u.o.Find != nil {
			if path, ok := u.o.Find(c, below, first.Text()); ok {
				return data.OfString(path), nil
			}
		}
		return data.Value{}, nil
	}
	return data.Value{}, missing{fmt.Errorf("%v is not answered here", m["ask"])}
}

// callFor calls a function for Ruby, which may give it a block.
func (u *use) callFor(c *eval.Invocation, host Host, m map[string]any, name string, args []data.Value) (data.Value, error) {
	if block := u.block(m); block != nil || c.Block != nil {
		with := *c
		with.Block = block
		host = u.o.Host(&with)
	}
	older := m["older"] == true
	v, known, err := host.Call(name, args, older)
	switch {
	case err != nil:
		return v, err
	case older && !known: // then it is as if there were no such method
		return data.Value{}, nil
	case older:
		return data.OfList([]data.Value{v}), nil
	case !known:
		if from, ok := m["from"].(string); ok {
			return v, eval.Errorf("Function %s(): Unknown function: '%s'", from, name)
		}
		return v, eval.Errorf("Unknown function '%s'", name)
	}
	return v, nil
}

// block returns the block that a question comes with as a lambda, or nil.
func (u *use) block(m map[string]any) *eval.Lambda {
	id, ok := integer(m["block"])
	if !ok {
		return nil
	}
	least, most := 0, 0
	takes, _ := m["takes"].([]any)
	for _, kind := range takes {
		switch kind {
		case "req":
			least, most = least+1, most+1
		case "opt":
			if most++; m["lambda"] != true { // a block that is given too little has nil there
				least++
			}
		case "rest":
			most = 1 << 20
		}
	}
	if most >= 1<<20 {
		most = -1
	}
	return eval.NewLambda(least, most, func(args []data.Value) (data.Value, error) {
		b, err := u.appendList(fmt.Appendf(nil, `{"do":"block","block":%d,"args":`, id), args)
		if err != nil {
			return data.Value{}, err
		}
		x, _, err := u.run(append(b, '}'))
		if err != nil {
			return data.Value{}, err
		}
		return u.value(x)
	})
}

// member calls a function of a value that stays here.
func (u *use) member(c *eval.Invocation, m map[string]any, name string, args []data.Value) (data.Value, error) {
	n, _ := m["handle"].(json.Number)
	i, err := strconv.Atoi(string(n))
	if err != nil || i < 0 || i >= len(u.handles) {
		return data.Value{}, errNoValue
	}
	of := u.handles[i]
	if r, ok := of.Rich().(eval.Receiver); ok {
		call := *c
		call.Args, call.Block, call.Self = args, u.block(m), r
		if v, known, err := r.Receive(&call, name); known {
			return v, err
		}
	} else if v, ok := types.Member(of, name); ok && len(args) == 0 {
		return v, nil
	}
	return data.Value{}, eval.Errorf("undefined method `%s' for %s", name, of.Rich())
}

// log logs a message as Puppet or as the scope of the call.
func (u *use) log(m map[string]any, message string) {
	level, _ := m["level"].(string)
	switch {
	case u.c == nil && u.o.Log != nil:
		u.o.Log(eval.LogEntry{Level: level, Message: message})
	case u.c == nil:
	case m["scope"] == true:
		u.c.Log(level, message)
	default:
		u.c.LogPlain(level, message)
	}
}

func integer(x any) (int, bool) {
	n, ok := x.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil
}
