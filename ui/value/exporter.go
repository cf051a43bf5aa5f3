package value

import (
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// errNoCommand is the reason where no catalog was recorded as it was stored.
var errNoCommand = errors.New("no catalog was recorded as it was stored: let Puppet Server store through this program, as proxy --puppetdb does")

// maxSearches is how many recorded searches of a type are read for a resource.
const maxSearches = 200

// An Exported is who exports a resource, and what brought it.
type Exported struct {
	Ref, Node string
	Command   session.Row // the last save of the node's catalog that is recorded and did not fail
}

func (e *Exported) String() string {
	return fmt.Sprintf("%s is exported by %s: #%d save catalog %s %s", e.Ref, e.Node, e.Command.ID, e.Command.Key, e.Command.Outcome)
}

// ExporterOf finds who exports a resource. Node is the exporter, or "" if that is not
// known: then the last recorded search that found the resource has it, or the compile
// of the catalog that t, which may be nil, was answered with. It may take long.
func ExporterOf(log session.Log, t *traces.Trace, ref, node string) (*Exported, error) {
	if node == "" {
		node = found(log, ref)
	}
	if node == "" && t != nil {
		node = collected(log, t, ref)
	}
	if node == "" {
		return nil, fmt.Errorf("no search of %s is recorded that found it, so its exporter is not known", ref)
	}
	view, err := session.Find(log, "ind=catalog verb=save key="+query.Quote(node))
	if err != nil {
		return nil, err
	}
	for i := view.Len() - 1; i >= 0; i-- {
		if row, ok := log.Row(view.At(i)); ok && !row.Outcome.Failed() {
			return &Exported{Ref: ref, Node: node, Command: row}, nil
		}
	}
	return nil, fmt.Errorf("%s is exported by %s, and no save of the catalog of %s is recorded", ref, node, node)
}

// found is the node of which the last recorded search has the resource, or "".
func found(log session.Log, ref string) string {
	typ, _, ok := strings.Cut(ref, "[")
	if !ok {
		return ""
	}
	view, err := session.Find(log, "ind=resource verb=search key="+query.Quote(typ))
	if err != nil {
		return ""
	}
	for i := view.Len() - 1; i >= max(view.Len()-maxSearches, 0); i-- {
		t, err := log.Trace(view.At(i))
		if err != nil || t.Value().Model == "" {
			continue
		}
		body, err := log.Body(t.Value())
		if err != nil {
			continue
		}
		root, err := tree.Parse(body)
		if err != nil {
			continue
		}
		for _, n := range root.Children() {
			if n.Identity() == ref {
				return certnameOf(n)
			}
		}
	}
	return ""
}

// certnameOf is the exporter that a row of a search names, or "".
func certnameOf(n *tree.Node) string {
	if name := n.Get("certname"); name != nil && name.Kind() == '"' {
		return name.Text()
	}
	return ""
}

// collected is the exporter of a resource that the compile of a catalog has, or "".
func collected(log session.Log, t *traces.Trace, ref string) string {
	doc := DocumentOf(log, t)
	if doc == nil {
		return ""
	}
	r := doc.Find(ref)
	if r == nil {
		return ""
	}
	for _, a := range r.Attributes {
		for _, s := range a.Sources {
			if node, ok := strings.CutPrefix(s.Level, "of "); ok {
				return node
			}
		}
	}
	return ""
}

// lookForCommands finds whether anything is recorded that may have brought a resource.
func (v *Value) lookForCommands() tea.Cmd {
	if v.value.Model != "catalog" && v.trace.Indirection != "resource" {
		return nil
	}
	return screen.Later(func() tea.Msg {
		view, err := session.Find(v.env.Log, "ind=catalog verb=save")
		return screen.For{Screen: v, Msg: commandsFound{err == nil && view.Len() > 0}}
	})
}

// exporterDisabled is the reason why no exporter is looked for.
func (v *Value) exporterDisabled() string {
	ref, _ := v.exported()
	switch {
	case v.value.Model != "catalog" && v.trace.Indirection != "resource":
		return "this is no catalog, and no list of resources"
	case ref == "":
		return "there is no resource here"
	case !v.commands:
		return errNoCommand.Error()
	}
	return ""
}

// exported is the resource around the cursor, and its exporter if the row of a search
// names that.
func (v *Value) exported() (ref, node string) {
	if v.mode != asTree {
		return "", ""
	}
	if ref, _ = ResourceOf(v.focus()); ref != "" {
		return ref, ""
	}
	for n := v.focus(); n != nil; n = n.Parent {
		if ref = n.Identity(); ref != "" {
			return ref, certnameOf(n)
		}
	}
	return "", ""
}

// exporter shows the request that brought the resource around the cursor.
func (v *Value) exporter() tea.Cmd {
	env, t := v.env, v.trace
	ref, node := v.exported()
	return func() tea.Msg {
		e, err := ExporterOf(env.Log, t, ref, node)
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return screen.Open{Request: e.Command.ID, New: true}
	}
}
