package sqlstore

import "context"

// A migration makes a store of one version from that before it.
type migration struct {
	text string
	then func(context.Context, *conn) error // what SQL cannot do; nil is nothing
}

// migrations are all; the first makes a store from nothing. What was published stays as
// it is. Rule STORE-SQL-08.
var migrations = []migration{{text: first}, {shared, hashShared}}

const first = `
CREATE TABLE nodes (
	id          {id},
	certname    {key} NOT NULL UNIQUE,
	deactivated {time},
	expired     {time}
);
CREATE TABLE factsets (
	node        {ref} PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
	environment TEXT,
	produced    {time} NOT NULL,
	stored      {time} NOT NULL,
	producer    TEXT,
	hash        TEXT NOT NULL
);
CREATE TABLE facts (
	node  {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	name  {key} NOT NULL,
	value {json} NOT NULL,
	PRIMARY KEY (node, name)
) {clustered};
CREATE INDEX facts_by_value ON facts (name, {hash of value});
CREATE TABLE catalogs (
	node             {ref} PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
	environment      TEXT,
	version          TEXT,
	catalog_uuid     TEXT,
	transaction_uuid TEXT,
	code_id          TEXT,
	job_id           TEXT,
	produced         {time} NOT NULL,
	stored           {time} NOT NULL,
	producer         TEXT,
	hash             TEXT NOT NULL,
	edges_hash       TEXT NOT NULL
);
CREATE TABLE parameter_sets (
	id    {id},
	hash  {key} NOT NULL UNIQUE,
	value {json} NOT NULL
);
CREATE TABLE resources (
	node       {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	type       {key} NOT NULL,
	title      {key} NOT NULL,
	parameters {ref} NOT NULL REFERENCES parameter_sets,
	tags       {json} NOT NULL,
	exported   {flag} NOT NULL,
	file       TEXT,
	line       BIGINT,
	kind       TEXT,
	sensitive  {json},
	PRIMARY KEY (node, type, title)
) {clustered};
CREATE INDEX resources_exported ON resources (type, title) WHERE exported;
CREATE INDEX resources_by_parameters ON resources (parameters);
CREATE TABLE exported_tags (
	tag   {key} NOT NULL,
	type  {key} NOT NULL,
	node  {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	title {key} NOT NULL,
	PRIMARY KEY (tag, type, node, title)
) {clustered};
CREATE TABLE edges (
	node         {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	source_type  {key} NOT NULL,
	source_title {key} NOT NULL,
	relation     {key} NOT NULL,
	target_type  {key} NOT NULL,
	target_title {key} NOT NULL{key of edges}
) {clustered};
{index of edges}
CREATE TABLE reports (
	id                    {id},
	node                  {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	hash                  {key} NOT NULL UNIQUE,
	produced              {time} NOT NULL,
	stored                {time} NOT NULL,
	producer              TEXT,
	started               {time},
	ended                 {time},
	status                {key},
	noop                  {flag},
	noop_pending          {flag},
	corrective_change     {flag},
	environment           TEXT,
	configuration_version TEXT,
	transaction_uuid      TEXT,
	catalog_uuid          TEXT,
	code_id               TEXT,
	job_id                TEXT,
	cached_catalog_status TEXT,
	puppet_version        TEXT,
	format                BIGINT,
	metrics               {json} NOT NULL,
	logs                  {json} NOT NULL
);
CREATE INDEX reports_by_node ON reports (node, produced);
CREATE INDEX reports_by_status ON reports (status, produced);
CREATE TABLE events (
	report            {ref} NOT NULL REFERENCES reports ON DELETE CASCADE,
	number            BIGINT NOT NULL,
	at                {time},
	resource_type     TEXT,
	resource_title    TEXT,
	property          TEXT,
	name              TEXT,
	status            TEXT,
	old_value         TEXT,
	new_value         TEXT,
	message           TEXT,
	file              TEXT,
	line              BIGINT,
	containment       {json},
	corrective_change {flag},
	PRIMARY KEY (report, number)
) {clustered};
CREATE TABLE commands (
	id       {id},
	certname {key} NOT NULL,
	kind     TEXT NOT NULL,
	produced {time} NOT NULL,
	arrived  {time} NOT NULL,
	outcome  TEXT NOT NULL,
	detail   TEXT NOT NULL
);
CREATE INDEX commands_by_certname ON commands (certname, id);
CREATE TABLE sweeps (
	id     {id},
	at     {time} NOT NULL,
	detail TEXT NOT NULL
);
CREATE VIEW exported AS
	SELECT n.certname, r.type, r.title, p.value AS parameters, r.tags, c.environment, c.produced, c.stored
	FROM resources r
	JOIN nodes n ON n.id = r.node
	JOIN catalogs c ON c.node = r.node
	JOIN parameter_sets p ON p.id = r.parameters
	WHERE r.exported AND n.deactivated IS NULL AND n.expired IS NULL;
CREATE VIEW inventory AS
	SELECT n.certname, f.name AS fact, f.value, s.environment, s.produced
	FROM facts f
	JOIN nodes n ON n.id = f.node
	JOIN factsets s ON s.node = f.node
	WHERE n.deactivated IS NULL AND n.expired IS NULL;
`

