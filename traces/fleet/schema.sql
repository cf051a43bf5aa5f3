CREATE SCHEMA IF NOT EXISTS indirtui;

CREATE TABLE indirtui.schema_version (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());

-- One row for each run of a program that ships. (part, position) is where its
-- recording goes on: everything before it is in the tables.
CREATE TABLE indirtui.instances (
    id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session      text NOT NULL UNIQUE,
    name         text NOT NULL,
    source       text NOT NULL,
    started      timestamptz NOT NULL DEFAULT now(),
    seen         timestamptz NOT NULL DEFAULT now(),
    clock_offset float8 NOT NULL DEFAULT 0,
    part         int NOT NULL DEFAULT 0,
    position     bigint NOT NULL DEFAULT 0,
    shipped      bigint NOT NULL DEFAULT 0,
    without_detail bigint NOT NULL DEFAULT 0,
    damaged      bigint NOT NULL DEFAULT 0,
    parts_missing bigint NOT NULL DEFAULT 0,
    ended        boolean NOT NULL DEFAULT false,
    held         jsonb NOT NULL DEFAULT '[]'
);
COMMENT ON COLUMN indirtui.instances.clock_offset IS 'seconds that its clock is ahead of the database''s';

CREATE TABLE indirtui.traces (
    instance     int NOT NULL,
    sequence     bigint NOT NULL,
    at           timestamptz NOT NULL,
    arrived      bigint NOT NULL,
    took         bigint NOT NULL,
    verb         text COLLATE "C" NOT NULL,
    indirection  text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    environment  text COLLATE "C" NOT NULL,
    caller       text COLLATE "C" NOT NULL,
    outcome      text COLLATE "C" NOT NULL,
    served       text COLLATE "C" NOT NULL,
    terminus     text COLLATE "C" NOT NULL,
    cache        text COLLATE "C" NOT NULL,
    set_by       text COLLATE "C" NOT NULL,
    cache_set_by text COLLATE "C" NOT NULL,
    run          text COLLATE "C" NOT NULL,
    transaction  text COLLATE "C" NOT NULL,
    run_guessed  boolean NOT NULL,
    parent       bigint NOT NULL,
    previous     bigint NOT NULL,
    replay       boolean NOT NULL,
    good         bigint NOT NULL,
    flags        text COLLATE "C" NOT NULL,
    cache_written boolean NOT NULL,
    touched      boolean NOT NULL,
    lost         boolean NOT NULL,
    origin       text COLLATE "C" NOT NULL,
    problem      text COLLATE "C" NOT NULL,
    size         bigint NOT NULL,
    traceparent  text COLLATE "C" NOT NULL,
    sent         text COLLATE "C" NOT NULL,
    line         bytea NOT NULL,
    PRIMARY KEY (instance, sequence, at)
) PARTITION BY RANGE (at);
ALTER TABLE indirtui.traces ALTER COLUMN line SET STORAGE EXTERNAL;
CREATE INDEX traces_at ON indirtui.traces (at, instance, sequence);
CREATE INDEX traces_key ON indirtui.traces (lower(key), at);
-- Not partial: PostgreSQL uses no statistics of the expressions of partial indexes. It took
-- a run for one of 200 that there are, and read all requests in the order of time.
CREATE INDEX traces_run ON indirtui.traces (lower(run));
CREATE INDEX traces_transaction ON indirtui.traces (lower(transaction));
CREATE INDEX traces_failed ON indirtui.traces (at) WHERE outcome IN ('nil!', 'stale', 'err', 'err~', 'part');
CREATE INDEX traces_arrived ON indirtui.traces (instance, arrived);

-- Requests whose day has no partition: their clock is wrong by more than a year.
CREATE TABLE indirtui.traces_other PARTITION OF indirtui.traces DEFAULT;

CREATE TABLE indirtui."values" (
    digest bytea PRIMARY KEY,
    seen   date NOT NULL DEFAULT current_date,
    line   bytea NOT NULL
);
ALTER TABLE indirtui."values" ALTER COLUMN line SET STORAGE EXTERNAL;
CREATE INDEX values_seen ON indirtui."values" (seen);

