package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
)

// A catalog is one that is to be stored.
type catalog struct {
	certname        string
	header          []any // environment, version, catalog_uuid, transaction_uuid, code_id, job_id
	producer        *string
	produced        stamp
	resources       []resourceRow // by type and title
	edges           []edgeRow     // in order
	hash, edgesHash string
}

// A resourceRow is one resource. Texts of JSON are as the store keeps them.
type resourceRow struct {
	typ, title string
	parameters string // JSON, by name
	set        string // the hash of parameters
	tags       string // JSON
	file       *string
	line       *int64
	kind       *string
	sensitive  *string // JSON; nil if none was
	exported   bool
}

type edgeRow struct{ sourceType, sourceTitle, relation, targetType, targetTitle string }

type tagRow struct{ tag, typ, title string }

// relations are the kinds of edges.
var relations = []string{"contains", "before", "required-by", "notifies", "subscription-of"}

// newCatalog reads the payload of a command. Rules PDB-CAT-01, PDB-CAT-02, PDB-CAT-06.
func newCatalog(c *command.Command, k *checker) *catalog {
	p := c.Payload
	n := &catalog{certname: nameIn(c), produced: stamp(c.Produced), producer: optional(p, "producer")}
	n.header = []any{
		optional(p, "environment"), optional(p, "version"), k.uuid(p, "catalog_uuid"), k.uuid(p, "transaction_uuid"),
		optional(p, "code_id"), optional(p, "job_id"),
	}
	k.key("certname", n.certname)
	n.readResources(p.Get("resources"), k)
	n.readEdges(p.Get("edges"), k)
	n.hash, n.edgesHash = hashOfResources(n.resources), hashOfEdges(n.edges)
	return n
}

// nameIn returns the certname of a payload, which counts, as for PuppetDB.
func nameIn(c *command.Command) string {
	if name := c.Payload.Get("certname").Text(); name != "" {
		return valid(name)
	}
	return valid(c.Certname)
}

func (n *catalog) readResources(v data.Value, k *checker) {
	if v.Kind() != data.List {
		k.refuse("its resources are no list but %v", v.Kind())
	}
	n.resources = make([]resourceRow, v.Len())
	var scratch []byte
	for i, r := range v.List() {
		scratch = n.resources[i].read(r, k, scratch)
	}
	slices.SortStableFunc(n.resources, func(a, b resourceRow) int {
		return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.title, b.title))
	})
	n.resources = slices.CompactFunc(n.resources, func(a, b resourceRow) bool {
		same := a.typ == b.typ && a.title == b.title
		if same {
			k.deviate("a resource that is there twice: %s[%s]", a.typ, a.title)
		}
		return same
	})
}

// read reads one resource. Scratch is memory to be used again.
func (r *resourceRow) read(v data.Value, k *checker, scratch []byte) []byte {
	var parameters, tags, sensitive data.Value
	for _, p := range v.Hash() {
		switch name, _ := p.Key.AsStr(); name {
		case "type":
			r.typ = k.key("type", p.Value.Text())
		case "title":
			r.title = p.Value.Text()
		case "parameters":
			parameters = p.Value
		case "tags":
			tags = p.Value
		case "exported":
			r.exported = p.Value.Bool()
		case "file":
			r.file = optional(v, "file")
		case "line":
			if p.Value.Kind() == data.Int {
				line := p.Value.Int()
				r.line = &line
			}
		case "kind":
			r.kind = optional(v, "kind")
		case "sensitive_parameters":
			sensitive = p.Value
		}
	}
	if r.typ == "" {
		k.refuse("a resource has no type: its title is %.60q", r.title)
	}
	// Both are in one index.
	r.title = strings.TrimPrefix(k.key("resource", r.typ+"\n"+r.title), r.typ+"\n")
	r.checkTags(tags, k)
	var err error
	if scratch, err = appendJSON(scratch[:0], data.OfHash(sortedByKey(parameters))); err != nil {
		k.refuse("the parameters of %s[%s] are no JSON: %v", r.typ, r.title, err)
	}
	r.parameters = string(scratch)
	r.set = digest{scratch}.sum()
	if scratch, err = appendJSON(scratch[:0], listOf(tags)); err != nil {
		k.refuse("the tags of %s[%s] are no JSON: %v", r.typ, r.title, err)
	}
	r.tags = string(scratch)
	if sensitive.Len() > 0 {
		if scratch, err = appendJSON(scratch[:0], sensitive); err == nil {
			text := string(scratch)
			r.sensitive = &text
		}
	}
	return scratch
}

// listOf returns a list, and an empty one for what is none.
func listOf(v data.Value) data.Value {
	if v.Kind() == data.List {
		return v
	}
	return data.OfList(nil)
}

