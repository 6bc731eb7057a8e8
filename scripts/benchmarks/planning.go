//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// planning measures how long it takes, and how much memory, to find out what to probe.
func planning(b *bench, w *bytes.Buffer) error {
	size := pick(b, huge{40, 3000}, huge{8, 500})
	big, stripped := b.path("big"), b.path("stripped")
	if err := b.generate(size, big, stripped); err != nil {
		return err
	}
	took := newGrid("time", "", func(_, _ string, v float64) string { return nanoseconds(v) })
	memory := newGrid("memory, max RSS", "", func(_, _ string, v float64) string { return megabytes(v) })
	programs := []struct{ name, path, one string }{
		{"small", b.path("hot"), "main.framed"},
		{"go", goTool(), "main.main"},
		{"huge", big, "main.f"},
		{"huge, -s -w", stripped, "main.f"},
	}
	type way struct {
		row  string
		name string
		args func(path, one string) []string
	}
	ways := []way{
		{"ftgo probe, one function", b.ftgo, func(path, one string) []string { return []string{"probe", "--dry-run", path, one} }},
		{"ftgo trace, one function (types from DWARF)", b.ftgo, func(path, one string) []string { return []string{"trace", "--dry-run", path, one} }},
		{"ftgo count, all functions", b.ftgo, func(path, one string) []string { return []string{"count", "--dry-run", path, "*"} }},
		{"ftgo probe, all functions", b.ftgo, func(path, one string) []string { return []string{"probe", "--dry-run", path, "*"} }},
	}
	if b.perf != "" {
		ways = append(ways, way{"perf probe -n, one function", b.perf, func(path, one string) []string {
			return []string{"probe", "-q", "-n", "-x", path, "--add", perfEvents() + "=" + one}
		}})
	}
	for range b.rounds {
		for _, p := range programs {
			for _, way := range ways {
				if took.refused[took.at(way.row, p.name)] != "" {
					continue
				}
				null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				c, err := b.startTo(null, 2*time.Minute, way.name, way.args(p.path, p.one)...)
				if err != nil {
					return err
				}
				o, err := c.wait()
				if b.ctx.Err() != nil {
					return b.ctx.Err()
				}
				if err != nil && way.name == b.ftgo {
					return err
				}
				if err != nil {
					took.refuse(way.row, p.name, err)
					memory.refuse(way.row, p.name, err)
					continue
				}
				took.add(way.row, p.name, float64(o.ended.Sub(o.launched)))
				memory.add(way.row, p.name, o.maxRSS)
			}
		}
	}
	sizes := ""
	for _, p := range programs {
		info, err := os.Stat(p.path)
		if err != nil {
			return err
		}
		sizes += fmt.Sprintf(", %s: %.0f MB", p.name, float64(info.Size())/1e6)
	}
	fmt.Fprintf(w, "From the launch of the command to its end, with --dry-run. %s; the huge one has %d functions of its own.\n\n",
		sizes[2:], size.packages*size.functions)
	took.write(w)
	fmt.Fprintln(w)
	memory.write(w)
	for _, program := range []string{"huge", "huge, -s -w"} {
		b.atMost("plan one function, "+program, took.median(ways[0].row, program), 50e6, nanoseconds)
		b.atMost("memory for that", memory.median(ways[0].row, program), 64<<20, megabytes)
	}
	b.atMost("plan all functions to count, huge", took.median(ways[2].row, "huge"), 3e9, nanoseconds)
	b.atMost("plan all functions to probe, huge", took.median(ways[3].row, "huge"), 3e9, nanoseconds)
	return nil
}

func megabytes(v float64) string { return fmt.Sprintf("%.0f MB", v/(1<<20)) }