-- The runs of agents as each instance has seen them.
CREATE TABLE indirtui.runs (
    instance    int NOT NULL,
    run         text COLLATE "C" NOT NULL,
    node        text COLLATE "C" NOT NULL,
    transaction text COLLATE "C" NOT NULL,
    first       timestamptz NOT NULL,
    last        timestamptz NOT NULL,
    requests    bigint NOT NULL,
    PRIMARY KEY (instance, run)
);
CREATE INDEX runs_last ON indirtui.runs (last);
CREATE INDEX runs_node ON indirtui.runs (lower(node), last);
CREATE INDEX runs_run ON indirtui.runs (run);
CREATE INDEX runs_transaction ON indirtui.runs (transaction) WHERE transaction <> '';

-- What a role needs that may only insert: these run as the owner of the tables.

CREATE FUNCTION indirtui.enter(of text, called text, at_source text, its_clock timestamptz,
        OUT instance int, OUT from_part int, OUT from_position bigint, OUT so_far bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO indirtui.instances AS i (session, name, source) VALUES (of, called, at_source)
        ON CONFLICT (session) DO NOTHING;
    UPDATE indirtui.instances AS i SET seen = clock_timestamp(),
        clock_offset = coalesce(extract(epoch FROM its_clock - clock_timestamp()), i.clock_offset)
        WHERE i.session = of
        RETURNING i.id, i.part, i.position, i.shipped INTO instance, from_part, from_position, so_far;
END $$;

-- Goes on from one place in the recording to another. False if another shipper
-- has been there: then nothing may be added.
CREATE FUNCTION indirtui.advance(of int, from_part int, from_position bigint, to_part int, to_position bigint,
        added bigint, bare bigint, broken bigint, skipped bigint, is_over boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE indirtui.instances SET part = to_part, position = to_position, shipped = shipped + added,
        without_detail = without_detail + bare, damaged = damaged + broken, parts_missing = parts_missing + skipped,
        ended = is_over, seen = clock_timestamp()
        WHERE id = of AND part = from_part AND position = from_position;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    NOTIFY indirtui;
    RETURN true;
END $$;

-- What is held now, and that the program is alive.
CREATE FUNCTION indirtui.alive(of int, its_clock timestamptz, holds jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE indirtui.instances SET seen = clock_timestamp(), held = holds,
        clock_offset = extract(epoch FROM its_clock - clock_timestamp()) WHERE id = of;
    SELECT pg_notify('indirtui', '');
$$;

-- Adds to the runs, and notes that values are still used.
CREATE FUNCTION indirtui.note(of int, new_runs jsonb, used bytea[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO indirtui.runs AS r (instance, run, node, transaction, first, last, requests)
        SELECT of, n.run, n.node, n.transaction, n.first, n.last, n.requests
        FROM jsonb_to_recordset(new_runs) AS n(run text, node text, transaction text, first timestamptz, last timestamptz, requests bigint)
        ORDER BY n.run
        ON CONFLICT (instance, run) DO UPDATE SET
            node = CASE WHEN r.node = '' THEN excluded.node ELSE r.node END,
            transaction = CASE WHEN r.transaction = '' THEN excluded.transaction ELSE r.transaction END,
            first = least(r.first, excluded.first), last = greatest(r.last, excluded.last),
            requests = r.requests + excluded.requests;
    UPDATE indirtui."values" SET seen = current_date WHERE digest IN (
        SELECT digest FROM indirtui."values" WHERE digest = ANY (used) AND seen < current_date ORDER BY digest FOR UPDATE);
$$;

-- Makes the partition of a day (in UTC) that is not too far away.
CREATE FUNCTION indirtui.day(wanted date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text := 'traces_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    IF wanted < current_date - 400 OR wanted > current_date + 2 THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(1768907881);
    IF to_regclass('indirtui.' || name) IS NULL THEN
        EXECUTE format('CREATE TABLE indirtui.%I PARTITION OF indirtui.traces FOR VALUES FROM (%L) TO (%L)',
            name, wanted::text || ' 00:00:00+00', (wanted + 1)::text || ' 00:00:00+00');
    END IF;
EXCEPTION WHEN check_violation THEN
    NULL; -- traces_other has requests of that day, and keeps them
END $$;

REVOKE ALL ON FUNCTION indirtui.enter, indirtui.advance, indirtui.alive, indirtui.note, indirtui.day FROM PUBLIC;
