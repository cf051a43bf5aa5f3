package transaction

import (
	"context"
	"path"
	"slices"

	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// An evalGenerator is a provider that makes resources when one is evaluated, besides
// those that it makes at the start of a run.
type evalGenerator interface {
	EvalGenerate(ctx context.Context, s providers.System, r *types.Resource) ([]*types.Resource, error)
}

// depthFirst reports whether what r generates comes before it.
func (r *Resource) depthFirst() bool { return r.Type == "Tidy" }

// generate adds what a resource makes at the start of a run, and what that makes. Rule
// RES-GRAPH-06.
func (t *transaction) generate(r *Resource) error {
	p, ok := t.providerOf(r).(providers.Generator)
	if !ok || !r.RAL.Type.Generates {
		return nil
	}
	made, err := p.Generate(t.ctx, t.System, r.RAL)
	if err != nil {
		t.generateFailed(r, "generate", err)
		return nil
	}
	children := t.declaredOr(made)
	if !r.depthFirst() {
		slices.Reverse(children)
	}
	for _, child := range children {
		if err := t.addGenerated(r, child); err != nil {
			return err
		}
		generatedEdge(r, child)
		if err := t.generate(child); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) generateFailed(r *Resource, how string, err error) {
	t.failedToGenerate = true
	t.log.resource(r, "err", withCause("Failed to generate additional resources using '"+how+"': "+err.Error(), err))
}

// declaredOr takes the resources of the catalog in the place of equal ones.
func (t *transaction) declaredOr(made []*types.Resource) []*Resource {
	all := make([]*Resource, len(made))
	for i, ral := range made {
		all[i] = new(Resource)
		all[i].adopt(ral)
		if declared := t.catalog.find(types.Ref{Type: all[i].Type, Title: all[i].Title}); declared != nil {
			all[i] = declared
		}
	}
	return all
}

// addGenerated puts a resource beside the one that made it, unless it is there.
func (t *transaction) addGenerated(parent, child *Resource) error {
	c := t.catalog
	if c.find(types.Ref{Type: child.Type, Title: child.Title}) != nil {
		return nil
	}
	for _, tag := range parent.Tags {
		if !slices.Contains(child.Tags, tag) {
			child.Tags = append(slices.Clip(child.Tags), tag)
		}
	}
	child.RAL.Catalog = c
	index := slices.Index(c.resources, parent)
	if !parent.depthFirst() {
		index++
	}
	if err := c.insert(child, index); err != nil {
		return err
	}
	if container := parent.Parent(); container != nil {
		contain(container, child)
	}
	for _, k := range relationships {
		if err := c.check(child, k.kind, k.in); err != nil {
			return err
		}
	}
	return nil
}

// generatedEdge makes what was generated wait for what made it, unless one of them asks
// for the other already.
func generatedEdge(parent, child *Resource) {
	if parent.names(child) || child.names(parent) {
		return
	}
	first, second := parent, child
	if parent.depthFirst() {
		first, second = child, parent
	}
	first.waits = append(first.waits, relation{Before, []types.Ref{{Type: second.Type, Title: second.Title}}})
}

// names reports whether a relationship of r names another resource.
func (r *Resource) names(other *Resource) bool {
	for _, w := range r.waits {
		for _, ref := range w.to {
			if ref.String() == other.Ref() {
				return true
			}
		}
	}
	return false
}

// evalGenerate adds what a resource makes when its turn comes, and reports whether the
// graph has more edges now. Rule RES-GRAPH-07.
func (t *transaction) evalGenerate(r *Resource) (bool, error) {
	made, err := t.evalGenerated(r)
	if err != nil {
		t.generateFailed(r, "eval_generate", err)
		return false, nil
	}
	if len(made) == 0 {
		return false, nil
	}
	children := t.declaredOr(made)
	byName := map[string]*Resource{}
	for _, child := range children {
		child.priority = t.graph.within(r)
		if err := t.addGenerated(r, child); err != nil {
			return false, err
		}
		t.graph.add(child)
		byName[child.RAL.Name()] = child
	}
	t.enclose(r, children, byName)
	for _, child := range children {
		parent := nearest(child, byName)
		if parent == nil {
			parent = r
		}
		t.relateUnlessReverse(parent, child, false)
	}
	return true, nil
}

func (t *transaction) evalGenerated(r *Resource) ([]*types.Resource, error) {
	if r.RAL == nil || !r.RAL.Type.EvalGenerates {
		return nil, nil
	}
	switch p := t.providerOf(r).(type) {
	case evalGenerator:
		return p.EvalGenerate(t.ctx, t.System, r.RAL)
	case providers.Generator:
		if !r.RAL.Type.Generates {
			return p.Generate(t.ctx, t.System, r.RAL)
		}
	}
	return nil, nil
}

// enclose makes a whit that is done when the resource and all that it made are done,
// and what waited for the resource wait for that.
func (t *transaction) enclose(r *Resource, children []*Resource, byName map[string]*Resource) {
	w := newWhit(r, completedPrefix, r.Title)
	w.Tags = append([]string{"whit"}, r.Tags...)
	t.graph.addAt(w, t.graph.within(r))
	for _, b := range r.out {
		if b.to.RAL != nil && byName[b.to.RAL.Name()] != nil {
			continue
		}
		for _, e := range b.edges {
			t.graph.relate(&Edge{From: w, To: e.To, Kind: e.Kind, Refresh: e.Refresh, By: e.By})
		}
		t.graph.drop(b)
	}
	for _, child := range children {
		t.relateUnlessReverse(child, w, true)
	}
	t.relateUnlessReverse(r, w, true)
}

func (t *transaction) relateUnlessReverse(from, to *Resource, refresh bool) {
	if from.depthFirst() {
		from, to = to, from
	}
	if t.graph.has(to, from) {
		t.log.resource(from, "debug", "Skipping automatic relationship to "+to.String())
		return
	}
	t.graph.relate(&Edge{From: from, To: to, Kind: Generated, Refresh: refresh, By: from})
}

// nearest is the nearest directory of a file that was generated along with it, or nil.
func nearest(child *Resource, byName map[string]*Resource) *Resource {
	if child.Type != "File" {
		return nil
	}
	for dir := path.Dir(child.RAL.Name()); ; dir = path.Dir(dir) {
		if p := byName[dir]; p != nil && p != child {
			return p
		}
		if dir == "/" || dir == "." {
			return nil
		}
	}
}
