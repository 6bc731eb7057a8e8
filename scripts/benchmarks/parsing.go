//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parsing runs the benchmarks of what reads a trace.
func parsing(b *bench, w *bytes.Buffer) error {
	g := newGrid("benchmark", "", func(_, unit string, v float64) string {
		if unit == "ns/op" {
			return fmt.Sprintf("%.1f", v)
		}
		return fmt.Sprintf("%.0f", v)
	})
	for range b.rounds {
		o, err := b.run(5*time.Minute, "go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", pick(b, "500ms", "50ms"), "./internal/parse", "./internal/ftrace")
		if err != nil {
			return err
		}
		for line := range strings.Lines(o.stdout) {
			words := strings.Fields(line)
			if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(words[0], "Benchmark"), "-")
			for i := 2; i+1 < len(words); i += 2 {
				v, err := strconv.ParseFloat(words[i], 64)
				if err != nil {
					return fmt.Errorf("read benchmark %q: %w", line, err)
				}
				g.add(name, words[i+1], v)
			}
		}
	}
	fmt.Fprint(w, "An operation of `go test -bench . ./internal/parse ./internal/ftrace` is a line, unless its name says otherwise.\n\n")
	g.write(w)
	for _, name := range g.rows {
		b.atMost("allocations, Benchmark"+name, g.median(name, "allocs/op"), 0, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	}
	return nil
}
