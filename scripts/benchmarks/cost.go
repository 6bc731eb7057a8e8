//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"time"
)

// runner measures once; its results are added to a grid.
type runner struct {
	row, col string
	run      func() (stamp, error)
}

// perCall runs all runners in turn, each round, and returns what a call took. The column
// "ftgo" must not fail.
func (b *bench) perCall(g *grid, runners []runner) error {
	for range b.rounds {
		for _, r := range runners {
			if g.refused[[2]string{r.row, r.col}] != "" {
				continue
			}
			s, err := r.run()
			switch {
			case b.ctx.Err() != nil:
				return b.ctx.Err()
			case err == nil:
				g.add(r.row, r.col, s.perCall())
			case r.col == alone || r.col == "ftgo":
				return err
			default:
				g.refuse(r.row, r.col, err)
			}
		}
	}
	return nil
}

const (
	alone = "no tracer"
	// byName is perf with calls probed where it puts a function's name.
	byName = "perf, by name"
	// childLimit is for a child that should take a second.
	childLimit = time.Minute
)

// costs measures what a call of one small function costs the program that makes it.
func costs(b *bench, w *bytes.Buffer) error {
	hot := b.path("hot")
	g := newGrid("", "ftgo", func(_, _ string, v float64) string { return nanoseconds(v) })
	g.notBase = []string{alone}
	g.cols = []string{alone, "ftgo", "bpftrace", "perf", byName, "trace-cmd", "delve"}
	var runners []runner
	for _, f := range []string{"framed", "frameless"} {
		fn := "main." + f
		target := []string{hot, "-f", f, "-for", pick(b, "400ms", "100ms")}
		entries, returns, err := b.places(hot, fn)
		if err != nil {
			return err
		}
		entry, ret := entries[0].perf, returns[0].perf
		under := func(row, col, tool string, run func() (stamp, error)) {
			if tool == "" {
				return
			}
			runners = append(runners, runner{row, col, run})
		}
		counted, timed, shown := "count, "+f, "latency, "+f, "two arguments, "+f
		full := "arguments and result, " + f
		for _, row := range []string{counted, timed, shown, full} {
			under(row, alone, "-", func() (stamp, error) { return b.traced(childLimit, hot, target[1:]...) })
		}
		ftgo := func(row string, args ...string) {
			under(row, "ftgo", "-", func() (stamp, error) { return b.underFtgo(childLimit, append(args, hot, fn), target...) })
		}
		bpf := func(row, script string) {
			under(row, "bpftrace", b.bpftrace, func() (stamp, error) { return b.underBpftrace(childLimit, script, target...) })
		}
		perf := func(row, col string, args []string, definitions ...string) {
			under(row, col, b.perf, func() (stamp, error) { return b.underPerf(childLimit, args, hot, definitions, target...) })
		}
		traceCmd := func(row string, definitions ...string) {
			if b.traceCmd == "" || b.perf == "" {
				return
			}
			under(row, "trace-cmd", b.traceCmd, func() (stamp, error) { return b.underTraceCmd(childLimit, hot, definitions, target...) })
		}
		site := fmt.Sprintf("uprobe:%s:%q", hot, fn)
		ftgo(counted, "count")
		bpf(counted, site+" { @ = count(); }")
		perf(counted, "perf", perfStat, entry)
		perf(counted, byName, perfStat, fn)

		ftgo(timed, "probe")
		bpf(timed, fmt.Sprintf("%s+%d { @s[tid] = nsecs; } %s+%d /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }",
			site, entries[0].inside, site, returns[0].inside))
		perf(timed, "perf", perfRecord, entry, ret)
		perf(timed, byName, perfRecord, fn, ret)
		traceCmd(timed, entry, ret)

		ftgo(shown, "trace", "--entries")
		bpf(shown, site+` { printf("%d %d\n", reg("ax"), reg("bx")); }`)
		perf(shown, "perf", perfRecord, entry+" a=%ax b=%bx")
		traceCmd(shown, entry+" a=%ax b=%bx")

		ftgo(full, "trace")
		perf(full, "perf", perfRecord, entry+" a=%ax b=%bx", ret+" r=%ax")
		under(full, "delve", b.dlv, func() (stamp, error) { return b.underDelve(childLimit, `^main\.`+f+"$", target...) })
	}
	if err := b.perCall(g, runners); err != nil {
		return err
	}
	fmt.Fprint(w, "Of a small function that is called without a pause. `framed` has a stack check and saves the frame pointer, `frameless`\n"+
		"does neither. Count: ftgo count, bpftrace count(), perf stat. Latency: ftgo probe, bpftrace hist() by thread, perf\n"+
		"record of two places; every RET is single-stepped. perf, and bpftrace for latency, probe the very instructions that ftgo\n"+
		"has chosen; for the rest bpftrace probes the function's first, as perf does by name. Arguments: ftgo trace (--entries),\n"+
		"bpftrace printf(), perf record, dlv trace.\n\n")
	g.write(w)
	over := func(row, col string) float64 { return g.median(row, col) - g.median(row, alone) }
	for _, c := range []struct {
		row, peer string
		limit     float64
	}{
		{"count, framed", "bpftrace", 0.10}, {"count, frameless", "bpftrace", 1.0},
		{"latency, framed", byName, 0.60}, {"latency, framed", "perf", 0.60}, {"latency, framed", "bpftrace", 0.60}, {"latency, frameless", "perf", 0.60},
	} {
		if g.median(c.row, c.peer) > 0 {
			b.ratioAtMost(c.row+": ftgo ÷ "+c.peer, over(c.row, "ftgo"), over(c.row, c.peer), c.limit)
		}
	}
	return nil
}
