package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// A ReportQuery asks for reports, the newest first.
type ReportQuery struct {
	Certname string // "" is all
	Status   string // failed, changed, unchanged; "" is all
	// Since and Until bound when they were produced: not before the one, before the other.
	// Zero is no bound.
	Since, Until time.Time
	Limit        int // how many; 0 is 1000
}

// defaultReports is how many reports are found unless the question has a limit.
const defaultReports = 1000

// Reports calls yield for each report. What their commands left out is not in them, and of
// resources only those are that had events or were skipped, as PuppetDB keeps them. An error of yield ends the walk and is returned.
func (s *Store) Reports(ctx context.Context, q ReportQuery, yield func(*model.Report) error) (err error) {
	found := 0
	ctx, end := s.asks(ctx, "reports")
	defer func() { end(fmt.Sprintf("%d reports", found), err) }()
	if q.Limit <= 0 {
		q.Limit = defaultReports
	}
	text, args := q.statement()
	var stop error
	err = s.look(ctx, func(c *conn) error {
		var ids []int64
		err := c.each(ctx, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		}, text, args...)
		for i := 0; err == nil && i < len(ids); i++ {
			var r *model.Report
			if r, err = c.report(ctx, ids[i]); err != nil {
				break
			}
			found++
			if stop = yield(r); stop != nil {
				err = errStop
			}
		}
		return stopped(err)
	})
	return errors.Join(stop, s.failed("find reports", err))
}

func (q ReportQuery) statement() (text string, args []any) {
	where := []string{"n.id = r.node"}
	and := func(condition string, value any) {
		where = append(where, condition)
		args = append(args, value)
	}
	if q.Certname != "" {
		and("n.certname = ?", q.Certname)
	}
	if q.Status != "" {
		and("r.status = ?", q.Status)
	}
	if !q.Since.IsZero() {
		and("r.produced >= ?", stamp(q.Since))
	}
	if !q.Until.IsZero() {
		and("r.produced < ?", stamp(q.Until))
	}
	return "SELECT r.id FROM reports r, nodes n WHERE " + strings.Join(where, " AND ") + " ORDER BY r.produced DESC, r.id DESC LIMIT ?", append(args, q.Limit)
}

// report returns a report.
func (c *conn) report(ctx context.Context, id int64) (*model.Report, error) {
	r := new(model.Report)
	err := c.each(ctx, func(scan func(...any) error) error { return readReport(scan, r) },
		`SELECT n.certname, r.started, r.ended, r.status, r.noop, r.noop_pending, r.corrective_change, r.environment, r.configuration_version,
		r.transaction_uuid, r.catalog_uuid, r.code_id, r.job_id, r.cached_catalog_status, r.puppet_version, r.format, r.metrics, r.logs
		FROM reports r JOIN nodes n ON n.id = r.node WHERE r.id = ?`, id)
	if err == nil {
		err = c.events(ctx, id, r)
	}
	return r, err
}

func readReport(scan func(...any) error, r *model.Report) error {
	var started, ended stamp
	var status, environment, configuration, transaction, catalog, code, job, cached, version *string
	var noop, pending, corrective *bool
	var format *int64
	var metrics, logs string
	err := scan(&r.Host, &started, &ended, &status, &noop, &pending, &corrective, &environment, &configuration,
		&transaction, &catalog, &code, &job, &cached, &version, &format, &metrics, &logs)
	if err != nil {
		return err
	}
	r.Time, r.Status, r.Environment, r.Format = model.At(started.time()), or(status), or(environment), or(format)
	r.Noop, r.NoopPending, r.CorrectiveChange = or(noop), or(pending), or(corrective)
	r.ConfigurationVersion = data.OfString(or(configuration))
	r.TransactionUUID, r.CatalogUUID, r.CodeID, r.JobID = or(transaction), or(catalog), or(code), or(job)
	r.CachedCatalogStatus, r.PuppetVersion = or(cached), or(version)
	r.TransactionCompleted = true
	if err := readLogs(r, logs); err != nil {
		return fmt.Errorf("the logs of a report of %q: %w", r.Host, err)
	}
	if err := readMetrics(r, metrics); err != nil {
		return fmt.Errorf("the metrics of a report of %q: %w", r.Host, err)
	}
	return nil
}

