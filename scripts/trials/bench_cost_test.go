package trials

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// byName is perf with calls probed where it puts a function's name.
const byName = "perf, by name"

// perCall is a task that adds what a call took. The columns alone and ftgo's must not fail.
func (b *bench) perCall(g *grid, row, col string, run func() (stamp, error)) task {
	return task{row: row, col: col, ours: col == alone || strings.HasPrefix(col, "ftgo"), run: func() error {
		s, err := run()
		if err == nil {
			g.add(row, col, s.perCall())
		}
		return err
	}}
}

// costs measures what a call of one small function costs the program that makes it.
func (b *bench) costs() {
	g := newGrid("", "ftgo", nil)
	g.cols = []string{alone, "ftgo", "bpftrace", "perf", byName, "delve"}
	var tasks []task
	for _, f := range []string{"framed", "frameless"} {
		fn := "main." + f
		target := []string{b.hot, "-f", f, "-for", pick("400ms", "100ms")}
		entry, ret := b.ends(b.hot, fn)
		entryPlace, retPlace := fmt.Sprintf("%s+%d", fn, entry), fmt.Sprintf("%s+%d", fn, ret)
		under := func(row, col, tool string, run func() (stamp, error)) {
			if tool != "" {
				tasks = append(tasks, b.perCall(g, row, col, run))
			}
		}
		ftgo := func(row string, args ...string) {
			under(row, "ftgo", b.ftgo, func() (stamp, error) { return b.underFtgo(append(args, b.hot, fn), target...) })
		}
		bpf := func(row, script string) {
			under(row, "bpftrace", b.bpftrace, func() (stamp, error) { return b.underBpftrace(script, target...) })
		}
		perf := func(row, col string, args []string, definitions ...string) {
			under(row, col, b.perf, func() (stamp, error) { return b.underPerf(args, b.hot, definitions, target...) })
		}
		counted, timed, shown, full := "count, "+f, "latency, "+f, "two arguments, "+f, "arguments and result, "+f
		for _, row := range []string{counted, timed, shown, full} {
			under(row, alone, b.hot, func() (stamp, error) { return b.traced(b.hot, target[1:]...) })
		}
		site := fmt.Sprintf("uprobe:%s:%q", b.hot, fn)
		ftgo(counted, "count")
		bpf(counted, site+" { @ = count(); }")
		perf(counted, "perf", perfStat, entryPlace)
		perf(counted, byName, perfStat, fn)

		ftgo(timed, "probe")
		bpf(timed, fmt.Sprintf("%s+%d { @s[tid] = nsecs; } %s+%d /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }", site, entry, site, ret))
		perf(timed, "perf", perfRecord, entryPlace, retPlace)
		perf(timed, byName, perfRecord, fn, retPlace)

		ftgo(shown, "trace", "--entries")
		bpf(shown, site+` { printf("%d %d\n", reg("ax"), reg("bx")); }`)
		perf(shown, "perf", perfRecord, entryPlace+" a=%ax b=%bx")

		ftgo(full, "trace")
		perf(full, "perf", perfRecord, entryPlace+" a=%ax b=%bx", retPlace+" r=%ax")
		under(full, "delve", b.dlv, func() (stamp, error) { return b.underDelve(`^main\.`+f+"$", target...) })
	}
	b.turns(g, tasks)
	fmt.Fprint(&b.body, "The program calls a small function without a pause. `framed` has a stack check and saves the frame pointer, `frameless` does\n"+
		"neither. Count: ftgo count, bpftrace count(), perf stat. Latency: ftgo probe, bpftrace hist() by thread, perf record of two\n"+
		"places; the kernel single-steps every RET. perf, and bpftrace for latency, probe the same instructions as ftgo. In the other\n"+
		"rows bpftrace probes the function's first instruction, and so does perf by name. Arguments: ftgo trace (--entries), bpftrace\n"+
		"printf(), perf record, dlv trace.\n\n")
	g.write(&b.body)
	over := func(row, col string) float64 { return g.median(row, col) - g.median(row, alone) }
	for _, c := range []struct {
		row, peer string
		limit     float64
	}{
		{"count, framed", "bpftrace", 0.10}, {"count, frameless", "bpftrace", 1.0},
		{"latency, framed", byName, 0.60}, {"latency, framed", "perf", 0.60}, {"latency, framed", "bpftrace", 0.60}, {"latency, frameless", "perf", 0.60},
	} {
		if g.median(c.row, c.peer) > 0 {
			b.atMost(c.row+": ftgo ÷ "+c.peer, over(c.row, "ftgo")/over(c.row, c.peer), c.limit, ratioText)
		}
	}
}

