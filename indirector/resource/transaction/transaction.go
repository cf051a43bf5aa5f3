package transaction

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// Options are what a run takes besides a catalog.
type Options struct {
	Settings
	System providers.System
	// Host answers what types ask; nil is the System. A *types.Selection has default
	// providers that were chosen before.
	Host  types.Host
	Types map[string]*types.Type
	// Foreign lets resources of types that are not known fail by themselves, instead of
	// the whole run.
	Foreign bool
	// Device lets resources of devices be applied, and not those of hosts. Rule RES-DEV-05.
	Device bool
	// Unknown are resources of which a plan is not to find out what would become of them,
	// by their references, and why.
	Unknown map[string]string
	// NotAsked is why a plan does not know of resources that are written in Ruby what would
	// become of them, as the end of a sentence: "Puppet was not asked".
	NotAsked string
	// Provider returns what does a resource in the place of this program's own providers,
	// or nil. It may be nil itself.
	Provider func(r *types.Resource) providers.Provider
	// Resolve returns a value of the catalog without anything deferred, and with rich data
	// as values. If it is nil, what is deferred fails. In a plan it must only look. A resource
	// whose value is errors.ErrUnsupported, as a function in Ruby may be, fails alone; another
	// error ends the run.
	Resolve  func(ctx context.Context, v data.Value) (data.Value, error)
	Observer Observer // may be nil
	// Request applies a resource by a request of its own, whose terminus takes it: see
	// [Visit]. If it is nil, resources are applied without requests.
	Request func(ctx context.Context, v *Visit) error
	// Sources has what files are copied from that is not on this machine. It may be nil.
	Sources providers.Sources
	// Buckets keeps files on servers. It may be nil.
	Buckets providers.Buckets
	// Stop reports that a run is to end before the next resource. It may be nil.
	Stop func() bool
	// FromCache and IntoCache: the catalog was found in a cache, and is kept in one. They are
	// logged.
	FromCache, IntoCache bool
	// What came before the run: how long it took up to the first request, to find facts, and
	// to get the catalog. Zero is not known, as is fitting for what did not happen.
	Startup, FactGeneration, Retrieval time.Duration
	LogLevel                           string          // the lowest that is kept; "" is info
	Log                                func(model.Log) // takes each line as it is written; may be nil
	// Report has what is known before the run: its start, ids, lines. It may be nil.
	Report *model.Report
}

// A Result is what became of a run.
type Result struct {
	Report *model.Report
	// Exit is as with detailed exit codes: bit 1 for changes, bit 2 for failures; 1 if the
	// catalog was not applied. Rule RES-REP-06.
	Exit int
	// Summary is what the file of the last run has. It is nil if there was no run.
	Summary data.Value
	// FailedToGenerate reports that resources could not make others: the run failed, though
	// no resource did.
	FailedToGenerate bool
	Err              error // why the catalog was not applied
}

// A transaction is one walk over a catalog. It belongs to one goroutine.
type transaction struct {
	Options
	ctx     context.Context
	log     logger
	report  *model.Report
	catalog *Catalog
	graph   *Graph
	native  *providers.Set
	plan    *planning // nil: it is a run
	// visiting has the steps of the resource that is applied by a request now; else nil.
	visiting *steps
	resting  resting
	state    *state
	store    *store

	statuses map[string]*status
	order    []string // of statuses
	queued   map[*Resource][]*event
	withheld map[*Resource][]*Resource // from whom: a refresh that was left out would have led to events
	senders  map[*Resource][]*Resource

	announced, announcedOfClass, warnedOfClass map[string]bool

	suitability      map[providerKey]bool
	prefetched       map[providerKey]bool
	prefetchFailed   map[providerKey]error
	finishers        map[providerKey]finisher
	finishing        []providerKey
	providerless     []string
	failedToGenerate bool
	times            []data.Pair   // of parts of the run, in seconds
	converting       time.Duration // how long it took to make instances of the catalog
}

