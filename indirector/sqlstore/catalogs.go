package sqlstore

import (
	"context"
	"fmt"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// Names returns the certnames of nodes that have something of a kind, "facts", "catalog"
// or "report", in order: of active nodes, or of all.
func (s *Store) Names(ctx context.Context, kind string, all bool) (names []string, err error) {
	table := map[string]string{"facts": "factsets", "catalog": "catalogs", "report": "reports"}[kind]
	if table == "" {
		return nil, fmt.Errorf("there are no names of %q in a store", kind)
	}
	text := "SELECT n.certname FROM nodes n WHERE EXISTS (SELECT 1 FROM " + table + " x WHERE x.node = n.id)"
	if !all {
		text += " AND n.deactivated IS NULL AND n.expired IS NULL"
	}
	err = s.look(ctx, func(c *conn) error {
		return c.each(ctx, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		}, text+" ORDER BY n.certname")
	})
	return names, s.failed("list names", err)
}

// A StoredCatalog is a catalog as it is stored: without what its command left out, such
// as Sensitive values, and with its resources by type and title.
type StoredCatalog struct {
	Made
	Catalog                *model.Catalog
	TransactionUUID, JobID string
	edges                  []edgeRow // of containment and of relations
}

// Catalog returns the catalog of a node, active or not; nil if there is none.
func (s *Store) Catalog(ctx context.Context, certname string) (found *StoredCatalog, err error) {
	ctx, end := s.asks(ctx, "catalog of "+certname)
	defer func() {
		answer := "nothing"
		if found != nil {
			answer = fmt.Sprintf("%d resources", len(found.Catalog.Resources))
		}
		end(answer, err)
	}()
	err = s.look(ctx, func(c *conn) error {
		found, err = c.catalog(ctx, certname)
		return err
	})
	return found, s.failed("find the catalog of "+certname, err)
}

func (c *conn) catalog(ctx context.Context, certname string) (*StoredCatalog, error) {
	var node int64
	var h storedColumns
	var version, uuid, code, transaction, job *string
	there, err := c.one(ctx, []any{&node, &h.environment, &version, &uuid, &code, &transaction, &job, &h.produced, &h.stored, &h.producer},
		`SELECT c.node, c.environment, c.version, c.catalog_uuid, c.code_id, c.transaction_uuid, c.job_id, c.produced, c.stored, c.producer
		FROM catalogs c JOIN nodes n ON n.id = c.node WHERE n.certname = ?`, certname)
	if err != nil || !there {
		return nil, err
	}
	found := &StoredCatalog{
		Made: *h.made(), TransactionUUID: or(transaction), JobID: or(job),
		Catalog: &model.Catalog{Name: certname, Version: data.OfString(or(version)), CatalogUUID: or(uuid), CodeID: or(code), Environment: or(h.environment), Format: 2},
	}
	err = c.each(ctx, func(scan func(...any) error) error {
		r, err := readStored(scan)
		found.Catalog.Resources = append(found.Catalog.Resources, r)
		if r.Type == "Class" {
			found.Catalog.Classes = append(found.Catalog.Classes, r.Title)
		}
		return err
	}, `SELECT r.type, r.title, p.value, r.tags, r.exported, r.file, r.line, r.kind, r.sensitive
		FROM resources r JOIN parameter_sets p ON p.id = r.parameters WHERE r.node = ? ORDER BY r.type, r.title`, node)
	if err != nil {
		return nil, err
	}
	found.edges, err = c.edges(ctx, node)
	for _, e := range found.edges {
		if e.relation == "contains" {
			source, target := e.sourceType+"["+e.sourceTitle+"]", e.targetType+"["+e.targetTitle+"]"
			found.Catalog.Edges = append(found.Catalog.Edges, model.Edge{Source: source, Target: target})
		}
	}
	return found, err
}

// readStored reads a resource of a catalog.
func readStored(scan func(...any) error) (r model.Resource, err error) {
	var parameters, tags string
	var file, kind, sensitive *string
	var line *int64
	if err := scan(&r.Type, &r.Title, &parameters, &tags, &r.Exported, &file, &line, &kind, &sensitive); err != nil {
		return r, err
	}
	r.File, r.Line, r.Kind = or(file), or(line), or(kind)
	if r.Parameters, err = decode(parameters); err == nil {
		r.Tags, err = decodeTexts(tags)
	}
	if err == nil {
		r.Sensitive, err = decodeTexts(or(sensitive))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Ref(), err)
	}
	return r, err
}