// shared keeps once what many resources have alike, their tags and file, and has edges
// name resources by numbers: half of a file was such texts. What the tables had are views.
// Edges to nowhere, which a lax store had, are left out.
const shared = `
DROP VIEW exported;
CREATE TABLE declarations (
	id   {id},
	hash {key} NOT NULL UNIQUE,
	tags {json} NOT NULL,
	file TEXT
);
CREATE TABLE catalog_resources (
	node        {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	number      BIGINT NOT NULL,
	type        {key} NOT NULL,
	title       {key} NOT NULL,
	parameters  {ref} NOT NULL REFERENCES parameter_sets,
	declaration {ref} NOT NULL REFERENCES declarations,
	exported    {flag} NOT NULL,
	line        BIGINT,
	kind        TEXT,
	sensitive   {json},
	PRIMARY KEY (node, number)
) {clustered};
CREATE TABLE catalog_edges (
	node     {ref} NOT NULL REFERENCES nodes ON DELETE CASCADE,
	source   BIGINT NOT NULL,
	relation {key} NOT NULL,
	target   BIGINT NOT NULL,
	PRIMARY KEY (node, source, relation, target)
) {clustered};
INSERT INTO declarations (hash, tags, file)
	SELECT 'new ' || row_number() OVER (), CAST(tags AS {json}), file FROM (SELECT DISTINCT tags{as text} AS tags, file FROM resources) AS alike;
INSERT INTO catalog_resources
	SELECT r.node, row_number() OVER (PARTITION BY r.node ORDER BY r.type, r.title), r.type, r.title, r.parameters, d.id, r.exported, r.line, r.kind, r.sensitive
	FROM resources r JOIN declarations d ON d.tags{as text} = r.tags{as text} AND (d.file = r.file OR d.file IS NULL AND r.file IS NULL);
CREATE UNIQUE INDEX moved ON catalog_resources (node, type, title);
INSERT INTO catalog_edges
	SELECT e.node, s.number, e.relation, t.number
	FROM edges e
	JOIN catalog_resources s ON s.node = e.node AND s.type = e.source_type AND s.title = e.source_title
	JOIN catalog_resources t ON t.node = e.node AND t.type = e.target_type AND t.title = e.target_title;
UPDATE catalogs SET edges_hash = '' WHERE (SELECT count(*) FROM edges e WHERE e.node = catalogs.node) <> (SELECT count(*) FROM catalog_edges e WHERE e.node = catalogs.node);
DROP INDEX moved;
DROP TABLE edges;
DROP TABLE resources;
CREATE UNIQUE INDEX catalog_resources_exported ON catalog_resources (type, title, node) WHERE exported;
CREATE INDEX catalog_resources_by_parameters ON catalog_resources (parameters);
CREATE INDEX catalog_resources_by_declaration ON catalog_resources (declaration);
DROP INDEX facts_by_value;
CREATE INDEX facts_by_value ON facts (name, {start of value});
CREATE VIEW resources AS
	SELECT r.node, r.type, r.title, r.parameters, d.tags, r.exported, d.file, r.line, r.kind, r.sensitive
	FROM catalog_resources r
	JOIN declarations d ON d.id = r.declaration;
CREATE VIEW edges AS
	SELECT e.node, s.type AS source_type, s.title AS source_title, e.relation, t.type AS target_type, t.title AS target_title
	FROM catalog_edges e
	JOIN catalog_resources s ON s.node = e.node AND s.number = e.source
	JOIN catalog_resources t ON t.node = e.node AND t.number = e.target;
CREATE VIEW exported AS
	SELECT n.certname, r.type, r.title, p.value AS parameters, r.tags, c.environment, c.produced, c.stored
	FROM resources r
	JOIN nodes n ON n.id = r.node
	JOIN catalogs c ON c.node = r.node
	JOIN parameter_sets p ON p.id = r.parameters
	WHERE r.exported AND n.deactivated IS NULL AND n.expired IS NULL;
`

// hashShared works out the hashes of declarations, and of the edges of which some were
// left out.
func hashShared(ctx context.Context, c *conn) error {
	hashes := map[int64]string{}
	err := c.each(ctx, func(scan func(...any) error) error {
		var id int64
		var r resourceRow
		err := scan(&id, &r.tags, &r.file)
		hashes[id] = r.declaration()
		return err
	}, "SELECT id, tags, file FROM declarations")
	for id, hash := range hashes {
		if err == nil {
			_, err = c.exec(ctx, "UPDATE declarations SET hash = ? WHERE id = ?", hash, id)
		}
	}
	var nodes []int64
	if err == nil {
		err = c.each(ctx, func(scan func(...any) error) error {
			nodes = append(nodes, 0)
			return scan(&nodes[len(nodes)-1])
		}, "SELECT node FROM catalogs WHERE edges_hash = ''")
	}
	for _, node := range nodes {
		if err != nil {
			break
		}
		var edges []edgeRow
		if edges, err = c.edges(ctx, node); err == nil {
			_, err = c.exec(ctx, "UPDATE catalogs SET edges_hash = ? WHERE node = ?", hashOfEdges(edges), node)
		}
	}
	return err
}