func newTransaction(ctx context.Context, o Options) *transaction {
	t := &transaction{
		Options: o, ctx: ctx, report: new(model.Report),
		statuses: map[string]*status{}, queued: map[*Resource][]*event{}, senders: map[*Resource][]*Resource{}, withheld: map[*Resource][]*Resource{},
		announced: map[string]bool{}, announcedOfClass: map[string]bool{}, warnedOfClass: map[string]bool{},
		suitability: map[providerKey]bool{}, prefetched: map[providerKey]bool{}, prefetchFailed: map[providerKey]error{},
		finishers: map[providerKey]finisher{},
	}
	if o.Report != nil {
		*t.report = *o.Report
	}
	if t.LogLevel == "" {
		t.LogLevel = "info"
	}
	if t.Host == nil {
		t.Host = t.System
	}
	t.native = &providers.Set{Log: t.providerLine, Sources: t.Sources, Buckets: t.Buckets, Noop: t.noopOf}
	t.log = logger{t.LogLevel, &t.report.Logs, o.Log, t.now}
	return t
}

func (t *transaction) now() model.Time { return model.At(t.System.Now()) }

// noop reports whether a resource is only looked at.
func (t *transaction) noop(r *Resource) bool { return t.noopOf(r.RAL) }

// noopOf is noop of what may be nil.
func (t *transaction) noopOf(ral *types.Resource) bool {
	if ral != nil && t.plan == nil {
		if v := ral.Value("noop"); !v.IsNil() {
			return v.Truthy()
		}
	}
	return t.Noop || t.plan != nil
}

// noopBy is what decides that a resource is only looked at.
func (t *transaction) noopBy(r *Resource) string {
	if r.RAL != nil && !r.RAL.Value("noop").IsNil() {
		return "metaparameter"
	}
	return "setting"
}

// evaluate walks the catalog. An error ends the run. Rule RES-TX-01.
func (t *transaction) evaluate() error {
	for _, r := range slices.Clone(t.catalog.added) {
		if err := t.generate(r); err != nil {
			return err
		}
	}
	if err := t.precheck(); err != nil {
		return err
	}
	if t.Agent && t.StoreFile != "" {
		t.store = loadStore(t.StoreFile, t.plan != nil, t.log.puppet)
	}
	if v := t.catalog.Version; v.Truthy() {
		t.log.puppet("info", "Applying configuration version '"+v.Text()+"'")
	}
	g, err := t.catalog.Relate(func(r *Resource, message string) { t.log.resource(r, "debug", message) })
	if err != nil {
		return err
	}
	if err := t.writeGraph(Kinds[1], g.vertices, g.Edges()); err != nil {
		return err
	}
	g.Expand()
	t.graph = g
	if err := t.writeGraph(Kinds[2], g.vertices, g.Edges()); err != nil {
		return err
	}
	if cycles := g.Cycles(); len(cycles) > 0 {
		return t.failCycles(cycles)
	}
	for _, tag := range slices.Concat(t.SkipTags, t.Tags) {
		if !types.ValidTag(tag) {
			return failf("Invalid tag '%s'", tag)
		}
	}
	if err := t.walk(); err != nil {
		return err
	}
	t.finishProviders()
	if t.plan == nil {
		if err := t.store.save(); err != nil {
			return err
		}
	}
	t.report.TransactionCompleted = true
	return nil
}

// failCycles counts all that is in a cycle as failed. Rule RES-GRAPH-09.
func (t *transaction) failCycles(cycles [][]*Resource) error {
	file := ""
	if t.Graph && t.plan == nil {
		file = filepath.Join(t.GraphDir, "cycles.dot")
		if err := t.writeCycles(cycles); err != nil {
			return err
		}
	}
	t.log.puppet("err", cyclesText(cycles, file))
	for _, cycle := range cycles {
		for _, r := range cycle {
			t.failWith(t.status(r), "resource is part of a dependency cycle")
		}
	}
	return failf("One or more resource dependency cycles detected in graph")
}

func (t *transaction) walk() error {
	progress := 0
	return t.graph.Walk(Walker{
		Continue: func() bool { return t.ctx.Err() == nil && (t.Stop == nil || !t.Stop()) },
		Suitable: func(r *Resource) bool { return t.plan != nil || t.suitable(r) },
		Before: func(r *Resource) (bool, error) {
			if !t.suitable(r) {
				return false, nil
			}
			t.noteFinisher(r)
			t.prefetch(r)
			return t.evalGenerate(r)
		},
		Visit: func(r *Resource) error {
			progress++
			return t.traced(r, progress)
		},
		Deferred: t.unsuitable,
		Canceled: t.canceled,
	})
}