// filters measures what a filter costs a program that lets nearly all calls fall through.
func (b *bench) filters() {
	const fn, row = "main.build", "a call of main.build"
	builder := fixture.Build(b, "builder")
	target := []string{builder, "-n", pick("300000", "50000")}
	g := newGrid("", "ftgo count", nil)
	ftgo := func(args ...string) func() (stamp, error) {
		return func() (stamp, error) { return b.underFtgo(append(args, builder, fn), target...) }
	}
	tasks := []task{
		b.perCall(g, row, alone, func() (stamp, error) { return b.traced(builder, target[1:]...) }),
		b.perCall(g, row, "ftgo count", ftgo("count")),
		b.perCall(g, row, "ftgo trace --entries --where 'n == 5556 && key == \"bob\"'", ftgo("trace", "--entries", "--where", `n == 5556 && key == "bob"`)),
	}
	if b.bpftrace != "" {
		script := fmt.Sprintf(`uprobe:%s:%q /reg("cx") == 5556/ { printf("%%s\n", str(reg("ax"), reg("bx"))); }`, builder, fn)
		tasks = append(tasks, b.perCall(g, row, `bpftrace /reg("cx") == 5556/`, func() (stamp, error) { return b.underBpftrace(script, target...) }))
	}
	b.turns(g, tasks)
	g.write(&b.body)
}

// parsing runs the benchmarks of what reads a trace.
func (b *bench) parsing() {
	g := newGrid("benchmark", "", func(unit string, v float64) string {
		if unit == "ns/op" {
			return fmt.Sprintf("%.1f", v)
		}
		return whole(v)
	})
	for b.Loop() {
		test := command(b, 5*time.Minute, "go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", pick("500ms", "50ms"),
			"./internal/pairing", "./parse")
		o, err := test.run()
		check(b, err)
		for line := range strings.Lines(o.stdout) {
			words := strings.Fields(line)
			if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(words[0], "Benchmark"), "-")
			for i := 2; i+1 < len(words); i += 2 {
				v, err := strconv.ParseFloat(words[i], 64)
				check(b, err)
				g.add(name, words[i+1], v)
			}
		}
	}
	fmt.Fprint(&b.body, "An operation of `go test -bench . ./internal/pairing ./parse` parses one line, unless its name says otherwise.\n\n")
	g.write(&b.body)
	for _, name := range g.rows {
		most := 0.0
		if strings.HasPrefix(name, "Stream/") {
			most = 10 // once for each pass over the buffers, not for an event
		}
		b.atMost("allocations, Benchmark"+name, g.median(name, "allocs/op"), most, whole)
	}
}

// planning measures how long it takes, and how much memory, to find out what to probe.
func (b *bench) planning() {
	size := pick(huge{40, 3000}, huge{8, 500})
	big, stripped := b.generate(size)
	took := newGrid("time", "", nil)
	memory := newGrid("memory, max RSS", "", func(_ string, v float64) string { return megabytes(v) })
	programs := []struct{ name, path, one string }{
		{"small", b.hot, "main.framed"},
		{"go", fixture.GoCommand(b), "main.main"},
		{"huge", big, "main.f"},
		{"huge, -s -w", stripped, "main.f"},
	}
	const oneFunc, oneTyped = "ftgo probe, one function", "ftgo trace, one function (types included)"
	const countAll, probeAll = "ftgo count, all functions", "ftgo probe, all functions"
	sizes := ""
	var tasks []task
	for _, p := range programs {
		info, err := os.Stat(p.path)
		check(b, err)
		sizes += fmt.Sprintf(", %s: %.0f MB", p.name, float64(info.Size())/1e6)
		way := func(row, tool string, args ...string) {
			tasks = append(tasks, task{row: row, col: p.name, ours: tool == b.ftgo, run: func() error {
				c := command(b, childLimit, tool, args...)
				c.Stdout = nil
				o, err := c.run()
				if err != nil {
					memory.refuse(row, p.name, err)
					return err
				}
				took.add(row, p.name, float64(o.ended.Sub(o.launched)))
				memory.add(row, p.name, o.maxRSS)
				return nil
			}})
		}
		way(oneFunc, b.ftgo, "probe", "--dry-run", p.path, p.one)
		way(oneTyped, b.ftgo, "trace", "--dry-run", p.path, p.one)
		way(countAll, b.ftgo, "count", "--dry-run", p.path, "*")
		way(probeAll, b.ftgo, "probe", "--dry-run", p.path, "*")
		if b.perf != "" {
			way("perf probe -n, one function", b.perf, "probe", "-q", "-n", "-x", p.path, "--add", perfEvents+"="+p.one)
		}
	}
	b.turns(took, tasks)
	fmt.Fprintf(&b.body, "The time is from the launch of the command to its end, with --dry-run. Programs: %s. The huge program has %d functions of its own.\n\n",
		sizes[2:], size.packages*size.functions)
	took.write(&b.body)
	fmt.Fprintln(&b.body)
	memory.write(&b.body)
	for _, program := range []string{"huge", "huge, -s -w"} {
		b.atMost("plan one function, "+program, took.median(oneFunc, program), 50e6, nanoseconds)
		b.atMost("memory for that", memory.median(oneFunc, program), 64<<20, megabytes)
	}
	b.atMost("plan one function with its arguments, huge, -s -w", took.median(oneTyped, "huge, -s -w"), 50e6, nanoseconds)
	b.atMost("memory for that", memory.median(oneTyped, "huge, -s -w"), 40<<20, megabytes)
	b.atMost("plan all functions to count, huge", took.median(countAll, "huge"), 3e9, nanoseconds)
	b.atMost("plan all functions to probe, huge", took.median(probeAll, "huge"), 3e9, nanoseconds)
}
