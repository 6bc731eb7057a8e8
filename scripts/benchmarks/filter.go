//go:build ignore

package main

import (
	"bytes"
	"fmt"
)

// filters measures what a filter costs a program that lets nearly all calls fall through.
func filters(b *bench, w *bytes.Buffer) error {
	builder := b.path("builder")
	if err := b.build(builder, "./testdata/builder"); err != nil {
		return err
	}
	target := []string{builder, "-n", pick(b, "300000", "50000")}
	const (
		fn  = "main.build"
		row = "a call of main.build"
	)
	g := newGrid("", "ftgo count", func(_, _ string, v float64) string { return nanoseconds(v) })
	g.notBase = []string{alone}
	columns := []runner{
		{row, alone, func() (stamp, error) { return b.traced(childLimit, builder, target[1:]...) }},
		{row, "ftgo count", func() (stamp, error) { return b.underFtgo(childLimit, []string{"count", builder, fn}, target...) }},
		{row, "ftgo trace --entries --where 'n == 5556 && key == \"bob\"'", func() (stamp, error) {
			return b.underFtgo(childLimit, []string{"trace", "--entries", "--where", `n == 5556 && key == "bob"`, builder, fn}, target...)
		}},
	}
	if b.bpftrace != "" {
		columns = append(columns, runner{row, `bpftrace /reg("cx") == 5556/`, func() (stamp, error) {
			script := fmt.Sprintf(`uprobe:%s:%q /reg("cx") == 5556/ { printf("%%s\n", str(reg("ax"), reg("bx"))); }`, builder, fn)
			return b.underBpftrace(childLimit, script, target...)
		}})
	}
	if err := b.perCall(g, columns); err != nil {
		return err
	}
	g.write(w)
	return nil
}
