package sqlstore

import (
	"cmp"
	"context"
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
	number     int64 // by which edges of the node name it; 0 is none yet
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

// An endsRow is an edge with the numbers of its resources.
type endsRow struct {
	source   int64
	relation string
	target   int64
}

type tagRow struct{ tag, typ, title string }

// What a catalog fills.
var (
	parameterSets    = target{"parameter_sets", []string{"hash text", "value json"}, " ON CONFLICT DO NOTHING RETURNING hash, id"}
	declarations     = target{"declarations", []string{"hash text", "tags json", "file text"}, " ON CONFLICT DO NOTHING RETURNING hash, id"}
	catalogResources = target{
		"catalog_resources",
		[]string{
			"node bigint", "number bigint", "type text", "title text", "parameters bigint", "declaration bigint",
			"exported boolean", "line bigint", "kind text", "sensitive json",
		},
		` ON CONFLICT (node, number) DO UPDATE SET parameters = excluded.parameters, declaration = excluded.declaration,
		exported = excluded.exported, line = excluded.line, kind = excluded.kind, sensitive = excluded.sensitive`,
	}
	catalogEdges = target{"catalog_edges", []string{"node bigint", "source bigint", "relation text", "target bigint"}, ""}
	exportedTags = target{"exported_tags", []string{"node bigint", "tag text", "type text", "title text"}, " ON CONFLICT DO NOTHING"}
)

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
	slices.SortStableFunc(n.resources, compareResources)
	n.resources = slices.CompactFunc(n.resources, func(a, b resourceRow) bool {
		same := a.typ == b.typ && a.title == b.title
		if same {
			k.deviate("a resource that is there twice: %s[%s]", a.typ, a.title)
		}
		return same
	})
}