// checkTags refuses the tags that PuppetDB refuses: the first rule is that of capital
// letters, which is the only one that Puppet breaks. Rule PDB-SEM-04.
func (r *resourceRow) checkTags(tags data.Value, k *checker) {
	for _, t := range tags.List() {
		tag := t.Text()
		switch i := strings.IndexFunc(tag, unicode.IsUpper); {
		case i >= 0:
			k.deviate("tags with capital letters: %s[%s] has '%s'", r.typ, r.title, tag)
		case !isTag(tag):
			k.deviate("tags of other characters than letters, digits, _ : . and -: %s[%s] has %.60q", r.typ, r.title, tag)
		}
		if r.exported {
			k.key("tag with its resource", tag+"\n"+r.typ+"\n"+r.title)
		}
	}
}

func isTag(tag string) bool {
	for i, r := range tag {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || r != ':' && r != '.' && r != '-') {
			return false
		}
	}
	return tag != ""
}

func (n *catalog) readEdges(v data.Value, k *checker) {
	there := make(map[[2]string]bool, len(n.resources))
	for i := range n.resources {
		there[[2]string{n.resources[i].typ, n.resources[i].title}] = true
	}
	n.edges = make([]edgeRow, v.Len())
	for i, x := range v.List() {
		e := &n.edges[i]
		source, target := x.Get("source"), x.Get("target")
		e.sourceType, e.sourceTitle = valid(source.Get("type").Text()), valid(source.Get("title").Text())
		e.targetType, e.targetTitle = valid(target.Get("type").Text()), valid(target.Get("title").Text())
		e.relation = valid(x.Get("relationship").Text())
		if !slices.Contains(relations, e.relation) {
			k.deviate("an edge of no kind: %.60q", e.relation)
		}
		for _, end := range [][2]string{{e.sourceType, e.sourceTitle}, {e.targetType, e.targetTitle}} {
			if !there[end] {
				k.deviate("an edge to nowhere: %s[%s] is not in the catalog", end[0], end[1])
			}
		}
	}
	slices.SortFunc(n.edges, compareEdges)
	n.edges = slices.Compact(n.edges)
}

func compareEdges(a, b edgeRow) int {
	return cmp.Or(cmp.Compare(a.sourceType, b.sourceType), cmp.Compare(a.sourceTitle, b.sourceTitle), cmp.Compare(a.relation, b.relation),
		cmp.Compare(a.targetType, b.targetType), cmp.Compare(a.targetTitle, b.targetTitle))
}

// hashOfResources returns the hash of all, which a check works out again.
func hashOfResources(all []resourceRow) string {
	d := digest{make([]byte, 0, 256*len(all))}
	for i := range all {
		r := &all[i]
		d.add(r.typ, r.title, r.set, r.tags, text(r.file), number(r.line), text(r.kind), text(r.sensitive), strconv.FormatBool(r.exported))
	}
	return d.sum()
}

func hashOfEdges(all []edgeRow) string {
	d := digest{make([]byte, 0, 128*len(all))}
	for _, e := range all {
		d.add(e.sourceType, e.sourceTitle, e.relation, e.targetType, e.targetTitle)
	}
	return d.sum()
}

