package ral_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/termini"
)

// A bench is an engine as the program has it, whose requests are recorded, and the machine.
type bench struct {
	*engine.Engine
	host *machine.Machine
}

func newBench(b *testing.B) bench {
	b.Helper()
	dir := b.TempDir()
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), ConfDir: dir, VarDir: dir, Recording: dir + "/bench.jsonl", Write: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	resp, err := e.Do(b.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1", Terminus: "facter", Cache: indirector.Off})
	if err != nil {
		b.Fatal(err)
	}
	return bench{e, machine.New(resp.Instance().(*model.Facts).Values, func(name string) (string, bool) {
		v, _ := e.Settings.Get(name)
		return v, true
	})}
}

// options are those of a run without files of state. If it is traced, each resource is a
// request.
func (x bench) options(noop, traced bool) transaction.Options {
	o := transaction.Options{
		Settings: transaction.Settings{Noop: noop, Certname: "n1"}, System: system.New(x.host), Types: types.All(), LogLevel: "notice",
	}
	if traced {
		o.Request = func(ctx context.Context, v *transaction.Visit) error {
			_, err := x.Do(v.Context(ctx), &indirector.Request{
				Indirection: "resource", Verb: indirector.Save, Key: v.Wanted().Key(), Keyed: true, Instance: v.Wanted(),
				Terminus: "ral", Cache: indirector.Off, Caller: "cli", Run: "r1",
			})
			return err
		}
	}
	return o
}

// measure repeats do, and reports the time of processors besides that of the clock, and
// the most memory that the process has had.
func measure(b *testing.B, do func() error) {
	b.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
	b.ReportAllocs()
	begin := cpu()
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu()-begin)/1e6/float64(b.N), "cpu-ms/op")
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		_, after, _ := strings.Cut(string(text), "VmHWM:")
		kB := 0.0
		if _, err := fmt.Sscan(after, &kB); err == nil {
			b.ReportMetric(kB/1024, "MB-peak")
		}
	}
}

// cpu is what this process and its children have taken of processors.
func cpu() time.Duration {
	all := int64(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			all += u.Utime.Nano() + u.Stime.Nano()
		}
	}
	return time.Duration(all)
}

func filesCatalog() *model.Catalog {
	return &model.Catalog{Name: "n1", Format: 2, Environment: "production"}
}

func add(c *model.Catalog, typ, title string, parameters ...data.Pair) {
	c.Resources = append(c.Resources, model.Resource{
		Type: typ, Title: title, Kind: "compilable_type", Tags: []string{strings.ToLower(typ)}, Parameters: data.OfHash(parameters),
	})
}

// manyFiles are 1000 files that are as they should be.
func manyFiles(b *testing.B) *model.Catalog {
	b.Helper()
	dir, c := b.TempDir(), filesCatalog()
	for i := range 1000 {
		name, text := fmt.Sprintf("%s/f%d", dir, i), strings.Repeat(fmt.Sprintln(i), 100)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		add(c, "File", name, data.P("ensure", data.OfString("file")), data.P("content", data.OfString(text)), data.P("mode", data.OfString("0644")))
	}
	return c
}

// manyEntries is a directory with 10 000 files below it, of which the modes are managed.
func manyEntries(b *testing.B) *model.Catalog {
	b.Helper()
	dir, c := b.TempDir()+"/top", filesCatalog()
	for i := range 100 {
		if err := os.MkdirAll(fmt.Sprintf("%s/d%d", dir, i), 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 99 {
			if err := os.WriteFile(fmt.Sprintf("%s/d%d/f%d", dir, i, j), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	add(c, "File", dir, data.P("ensure", data.OfString("directory")), data.P("recurse", data.OfBool(true)), data.P("mode", data.OfString("0644")))
	return c
}

// manyEdges are 10 000 resources that do nothing, each of which requires two others.
func manyEdges() *model.Catalog {
	c := filesCatalog()
	for i := range 10_000 {
		var before []string
		for _, back := range []int{1, 1 + (i*7919)%50} {
			if back <= i {
				before = append(before, fmt.Sprintf("Probe[r%d]", i-back))
			}
		}
		add(c, "Probe", fmt.Sprintf("r%d", i), data.P("require", data.OfStrings(before)))
	}
	return c
}

// nothing finds all as it should be.
type nothing struct{}

func (nothing) Retrieve(context.Context, providers.System, *types.Resource) ([]data.Pair, error) {
	return []data.Pair{data.P("ensure", data.OfSymbol("absent"))}, nil
}

func (nothing) Set(context.Context, providers.System, *types.Resource, string) error { return nil }

// BenchmarkPeer repeats the cases that real Puppet is timed with by docs/peer.rb, under
// the same names: catalogs that are in memory, converted and applied, and searches. Those
// that are untraced are runs without requests.
func BenchmarkPeer(b *testing.B) {
	x := newBench(b)
	for _, how := range []struct {
		suffix string
		traced bool
	}{{"", true}, {"_untraced", false}} {
		run := func(b *testing.B, c *model.Catalog, o transaction.Options) {
			measure(b, func() error {
				r := transaction.Run(b.Context(), c, o)
				if r.Err == nil && r.Exit&4 != 0 {
					return fmt.Errorf("there are failures: %+v", r.Report.Logs)
				}
				return r.Err
			})
		}
		b.Run("noop_1000_files"+how.suffix, func(b *testing.B) { run(b, manyFiles(b), x.options(true, how.traced)) })
		b.Run("recurse_10000_entries"+how.suffix, func(b *testing.B) { run(b, manyEntries(b), x.options(true, how.traced)) })
		b.Run("graph_10000_resources"+how.suffix, func(b *testing.B) {
			o := x.options(true, how.traced)
			o.Types = map[string]*types.Type{"probe": probetest.Type(), "whit": types.All()["whit"]}
			o.Provider = func(*types.Resource) providers.Provider { return nothing{} }
			run(b, manyEdges(), o)
		})
		b.Run("apply_200_files"+how.suffix, func(b *testing.B) {
			dir, n := b.TempDir(), 0
			measure(b, func() error {
				n++
				c := filesCatalog()
				top := fmt.Sprintf("%s/%d", dir, n)
				add(c, "File", top, data.P("ensure", data.OfString("directory")))
				for i := range 200 {
					add(c, "File", fmt.Sprintf("%s/f%d", top, i), data.P("content", data.OfString(fmt.Sprintln(n, i))), data.P("mode", data.OfString("0640")))
				}
				if r := transaction.Run(b.Context(), c, x.options(false, how.traced)); r.Exit != 2 {
					return fmt.Errorf("exit %d, %w", r.Exit, r.Err)
				}
				return nil
			})
		})
	}
	b.Run("plan_1000_files", func(b *testing.B) {
		c := manyFiles(b)
		measure(b, func() error {
			p, err := transaction.MakePlan(b.Context(), c, x.options(true, false), false)
			if err == nil && p.Totals.InSync != 1000 {
				err = fmt.Errorf("%+v", p.Totals)
			}
			return err
		})
	})
	b.Run("search_package", func(b *testing.B) { // without other managers, which may take long
		x.search(b, "package", indirector.Option{Name: "provider", Value: "apt"})
	})
	b.Run("dpkg-query", func(b *testing.B) {
		dpkg, err := exec.LookPath("dpkg-query")
		if err != nil {
			b.Skip(err)
		}
		measure(b, func() error {
			return exec.Command(dpkg, "-W", "--showformat", "${Status} ${Package} ${Version}\n").Run()
		})
	})
	b.Run("search_service", func(b *testing.B) {
		if _, err := os.Stat("/run/systemd/system"); err != nil {
			b.Skip("there is no systemd here")
		}
		x.search(b, "service")
	})
}

func (x bench) search(b *testing.B, typ string, options ...indirector.Option) {
	measure(b, func() error {
		_, err := x.Do(b.Context(), &indirector.Request{Indirection: "resource", Verb: indirector.Search, Key: typ + "/", Options: options, Caller: "cli"})
		return err
	})
}
