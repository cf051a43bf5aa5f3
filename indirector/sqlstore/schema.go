package sqlstore

// migrations make a store of each version from that before it; the first makes it
// from nothing. What was published stays as it is. Rule STORE-SQL-08.
var migrations = []string{`
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
`}