// canceled skips what was ready when the run was to end. Rule RES-TX-10.
func (t *transaction) canceled(r *Resource) {
	t.status(r).Skipped = true
	t.log.resource(r, "debug", "Transaction canceled, skipping")
}

// traced evaluates a resource, and logs that if evaltrace is set. Rule RES-TX-09.
func (t *transaction) traced(r *Resource, progress int) error {
	if !t.Evaltrace {
		return t.visit(r)
	}
	t.log.resource(r, "info", fmt.Sprintf("Starting to evaluate the resource (%d of %d)", progress, t.graph.Len()))
	begin := t.System.Now()
	err := t.visit(r)
	if err == nil {
		t.log.resource(r, "info", fmt.Sprintf("Evaluated in %.2f seconds", t.System.Now().Sub(begin).Seconds()))
	}
	return err
}

// visit evaluates one resource. What the catalog has not declared is no request.
func (t *transaction) visit(r *Resource) error {
	if t.Request == nil || r.Kind == Whit || r.byDefault {
		return t.evaluateOne(r)
	}
	err := t.byRequest(r, t.evaluateOne)
	r.over = true
	return err
}

// unsuitable fails a resource whose provider cannot work here, by a request if there are any.
func (t *transaction) unsuitable(r *Resource) {
	if t.Request == nil || r.Kind == Whit || t.missesTags(r) {
		t.notSuitable(r)
		return
	}
	_ = t.byRequest(r, func(r *Resource) error { // which never ends the run
		t.notSuitable(r)
		return nil
	})
}

// evaluateOne skips or applies a resource. Rule RES-TX-03.
func (t *transaction) evaluateOne(r *Resource) error {
	if t.unknown(r) {
		return nil
	}
	unresolved := t.resolve(r)
	if unresolved != nil && !errors.Is(unresolved, errors.ErrUnsupported) {
		return unresolved
	}
	t.propagate(r)
	s, err := t.skipped(r)
	if err != nil {
		return err
	}
	if s.because != "" {
		t.leaveOut(r)
		step := Schedule
		if s.because == DependencyFailed {
			step = Dependencies
		}
		t.after(r, Answer{Step: step, Text: skippedText, Because: s.because, Detail: s.detail, Chain: s.chain})
		return nil
	}
	st := t.status(r)
	if unresolved != nil {
		t.failBecause(st, unresolved)
		t.after(r, Answer{Step: Retrieve, Text: "failed", Err: unresolved})
		return nil
	}
	err = t.passed(r)
	switch {
	case isLeftOut(err):
		t.leftOut(r, Dependencies, err)
		return nil
	case err != nil:
		t.failBecause(st, err)
		return nil
	}
	st = t.keep(t.apply(r))
	if st.Skipped {
		return nil
	}
	if !st.hasFailed() {
		t.eventsOut(r, st.events)
	}
	t.refresh(r)
	return nil
}

// leftOut skips a resource because the user wants that.
func (t *transaction) leftOut(r *Resource, step Step, err error) {
	t.log.resource(r, "notice", "Skipping because "+err.Error())
	t.leaveOut(r)
	t.after(r, Answer{Step: step, Text: skippedText, Because: ByYou, Detail: err.Error()})
}

// leaveOut marks a resource as skipped. Rule RES-TX-05.
func (t *transaction) leaveOut(r *Resource) {
	t.status(r).Skipped = true
	t.unschedule(r)
	t.store.keep(r.Ref())
}

// resolve computes deferred values of a resource. Rule RES-CONV-03.
func (t *transaction) resolve(r *Resource) error {
	if r.RAL == nil {
		return nil
	}
	names := r.RAL.Deferred()
	for _, name := range names {
		if t.Resolve == nil {
			return failf("Could not resolve the deferred value of %s on %s", name, r.Ref())
		}
		given := r.RAL.Original(name)
		v := given[0]
		if len(given) > 1 {
			v = data.OfList(given)
		}
		v, err := t.Resolve(t.ctx, v)
		if err != nil {
			return err
		}
		if err := r.RAL.Set(name, v); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		return r.RAL.Validate()
	}
	return nil
}

// time adds how long a part of the run took.
func (t *transaction) time(name string, d time.Duration) {
	t.times = append(t.times, data.P(name, data.OfFloat(d.Seconds())))
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }
