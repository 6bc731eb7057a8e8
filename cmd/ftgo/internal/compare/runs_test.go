package compare_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// table are functions whose calls a machine has made, and all of which took some time.
type table map[string]*stats.Func

// call makes one call of a function; what probes cost is known if bounded.
func (t table) call(name string, ns int64, bounded bool) {
	f := t[name]
	if f == nil {
		f = &stats.Func{Name: name, Latency: &stats.Histogram{}, ReturnsErrors: true}
		t[name] = f
	}
	f.Calls++
	f.Completed++
	f.Self += ns
	f.AddEvent("sched:sched_switch", 1)
	if ns%10 == 0 {
		f.Errors++
	}
	f.Time(stats.Timing{Raw: ns + 3000, Net: ns, Low: max(ns-1500, 0), High: ns + 800, Known: bounded})
}

// write writes what a machine has seen in ten seconds, as ftgo does.
func (t table) write(host string, began time.Time) string {
	var rows []stats.Func
	var calls uint64
	for i := range len(t) {
		f := *t[fmt.Sprint("main.f", i)]
		rows = append(rows, f.Over(10))
		calls += f.Calls
	}
	var b bytes.Buffer
	o := render.RowOptions{Style: render.Style{Format: render.JSON}, Latency: true, Errors: true, Events: []string{"sched:sched_switch"}}
	s := stats.Summary{Host: host, Began: began, Seconds: 10, Hits: 2 * calls, Delivered: 2*calls - 1, Lost: 1, Kernel: &stats.KernelEvents{Delivered: calls}}
	if err := render.Functions(&b, rows, o); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := render.SummaryJSON(&b, s, nil); err != nil {
		panic(err)
	}
	return b.String()
}

func read(t *testing.T, text, file string) []*compare.Run {
	t.Helper()
	runs, err := compare.Read(strings.NewReader(text), file)
	fixture.NoError(t, err)
	return runs
}

// machines are 200 that have seen calls of 20 functions, and one that has seen all of these.
func machines(tb testing.TB, number, calls int, bounded bool) (texts []string, all table) {
	tb.Helper()
	random := rand.New(rand.NewPCG(18, 200))
	all = make(table)
	for i := range number {
		one := make(table)
		for f := range 20 {
			name := fmt.Sprint("main.f", f)
			for range calls {
				ns := int64(math.Exp(float64(8+f%8) + 0.5*random.NormFloat64()))
				one.call(name, ns, bounded)
				all.call(name, ns, bounded)
			}
		}
		texts = append(texts, one.write(fmt.Sprint("web", i), noon))
	}
	return texts, all
}

// TestMergeEqualsAll: what 200 machines wrote adds up to what one had written of all calls, in
// every number of every function.
func TestMergeEqualsAll(t *testing.T) {
	for _, bounded := range []bool{true, false} {
		texts, all := machines(t, 200, 30, bounded)
		var runs []*compare.Run
		for i, text := range texts {
			runs = append(runs, read(t, text, fmt.Sprint("out", i))...)
		}
		got, err := compare.Merge(runs, false)
		fixture.NoError(t, err)
		if got.Seconds != 10 || got.Hits != 200*20*30*2 || got.Lost != 200 || !got.Errors() || got.Host != "" || !reflect.DeepEqual(got.Events(), []string{"sched:sched_switch"}) {
			t.Errorf("summary %+v", got.Summary)
		}
		for i, row := range got.Funcs {
			want := all[row.Name].Over(10)
			if row.Name != fmt.Sprint("main.f", i) {
				t.Fatalf("row %d is of %s", i, row.Name)
			}
			if want.Raw() != row.Raw() || !reflect.DeepEqual(row.Latency, want.Latency) || !reflect.DeepEqual(row.Bounds, want.Bounds) {
				t.Errorf("%s, bounds %v: another histogram: %d calls, p50 %d, want %d calls, p50 %d", row.Name, bounded,
					row.Latency.Count(), row.Latency.Quantile(0.5), want.Latency.Count(), want.Latency.Quantile(0.5))
			}
			row.Latency, row.Bounds, want.Latency, want.Bounds = nil, nil, nil, nil
			if !bounded {
				row.Self, want.Self = 0, 0 // it is not known
			}
			if !reflect.DeepEqual(row, want) {
				t.Errorf("bounds %v: row %+v, want %+v", bounded, row, want)
			}
		}
	}
}