// text returns an optional text, so that one that is missing differs from an empty one.
func text(s *string) string {
	if s == nil {
		return "-"
	}
	return "=" + *s
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// apply stores the catalog. Rules PDB-SEM-01, STORE-SQL-05.
func (n *catalog) apply(ctx context.Context, tx *conn, o *Outcome) error {
	node, err := tx.node(ctx, n.certname)
	if err != nil {
		return err
	}
	if err := tx.activate(ctx, &node, o); err != nil {
		return err
	}
	var produced stamp
	var hash, edgesHash string
	known, err := tx.one(ctx, []any{&produced, &hash, &edgesHash}, "SELECT produced, hash, edges_hash FROM catalogs WHERE node = ?", node.id)
	if err != nil {
		return err
	}
	if known && produced.time().After(n.produced.time()) {
		o.Result, o.Newer = Older, produced.time()
		return nil
	}
	o.What, o.Untouched = "resources", len(n.resources)
	if known && hash == n.hash && edgesHash == n.edgesHash {
		o.Result = Unchanged
	}
	if !known || hash != n.hash {
		if err := n.putResources(ctx, tx, node.id, known, o); err != nil {
			return err
		}
	}
	if !known || edgesHash != n.edgesHash {
		if err := n.putEdges(ctx, tx, node.id, known, o); err != nil {
			return err
		}
	}
	return n.putHeader(ctx, tx, node.id)
}

func (n *catalog) putHeader(ctx context.Context, tx *conn, node int64) error {
	args := append([]any{node}, n.header...)
	args = append(args, n.produced, stamp(tx.s.o.Now()), n.producer, n.hash, n.edgesHash)
	_, err := tx.exec(ctx, `INSERT INTO catalogs(node, environment, version, catalog_uuid, transaction_uuid, code_id, job_id, produced, stored, producer, hash, edges_hash)
		VALUES `+marks(1, len(args))+` ON CONFLICT (node) DO UPDATE SET
		environment = excluded.environment, version = excluded.version, catalog_uuid = excluded.catalog_uuid, transaction_uuid = excluded.transaction_uuid,
		code_id = excluded.code_id, job_id = excluded.job_id, produced = excluded.produced, stored = excluded.stored, producer = excluded.producer,
		hash = excluded.hash, edges_hash = excluded.edges_hash`, args...)
	return err
}

// putResources writes the resources that differ from those that are there.
func (n *catalog) putResources(ctx context.Context, tx *conn, node int64, known bool, o *Outcome) error {
	old := map[[2]string]resourceRow{}
	if known {
		rows, err := tx.resources(ctx, node)
		if err != nil {
			return err
		}
		old = make(map[[2]string]resourceRow, len(rows))
		for _, r := range rows {
			old[[2]string{r.typ, r.title}] = r
		}
	}
	var changed []*resourceRow
	var tags, untagged []tagRow
	for i := range n.resources {
		r := &n.resources[i]
		key := [2]string{r.typ, r.title}
		was, there := old[key]
		delete(old, key)
		switch {
		case there && was.same(r):
			continue
		case there:
			o.Changed++
		default:
			o.New++
		}
		changed = append(changed, r)
		tags = append(tags, r.exportedTags()...)
		untagged = append(untagged, was.exportedTags()...)
	}
	o.Untouched -= len(changed)
	gone := make([][]any, 0, len(old))
	for key, was := range old {
		gone = append(gone, []any{key[0], key[1]})
		untagged = append(untagged, was.exportedTags()...)
	}
	o.Gone = len(gone)
	if err := tx.remove(ctx, "resources", "type, title", node, gone); err != nil {
		return err
	}
	sets, err := tx.parameterSets(ctx, changed)
	if err != nil {
		return err
	}
	rows := make([][]any, len(changed))
	for i, r := range changed {
		rows[i] = []any{node, r.typ, r.title, sets[r.set], r.tags, r.exported, r.file, r.line, r.kind, r.sensitive}
	}
	err = tx.put(ctx, "INSERT INTO resources(node, type, title, parameters, tags, exported, file, line, kind, sensitive)", ` ON CONFLICT (node, type, title) DO UPDATE SET
		parameters = excluded.parameters, tags = excluded.tags, exported = excluded.exported, file = excluded.file, line = excluded.line,
		kind = excluded.kind, sensitive = excluded.sensitive`, rows)
	if err != nil {
		return err
	}
	return tx.putTags(ctx, node, tags, untagged)
}

// same reports whether two rows of one key are alike.
func (r *resourceRow) same(o *resourceRow) bool {
	return r.set == o.set && r.tags == o.tags && r.exported == o.exported && text(r.file) == text(o.file) && number(r.line) == number(o.line) &&
		text(r.kind) == text(o.kind) && text(r.sensitive) == text(o.sensitive)
}

// exportedTags returns the rows of exported_tags of a resource. Tags are compared
// without case. Rule PDB-SEM-05.
func (r *resourceRow) exportedTags() (rows []tagRow) {
	if !r.exported {
		return nil
	}
	tags, _ := decode(r.tags) // we have written it
	for _, t := range tags.List() {
		rows = append(rows, tagRow{strings.ToLower(t.Text()), r.typ, r.title})
	}
	return rows
}

func (c *conn) putTags(ctx context.Context, node int64, tags, untagged []tagRow) error {
	keep := make(map[tagRow]bool, len(tags))
	for _, t := range tags {
		keep[t] = true
	}
	var gone, rows [][]any
	for _, t := range untagged {
		if !keep[t] {
			gone = append(gone, []any{t.tag, t.typ, t.title})
		}
	}
	for _, t := range tags {
		rows = append(rows, []any{t.tag, t.typ, node, t.title})
	}
	if err := c.remove(ctx, "exported_tags", "tag, type, title", node, gone); err != nil {
		return err
	}
	return c.put(ctx, "INSERT INTO exported_tags(tag, type, node, title)", " ON CONFLICT DO NOTHING", rows)
}

// remove deletes rows of a node by the rest of their keys.
func (c *conn) remove(ctx context.Context, table, key string, node int64, rows [][]any) error {
	for len(rows) > 0 {
		n := portion(len(rows))
		args := []any{node}
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		values := "VALUES " + marks(n, len(rows[0]))
		if _, err := c.exec(ctx, "DELETE FROM "+table+" WHERE node = ? AND ("+key+") IN ("+values+")", args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// parameterSets returns the ids of the parameters of resources by their hash, and adds
// those that are new, in the order of their hashes: so two transactions never wait for
// each other. Rule STORE-SQL-10.
func (c *conn) parameterSets(ctx context.Context, of []*resourceRow) (map[string]int64, error) {
	values := make(map[string]string, len(of))
	var hashes []string
	for _, r := range of {
		if _, there := values[r.set]; !there {
			values[r.set] = r.parameters
			hashes = append(hashes, r.set)
		}
	}
	slices.Sort(hashes)
	ids := make(map[string]int64, len(hashes))
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(hashes), func(h string) bool { _, known := ids[h]; return known })
	}
	read := func(scan func(...any) error) error {
		var hash string
		var id int64
		err := scan(&hash, &id)
		ids[hash] = id
		return err
	}
	// Those that another transaction adds meanwhile are found in the second round.
	for round := range 2 {
		for part := range portions(missing()) {
			if err := c.each(ctx, read, "SELECT hash, id FROM parameter_sets WHERE hash IN "+marks(1, len(part)), part...); err != nil {
				return nil, err
			}
		}
		if round == 1 {
			break
		}
		for part := range portions(missing()) {
			args := make([]any, 0, 2*len(part))
			for _, h := range part {
				args = append(args, h, values[h.(string)])
			}
			err := c.each(ctx, read, "INSERT INTO parameter_sets(hash, value) VALUES "+marks(len(part), 2)+" ON CONFLICT DO NOTHING RETURNING hash, id", args...)
			if err != nil {
				return nil, err
			}
		}
		if len(missing()) == 0 {
			return ids, nil
		}
	}
	if left := missing(); len(left) > 0 {
		return nil, fmt.Errorf("the set of parameters %s does not stay", left[0])
	}
	return ids, nil
}

// portions yields texts in numbers that statements are kept for.
func portions(texts []string) func(yield func([]any) bool) {
	return func(yield func([]any) bool) {
		for len(texts) > 0 {
			n := portion(len(texts))
			part := make([]any, n)
			for i := range part {
				part[i] = texts[i]
			}
			if !yield(part) {
				return
			}
			texts = texts[n:]
		}
	}
}

// resources returns those of a node, by type and title, without their parameters.
func (c *conn) resources(ctx context.Context, node int64) (rows []resourceRow, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var r resourceRow
		err := scan(&r.typ, &r.title, &r.set, &r.tags, &r.exported, &r.file, &r.line, &r.kind, &r.sensitive)
		rows = append(rows, r)
		return err
	}, `SELECT r.type, r.title, p.hash, r.tags, r.exported, r.file, r.line, r.kind, r.sensitive
		FROM resources r JOIN parameter_sets p ON p.id = r.parameters WHERE r.node = ? ORDER BY r.type, r.title`, node)
	return rows, err
}

