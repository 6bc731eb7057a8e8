// Command soaks runs programs with probes on all their functions and compares what they do with
// what they do without: see scripts/soak.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// soak is what one invocation was told.
type soak struct {
	state  string        // directory: binaries, results
	ftgo   string        // built from this repository
	commit string        // of ftgo
	budget time.Duration // for a package in a mode, under probes
	again  bool
	run    string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("soak: ")
	cache, err := os.UserCacheDir()
	if err != nil {
		log.Fatal(err)
	}
	s := soak{}
	flag.StringVar(&s.state, "state", filepath.Join(cache, "ftgo-soak"), "keep binaries and results in this directory")
	flag.DurationVar(&s.budget, "budget", 3*time.Minute, "let a package's tests run so long under probes; those that take longer are named")
	flag.BoolVar(&s.again, "again", false, "run what has been run before, too")
	page := flag.String("o", "docs/soak.md", "write the table to this file")
	modes := flag.String("mode", "", "run in these `MODES`, divided by commas: probe (entries and returns), count (entries); with -long probe, probe --reader raw, trace (default all)")
	flag.StringVar(&s.run, "run", "", "of a package's tests only those that `REGEXP` matches")
	goTool := flag.Bool("go", false, "probe the go tool and the compiler instead")
	files := flag.Int("hostile", 0, "have ftgo read so many damaged and bloated files instead")
	long := flag.Duration("long", 0, "probe a program that calls as fast as it can for so long instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.prepare(ctx); err != nil {
		log.Fatal(err)
	}
	switch {
	case *goTool:
		err = s.goTool(ctx)
	case *files > 0:
		err = s.hostile(ctx, *files)
	case *long > 0:
		err = s.long(ctx, *long, modesOf(*modes, "probe,probe --reader raw,trace"))
	default:
		packages := flag.Args()
		if len(packages) == 0 {
			packages = standard
		}
		err = s.packages(ctx, packages, modesOf(*modes, "probe,count"))
	}
	bad, perr := s.writePage(*page)
	for _, err := range []error{err, perr} {
		if err != nil {
			log.Fatal(err)
		}
	}
	if bad > 0 {
		log.Fatalf("%d results differ: see %s", bad, *page)
	}
}

func modesOf(value, all string) []string { return strings.Split(cmp.Or(value, all), ",") }

// prepare builds ftgo.
func (s *soak) prepare(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.state, 0o755); err != nil {
		return err
	}
	if s.state, err = filepath.Abs(s.state); err != nil {
		return err
	}
	s.ftgo = filepath.Join(s.state, "ftgo")
	build := command(ctx, "go", "build", "-o", s.ftgo, "./cmd/ftgo")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as scripts/release does
	if err := build.Run(); err != nil {
		return fmt.Errorf("build ftgo: %w", err)
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	s.commit = strings.TrimSpace(string(commit))
	return err
}

// command talks to standard error only.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd
}

// packages runs the tests of each package in each mode, unless that has been done.
func (s *soak) packages(ctx context.Context, packages, modes []string) error {
	for _, name := range packages {
		for _, mode := range modes {
			if mode != "probe" && mode != "count" {
				return fmt.Errorf("-mode %q: neither probe nor count", mode)
			}
			r := result{Package: name, Mode: mode, Commit: s.commit, Run: s.run}
			if !s.again && s.done(&r) {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s %s %s\n", time.Now().Format(time.TimeOnly), mode, name)
			if err := s.compare(ctx, &r); err != nil {
				return fmt.Errorf("%s %s: %w", mode, name, err)
			}
			if ctx.Err() != nil {
				return ctx.Err() // what was interrupted is no result
			}
			fmt.Fprintf(os.Stderr, "  %s\n", r.text())
			if err := s.save(&r); err != nil {
				return err
			}
		}
	}
	return nil
}
