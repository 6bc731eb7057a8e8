//go:build ignore

// Benchmarks measures what limits a tracer: what a hit costs the program, how long arming
// and disarming take, how many events a second reach the user, how big a binary can be. It
// runs ftgo and its peers on the same programs, in turn, several rounds, and writes a
// Markdown file with medians and ratios. scripts/bench runs it.
//
// Nothing remains: programs are built in a temporary folder, every child has a time
// limit, and the kernel's probes are taken out by the tools that put them in.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "measure everything so many times")
	only := flag.String("only", "", "only the sections whose names match `REGEXP`: "+names())
	quick := flag.Bool("quick", false, "one short round with less of everything, within two minutes: to see that it works")
	file := flag.String("o", "", "write to `FILE` (default docs/benchmarks.md; standard output with -only or -quick)")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err == nil {
		if *file == "" && *only == "" && !*quick {
			*file = "docs/benchmarks.md"
		}
		if *quick {
			*rounds = 1
		}
		err = measure(*rounds, *quick, wanted, *file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// section measures one thing and writes of it.
type section struct {
	name, title string
	measure     func(*bench, *bytes.Buffer) error
}

// sections are in an order that keeps this process small for the first: what a child of
// it is said to have used of memory is at least what this process has.
var sections = []section{
	{"plan", "Planning", planning},
	{"cost", "What a call costs the program", costs},
	{"filter", "A filter that lets through one call in 10,000", filters},
	{"arm", "Arming and disarming", arming},
	{"split", "Arming by the number of sites", splits},
	{"read", "Reading", reading},
	{"parse", "Parsing", parsing},
}

func names() (all string) {
	for _, s := range sections {
		all += " " + s.name
	}
	return all[1:]
}

// bench is one run.
type bench struct {
	ctx    context.Context
	dir    string // of programs built, and of output
	rounds int
	quick  bool
	ftgo   string
	peers
	checks []check
}

func measure(rounds int, quick bool, wanted *regexp.Regexp, file string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	dir, err := os.MkdirTemp("", "ftgo-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{ctx: ctx, dir: dir, rounds: max(rounds, 1), quick: quick, ftgo: filepath.Join(dir, "ftgo")}
	if err := b.build(b.ftgo, "./cmd/ftgo"); err != nil {
		return err
	}
	if err := b.build(b.path("hot"), "./testdata/hot"); err != nil {
		return err
	}
	var body bytes.Buffer
	b.findPeers()
	for _, s := range sections {
		if !wanted.MatchString(s.name) {
			continue
		}
		begun := time.Now()
		fmt.Fprintf(&body, "\n## %s\n\n", s.title)
		if err := s.measure(b, &body); err != nil {
			return fmt.Errorf("measure %s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s: %.0f s\n", s.name, time.Since(begun).Seconds())
	}
	text := bytes.ReplaceAll(append(b.preface(), body.Bytes()...), []byte(dir+"/"), nil)
	if file == "" {
		_, err = os.Stdout.Write(text)
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// build compiles a package of this module.
func (b *bench) build(to, pkg string) error {
	_, err := b.run(5*time.Minute, "go", "build", "-o", to, pkg)
	return err
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// pick is full, or less of it in a quick run.
func pick[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}
