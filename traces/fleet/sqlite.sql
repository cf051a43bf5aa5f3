CREATE TABLE schema_version (version integer PRIMARY KEY);
CREATE TABLE instances (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE traces (
    instance integer NOT NULL, sequence integer NOT NULL, at text NOT NULL, arrived integer NOT NULL, took integer NOT NULL,
    verb text NOT NULL, indirection text NOT NULL, key text NOT NULL, environment text NOT NULL, caller text NOT NULL,
    outcome text NOT NULL, served text NOT NULL, terminus text NOT NULL, cache text NOT NULL, set_by text NOT NULL, cache_set_by text NOT NULL,
    run text NOT NULL, "transaction" text NOT NULL, run_guessed integer NOT NULL, parent integer NOT NULL, previous integer NOT NULL,
    replay integer NOT NULL, good integer NOT NULL, flags text NOT NULL, cache_written integer NOT NULL, touched integer NOT NULL,
    lost integer NOT NULL, origin text NOT NULL, problem text NOT NULL, size integer NOT NULL, traceparent text NOT NULL, sent text NOT NULL,
    line blob NOT NULL, PRIMARY KEY (instance, sequence)
);
CREATE INDEX traces_at ON traces (at);
CREATE INDEX traces_key ON traces (key, at);
CREATE INDEX traces_run ON traces (run) WHERE run <> '';
CREATE INDEX traces_failed ON traces (at) WHERE outcome IN ('nil!', 'stale', 'err', 'err~', 'part');
CREATE TABLE "values" (digest blob PRIMARY KEY, line blob NOT NULL);
CREATE TABLE runs (instance integer NOT NULL, run text NOT NULL, node text NOT NULL, "transaction" text NOT NULL,
    first text NOT NULL, last text NOT NULL, requests integer NOT NULL, PRIMARY KEY (instance, run));