func readLogs(r *model.Report, text string) error {
	v, err := decode(text)
	for _, x := range v.List() {
		l := model.Log{
			Level: x.Get("level").Text(), Message: x.Get("message").Text(), Source: x.Get("source").Text(),
			File: x.Get("file").Text(), Line: x.Get("line").Int(), Time: timeOf(x.Get("time")),
		}
		for _, t := range x.Get("tags").List() {
			l.Tags = append(l.Tags, t.Text())
		}
		r.Logs = append(r.Logs, l)
	}
	return err
}

// timeOf reads a time of a payload; what is none is zero.
func timeOf(v data.Value) model.Time {
	t, err := model.ParseTime(v.Text())
	if err != nil {
		return model.Time{}
	}
	return t
}

// readMetrics makes the tables of what is flat in the command. Rule PDB-REP-02.
func readMetrics(r *model.Report, text string) error {
	v, err := decode(text)
	at := map[string]int{}
	var values [][]data.Value
	for _, x := range v.List() {
		category, name := x.Get("category").Text(), x.Get("name").Text()
		i, there := at[category]
		if !there {
			i = len(r.Metrics)
			at[category] = i
			r.Metrics = append(r.Metrics, model.Metric{Key: category, Name: category, Label: labelOf(category)})
			values = append(values, nil)
		}
		values[i] = append(values[i], data.OfList([]data.Value{data.OfString(name), data.OfString(labelOf(name)), x.Get("value")}))
	}
	for i := range r.Metrics {
		r.Metrics[i].Values = data.OfList(values[i])
	}
	return err
}

// labelOf is Puppet's label of a name: "Failed to restart".
func labelOf(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// eventRows returns the events of a report, in order.
func (c *conn) eventRows(ctx context.Context, report int64) (all []eventRow, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var e eventRow
		err := scan(&e.at, &e.typ, &e.title, &e.property, &e.name, &e.status, &e.oldValue, &e.newValue, &e.message, &e.file, &e.line, &e.containment, &e.corrective)
		all = append(all, e)
		return err
	}, `SELECT at, resource_type, resource_title, property, name, status, old_value, new_value, message, file, line, containment, corrective_change
		FROM events WHERE report = ? ORDER BY number`, report)
	return all, err
}

// events adds the events of a report, below their resources.
func (c *conn) events(ctx context.Context, id int64, r *model.Report) error {
	rows, err := c.eventRows(ctx, id)
	at := map[string]int{}
	for i := range rows {
		e := &rows[i]
		ref := or(e.typ) + "[" + or(e.title) + "]"
		i, there := at[ref]
		if !there {
			i = len(r.Statuses)
			at[ref] = i
			path, err := decodeTexts(or(e.containment))
			if err != nil {
				return err
			}
			r.Statuses = append(r.Statuses, model.ResourceStatus{
				Ref: ref, Resource: ref, Type: or(e.typ), Title: or(e.title), File: or(e.file), Line: or(e.line), ContainmentPath: path, Time: model.At(e.at.time()),
			})
		}
		e.addTo(&r.Statuses[i])
	}
	return err
}

// addTo adds the event to those of its resource.
func (e *eventRow) addTo(st *model.ResourceStatus) {
	if or(e.status) == skipped && e.name == nil {
		st.Skipped = true
		return
	}
	st.Events = append(st.Events, model.Event{
		Property: textOrNil(e.property), PreviousValue: textOrNil(e.oldValue), DesiredValue: textOrNil(e.newValue), Message: or(e.message), Name: or(e.name),
		Status: or(e.status), Time: model.At(e.at.time()), CorrectiveChange: or(e.corrective),
	})
	st.ChangeCount++
	st.Failed = st.Failed || or(e.status) == "failure"
	st.Changed = st.Changed || or(e.status) == "success"
	st.OutOfSync, st.OutOfSyncCount = true, st.OutOfSyncCount+1
	st.CorrectiveChange = st.CorrectiveChange || or(e.corrective)
}

func textOrNil(s *string) data.Value {
	if s == nil {
		return data.Value{}
	}
	return data.OfString(*s)
}