// TestMergeHosts: each host has rows of its own; of one host, runs one after the other take as long
// as both, and what ran at the same time counts once.
func TestMergeHosts(t *testing.T) {
	var runs []*compare.Run
	for _, at := range []struct {
		host  string
		after time.Duration
	}{{"a", 0}, {"a", time.Minute}, {"b", 5 * time.Second}, {"", 0}} {
		one := make(table)
		for range 100 {
			one.call("main.f0", 1000, true)
		}
		runs = append(runs, read(t, one.write(at.host, noon.Add(at.after)), "file"+at.host)...)
	}
	got, err := compare.Merge(runs, true)
	fixture.NoError(t, err)
	var text []string
	for _, row := range got.Funcs {
		text = append(text, fmt.Sprintf("%s %d in %gs: %g/s", row.Host, row.Calls, row.Seconds, row.Rate()))
	}
	if want := []string{"a 200 in 20s: 10/s", "b 100 in 10s: 10/s", "file 100 in 10s: 10/s"}; !reflect.DeepEqual(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	if got, err = compare.Merge(runs, false); err != nil || got.Seconds != 25 || got.Funcs[0].Rate() != 16 || !got.Began.Equal(noon) {
		t.Errorf("together %v in %v s from %v on, %v", got.Funcs[0].Rate(), got.Seconds, got.Began, err)
	}
	if _, err = compare.Merge(append(runs, runs[1]), false); err == nil || !strings.Contains(err.Error(), "in filea, too") {
		t.Errorf("the same run twice: %v", err)
	}
}

// TestAgain: what was added up can be written and added up again, and files can be put together.
func TestAgain(t *testing.T) {
	texts, _ := machines(t, 3, 10, true)
	once, err := compare.Merge(read(t, strings.Join(texts, "\n"), "all"), false)
	fixture.NoError(t, err)
	var b bytes.Buffer
	o := render.RowOptions{Style: render.Style{Format: render.JSON}, Latency: true, Errors: true, Events: once.Events()}
	fixture.NoError(t, render.Functions(&b, once.Funcs, o))
	fixture.NoError(t, render.SummaryJSON(&b, once.Summary, nil))
	again, err := compare.Merge(read(t, b.String(), "again"), false)
	fixture.NoError(t, err)
	for i := range once.Funcs {
		if !reflect.DeepEqual(once.Funcs[i], again.Funcs[i]) {
			t.Errorf("row %+v, again %+v", once.Funcs[i], again.Funcs[i])
		}
	}
}

// TestReadRefuses: what is no result is told with its file and line.
func TestReadRefuses(t *testing.T) {
	one := make(table)
	one.call("main.f0", 100_000, true)
	good := one.write("a", noon)
	lines := strings.SplitAfter(good, "\n")
	change := func(old, new string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, test := range []struct{ scenario, text, want string }{
		{"empty", "", "read out:0: no run is in it"},
		{"cut behind a line", lines[0], "read out:1: it ends here, without a summary"},
		{"cut in a line", lines[0][:200], "read out:1: parse as output of -o json: unexpected end"},
		{"cut in the last line", good[:len(good)-20], "read out:2: parse as output of -o json: unexpected end"},
		{"a recording", "# ftgo-recording 4 x\n", "read out:1: parse as output of -o json: invalid character '#'"},
		{"other JSON", "{\"name\":1}\n", `read out:1: a line of type "": only output of probe and count`},
		{"trace", good + `{"type":"call","function":"main.f"}`, `read out:3: a line of type "call": only output of probe and count`},
		{"intervals alone", `{"type":"function","function":"f","interval":1}` + "\n" + `{"type":"summary","interval":1}`, "read out:2: no run is in it"},
		{"an older ftgo's rows", change(`"buckets"`, `"pockets"`), "read out:1: latencies without buckets: it was written by an older ftgo"},
		{"an older ftgo's summary", change(`"began"`, `"started"`), "read out:2: a summary without the time of its run"},
		{"values", change(`"calls"`, `"value":"x","calls"`), "read out:1: made with --by"},
		{"sums", change(`"calls"`, `"sum_of":{},"calls"`), "read out:1: made with --sum"},
		{"another type", change(`"calls":1`, `"calls":"many"`), "read out:1: parse as output of -o json: "},
		{"too many calls", change(`"calls":1,`, `"calls":9007199254740993,`), "read out:1: 9007199254740993 calls or events are more than there can be"},
		{"more latencies", change(`"completed":1,"unwound":0,"open":0,"lost":0,"errors":1`, `"completed":0`), `read out:1: buckets of "main.f0": missing, or of more than 0 calls`},
		{"no bucket", change(`[[99328,1]]`, `[[99329,1]]`), `read out:1: parse as output of -o json: buckets: bucket of 99329 after -1 with 1 latencies: out of order, none begins there`},
		{"no buckets", change(`[[99328,1]]`, `[]`), `read out:1: parse as output of -o json: buckets: no bucket`},
		{"half of them", change(`"low":{"min"`, `"law":{"min"`), `read out:1: buckets of "main.f0": missing`},
		{"other pairs", change(`[[99328,1]]`, `[[99328,1],[99329]]`), `read out:1: `},
		{"more errors", change(`"errors":1`, `"errors":2`), "read out:1: 2 errors of 1 calls"},
		{"no time", change(`"seconds":10`, `"seconds":-1`), "read out:2: a run of -1 seconds"},
		{"hardly any time", change(`"seconds":10`, `"seconds":1e-310`), "read out:2: a run of 1e-310 seconds"},
		{"times before their begin", change(`"calls"`, `"sched":{"waiting":-1},"calls"`), "read out:1: sched: -1 ns"},
		{"waits before their begin", change(`"calls"`, `"sched":{"waits":{"lock":-2}},"calls"`), "read out:1: sched: -2 ns"},
		{"an estimate beyond its bounds", change(`"calls"`, `"seen":1,"calls_low":1000000,"calls"`), "read out:1: "},
		{"a bound without end", change(`"calls"`, `"seen":1,"calls_high":1e308,"calls"`), "read out:1: "},
		{"too many events", change(`"sched:sched_switch":1`, `"x":18446744073709551615`), `read out:1: 18446744073709551615 calls or events are more`},
		{"too long", change(`"seconds":10`, `"own_cpu_ns":-1,"seconds":10`), "read out:2: other CPU time than there can be"},
		{"probed for ages", change(`"seconds":10`, `"probing":{"ns":1e308},"seconds":10`), "read out:2: other CPU time than there can be"},
		{"a budget for nobody", change(`"seconds":10`, `"budget":{"percent":1e308},"seconds":10`), "read out:2: a budget of "},
	} {
		runs, err := compare.Read(strings.NewReader(test.text), "out")
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want %q", test.scenario, runs, err, test.want)
		}
	}
	// Numbers that are possible each may add up to ones that are not.
	row := `{"type":"function","function":"f","calls":9007199254740992}` + "\n"
	runs := read(t, strings.Repeat(row, 2048)+`{"type":"summary","began":"2026-11-23T12:00:00Z","seconds":1}`, "out")
	if sum, err := compare.Merge(runs, false); err == nil {
		t.Errorf("2048 times 2^53 calls are %d", sum.Funcs[0].Calls)
	}
	all := read(t, change(`"seconds":10`, `"own_cpu_ns":288230376151711744,"probing":{"ns":288230376151711744},"seconds":10`), "out")
	for range 6 {
		sum, err := compare.Merge(all, false)
		if err != nil || sum.OwnCPU < 1<<58 || sum.Probing.NS < 1<<58 || sum.Probing.NS > 1<<62 {
			t.Errorf("%d runs: %v, %+v", len(all), err, sum)
		}
		for _, r := range all {
			another := *r
			another.Began = noon.Add(time.Duration(len(all)) * time.Hour)
			all = append(all, &another)
		}
	}
	// No part exceeds its whole, which is not known if that of one run is not.
	for _, c := range []struct {
		one, other string
		want       stats.Probing
	}{
		{`{"ns":5,"ns_low":4,"ns_high":9,"cpu_ns":3}`, `{"ns":1,"ns_high":2,"cpu_ns":7}`, stats.Probing{NS: 4, Low: 3, High: 5, CPU: 10}},
		{`{"ns":5,"ns_low":4,"ns_high":9}`, `{"ns":1,"ns_high":2,"cpu_ns":2}`, stats.Probing{NS: 6, Low: 4, High: 11}},
		{`{"ns":1,"ns_high":2,"cpu_ns":2}`, `{"ns":5,"ns_low":4,"ns_high":9}`, stats.Probing{NS: 6, Low: 4, High: 11}},
	} {
		runs := read(t, change(`"seconds":10`, `"seconds":10,"probing":`+c.one), "one")
		other := read(t, change(`"seconds":10`, `"seconds":10,"probing":`+c.other), "other")
		other[0].Began = noon.Add(time.Hour)
		if sum, err := compare.Merge(append(runs, other...), false); err != nil || !reflect.DeepEqual(*sum.Probing, c.want) {
			t.Errorf("%s and %s: %v, %+v, want %+v", c.one, c.other, err, sum.Probing, c.want)
		}
	}
	twice := change(`[[99328,1]]`, `[[1,1]],"counts":[[99328,1]]`)
	if _, err := compare.Read(strings.NewReader(twice), "out"); err != nil {
		t.Errorf("a key that is there twice: %v", err)
	}
	// Keys may be added, and put in another order.
	if runs, err := compare.Read(strings.NewReader(change(`{"type":"function",`, `{"new":[{}],"type":"function",`)), "out"); err != nil || len(runs) != 1 || len(runs[0].Funcs) != 1 {
		t.Errorf("with a new key: %v, %v", runs, err)
	}
}

// FuzzRead: whatever a file has, it is refused in a line, or adds up.
func FuzzRead(f *testing.F) {
	texts, _ := machines(f, 2, 3, true)
	one := make(table)
	one.call("main.f0", 0, false)
	one.call("main.f0", 1<<60, false)
	f.Add([]byte(one.write("", noon)))
	f.Add([]byte(texts[0][:3000]))
	f.Add([]byte(one.write("a", noon) + texts[1]))
	f.Add([]byte(`{"type":"function","function":"f","calls":1,"seen":{"timed":1,"counted":0.5}}` + "\n" + `{"type":"summary","began":"2026-11-23T12:00:00Z","seconds":1e10}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		runs, err := compare.Read(bytes.NewReader(text), "f")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		sum, err := compare.Merge(runs, false)
		if err != nil {
			return
		}
		var calls, summed uint64
		for _, r := range runs {
			for i := range r.Funcs {
				calls += r.Funcs[i].Calls
			}
		}
		for _, row := range sum.Funcs {
			summed += row.Calls
			if row.Rate() < 0 || math.IsNaN(row.Rate()) || math.IsInf(row.Rate(), 0) {
				t.Errorf("rate %v", row.Rate())
			}
		}
		if calls != summed {
			t.Errorf("%d calls add up to %d", calls, summed)
		}
		var b strings.Builder
		if err := render.Functions(&b, sum.Funcs, render.RowOptions{Style: render.Style{Format: render.JSON}, Latency: true, Events: sum.Events()}); err != nil {
			t.Error(err)
		}
	})
}

// TestReadSparse: buckets far apart cost most memory, since one of each power of two takes 512 bytes; it is
// bounded by what the file has of them.
func TestReadSparse(t *testing.T) {
	one := make(table)
	for f := range 100 {
		for shift := range 62 {
			one.call(fmt.Sprint("main.f", f), 1<<shift, false)
		}
	}
	text := one.write("a", noon)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	runs := read(t, text, "f")
	sum, err := compare.Merge(runs, false)
	fixture.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took, most := after.HeapAlloc-before.HeapAlloc, uint64(100*len(text)); after.HeapAlloc > before.HeapAlloc && took > most {
		t.Errorf("%d bytes of a file of %d", took, len(text))
	}
	runtime.KeepAlive(runs)
	runtime.KeepAlive(sum)
}