// putEdges writes the edges that differ from those that are there.
func (n *catalog) putEdges(ctx context.Context, tx *conn, node int64, known bool, o *Outcome) error {
	old := map[edgeRow]bool{}
	if known {
		rows, err := tx.edges(ctx, node)
		if err != nil {
			return err
		}
		for _, e := range rows {
			old[e] = true
		}
	}
	var rows, gone [][]any
	for _, e := range n.edges {
		if old[e] {
			delete(old, e)
			continue
		}
		rows = append(rows, append([]any{node}, e.values()...))
	}
	for e := range old {
		gone = append(gone, e.values())
	}
	o.EdgesNew, o.EdgesGone = len(rows), len(gone)
	if !known {
		o.EdgesNew = 0 // that all of them are new is not worth a word
	}
	if err := tx.remove(ctx, "edges", "source_type, source_title, relation, target_type, target_title", node, gone); err != nil {
		return err
	}
	return tx.put(ctx, "INSERT INTO edges(node, source_type, source_title, relation, target_type, target_title)", "", rows)
}

func (e edgeRow) values() []any {
	return []any{e.sourceType, e.sourceTitle, e.relation, e.targetType, e.targetTitle}
}

// edges returns those of a node, in order.
func (c *conn) edges(ctx context.Context, node int64) (rows []edgeRow, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var e edgeRow
		err := scan(&e.sourceType, &e.sourceTitle, &e.relation, &e.targetType, &e.targetTitle)
		rows = append(rows, e)
		return err
	}, `SELECT source_type, source_title, relation, target_type, target_title FROM edges WHERE node = ?
		ORDER BY source_type, source_title, relation, target_type, target_title`, node)
	return rows, err
}