func compareResources(a, b resourceRow) int {
	return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.title, b.title))
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
	n.edges = make([]edgeRow, 0, v.Len())
	for _, x := range v.List() {
		var e edgeRow
		source, target := x.Get("source"), x.Get("target")
		e.sourceType, e.sourceTitle = valid(source.Get("type").Text()), valid(source.Get("title").Text())
		e.targetType, e.targetTitle = valid(target.Get("type").Text()), valid(target.Get("title").Text())
		e.relation = valid(x.Get("relationship").Text())
		if !slices.Contains(relations, e.relation) {
			k.deviate("an edge of no kind: %.60q", e.relation)
		}
		whole := true
		for _, end := range [][2]string{{e.sourceType, e.sourceTitle}, {e.targetType, e.targetTitle}} {
			if !there[end] {
				whole = false
				k.deviate("an edge to nowhere: %s[%s] is not in the catalog", end[0], end[1])
			}
		}
		if whole {
			n.edges = append(n.edges, e)
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
		return n.putHeader(ctx, tx, node.id)
	}
	if err := n.putResources(ctx, tx, node.id, known, o); err != nil {
		return err
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

// putResources writes the resources that differ from those that are there, and numbers
// all.
func (n *catalog) putResources(ctx context.Context, tx *conn, node int64, known bool, o *Outcome) error {
	old := map[[2]string]resourceRow{}
	var last int64
	if known {
		rows, err := tx.resources(ctx, node)
		if err != nil {
			return err
		}
		old = make(map[[2]string]resourceRow, len(rows))
		for _, r := range rows {
			old[[2]string{r.typ, r.title}] = r
			last = max(last, r.number)
		}
	}
	var changed []*resourceRow
	var tags, untagged []tagRow
	for i := range n.resources {
		r := &n.resources[i]
		key := [2]string{r.typ, r.title}
		was, there := old[key]
		delete(old, key)
		if r.number = was.number; !there {
			last++
			r.number = last
		}
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
	for _, was := range old {
		gone = append(gone, []any{was.number})
		untagged = append(untagged, was.exportedTags()...)
	}
	o.Gone = len(gone)
	if err := tx.remove(ctx, catalogResources.table, []string{"number bigint"}, node, gone); err != nil {
		return err
	}
	if err := tx.putChanged(ctx, node, changed); err != nil {
		return err
	}
	return tx.putTags(ctx, node, tags, untagged)
}

// putChanged writes resources that have their numbers.
func (c *conn) putChanged(ctx context.Context, node int64, changed []*resourceRow) error {
	parameters, declared := make(map[string][]any, len(changed)), make(map[string][]any)
	of := make([]string, len(changed)) // the hashes of declarations
	for i, r := range changed {
		of[i] = r.declaration()
		parameters[r.set], declared[of[i]] = []any{r.set, r.parameters}, []any{of[i], r.tags, r.file}
	}
	sets, err := c.shared(ctx, parameterSets, parameters)
	if err != nil {
		return err
	}
	places, err := c.shared(ctx, declarations, declared)
	if err != nil {
		return err
	}
	rows := make([][]any, len(changed))
	for i, r := range changed {
		rows[i] = []any{node, r.number, r.typ, r.title, sets[r.set], places[of[i]], r.exported, r.line, r.kind, r.sensitive}
	}
	return c.put(ctx, catalogResources, rows, nil)
}

// declaration returns the hash of what resources of one declaration have alike.
func (r *resourceRow) declaration() string {
	var d digest
	d.add(r.tags, text(r.file))
	return d.sum()
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
		rows = append(rows, []any{node, t.tag, t.typ, t.title})
	}
	if err := c.remove(ctx, exportedTags.table, exportedTags.columns[1:], node, gone); err != nil {
		return err
	}
	return c.put(ctx, exportedTags, rows, nil)
}

// resources returns those of a node, without their parameters.
func (c *conn) resources(ctx context.Context, node int64) (rows []resourceRow, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var r resourceRow
		err := scan(&r.number, &r.typ, &r.title, &r.set, &r.tags, &r.exported, &r.file, &r.line, &r.kind, &r.sensitive)
		rows = append(rows, r)
		return err
	}, `SELECT r.number, r.type, r.title, p.hash, d.tags, r.exported, d.file, r.line, r.kind, r.sensitive
		FROM catalog_resources r JOIN parameter_sets p ON p.id = r.parameters JOIN declarations d ON d.id = r.declaration WHERE r.node = ?`, node)
	return rows, err
}

// putEdges writes the edges that differ from those that are there. Resources have their
// numbers.
func (n *catalog) putEdges(ctx context.Context, tx *conn, node int64, known bool, o *Outcome) error {
	old := map[endsRow]bool{}
	if known {
		err := tx.each(ctx, func(scan func(...any) error) error {
			var e endsRow
			err := scan(&e.source, &e.relation, &e.target)
			old[e] = true
			return err
		}, "SELECT source, relation, target FROM catalog_edges WHERE node = ?", node)
		if err != nil {
			return err
		}
	}
	numbers := make(map[[2]string]int64, len(n.resources))
	for i := range n.resources {
		numbers[[2]string{n.resources[i].typ, n.resources[i].title}] = n.resources[i].number
	}
	var rows, gone [][]any
	for _, e := range n.edges {
		ends := endsRow{numbers[[2]string{e.sourceType, e.sourceTitle}], e.relation, numbers[[2]string{e.targetType, e.targetTitle}]}
		if old[ends] {
			delete(old, ends)
			continue
		}
		rows = append(rows, []any{node, ends.source, ends.relation, ends.target})
	}
	for e := range old {
		gone = append(gone, []any{e.source, e.relation, e.target})
	}
	o.EdgesNew, o.EdgesGone = len(rows), len(gone)
	if !known {
		o.EdgesNew = 0 // that all of them are new is not worth a word
	}
	if err := tx.remove(ctx, catalogEdges.table, catalogEdges.columns[1:], node, gone); err != nil {
		return err
	}
	return tx.put(ctx, catalogEdges, rows, nil)
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
