package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// compare runs the tests of r's package without probes and with, and notes what differs.
func (s *soak) compare(ctx context.Context, r *result) error {
	p, err := s.build(ctx, r.Package)
	if err != nil {
		return err
	}
	begin := time.Now()
	plain, err := p.run(ctx, nil, 10*time.Minute)
	if err != nil {
		return err
	}
	if plain.crash != "" {
		return fmt.Errorf("without probes: %s", plain.crash)
	}
	r.Without = time.Since(begin).Seconds()
	r.Tests = len(plain.tests)
	for _, how := range plain.tests {
		if how == "FAIL" {
			r.Failed++
		}
	}
	probed := outcome{tests: make(map[string]string)}
	begin = time.Now()
	for r.Crash == "" && ctx.Err() == nil {
		left := s.budget - time.Since(begin)
		if left < time.Second {
			break
		}
		// What has ended or is too slow is left out of the next round.
		o, err := s.probed(ctx, r, p, left/2+time.Second, "-test.skip="+exactly(slices.Concat(topLevel(probed.tests), r.Slow)))
		if err != nil {
			return err
		}
		maps.Copy(probed.tests, o.tests)
		r.Crash = o.crash
		r.Rounds++
		if !o.timedOut {
			break
		}
		for _, name := range o.running {
			name, _, _ = strings.Cut(name, "/")
			if !slices.Contains(r.Slow, name) {
				r.Slow = append(r.Slow, name)
			}
		}
	}
	r.Seconds = time.Since(begin).Seconds()
	// Their subtests may have ended; they count with them.
	for _, name := range r.Slow {
		maps.DeleteFunc(probed.tests, func(test, _ string) bool { return test == name || strings.HasPrefix(test, name+"/") })
	}
	for _, name := range slices.Sorted(maps.Keys(plain.tests)) {
		top, _, _ := strings.Cut(name, "/")
		switch how := probed.tests[name]; {
		case how == plain.tests[name]:
			r.Same++
		case probed.tests[top] == "" && slices.Contains(r.Slow, top):
		case probed.tests[top] == "":
			if name == top {
				r.Slow = append(r.Slow, name) // not begun
			}
		default:
			r.Differ = append(r.Differ, difference{Test: name, Without: plain.tests[name], With: probed.of(name)})
		}
	}
	return s.explain(ctx, r, p)
}

// explain finds out about each test that differs whether that is for slowness.
func (s *soak) explain(ctx context.Context, r *result, p *program) error {
	again, slow := make(map[string]outcome), make(map[string]outcome)
	for i := range r.Differ {
		d := &r.Differ[i]
		top, _, _ := strings.Cut(d.Test, "/")
		alone := "-test.run=" + exactly([]string{top})
		if _, ok := again[top]; !ok {
			o, err := s.probed(ctx, &result{Mode: r.Mode}, p, s.budget, alone)
			if err != nil {
				return err
			}
			again[top] = o
		}
		if d.Again = again[top].of(d.Test); d.Again == d.Without {
			continue
		}
		if _, ok := slow[top]; !ok {
			o, err := p.run(ctx, slowed, 10*time.Minute, alone)
			if err != nil {
				return err
			}
			slow[top] = o
		}
		d.Slowed = slow[top].of(d.Test)
	}
	return ctx.Err()
}

// topLevel are the tests that are no parts of others.
func topLevel(tests map[string]string) []string {
	var names []string
	for name := range tests {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// exactly matches these tests, and none if there is none.
func exactly(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	if len(quoted) == 0 {
		return "^$" // an empty one would be no pattern
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// build compiles the tests of a package of the standard library.
func (s *soak) build(ctx context.Context, name string) (*program, error) {
	goroot, err := goEnv(ctx, "GOROOT")
	if err != nil {
		return nil, err
	}
	p := &program{dir: filepath.Join(goroot, "src", name), file: filepath.Join(s.state, strings.ReplaceAll(name, "/", "-")+".test")}
	if _, err := os.Stat(p.file); err == nil && !s.again {
		return p, nil
	}
	build := command(ctx, "go", "test", "-c", "-o", p.file, name)
	build.Dir = p.dir
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build tests of %s: %w", name, err)
	}
	return p, nil
}
