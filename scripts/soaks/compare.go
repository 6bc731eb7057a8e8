package main

import (
	"cmp"
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

// plainTime is what a test has without probes: one that takes longer is too slow for them.
const plainTime = time.Minute

// leastTime is what a test has with probes, however many there are.
const leastTime = 5 * time.Second

// timed is a test with its subtests, run alone without probes.
type timed struct {
	name  string
	took  time.Duration
	tests map[string]string
}

// compare runs each test of r's package in a process of its own without probes and with, and notes
// what differs. Those that are quickest without probes come first.
func (s *soak) compare(ctx context.Context, r *result) error {
	p, err := s.build(ctx, r.Package)
	if err != nil {
		return err
	}
	tests, err := p.plain(ctx, r)
	if err != nil {
		return err
	}
	x, err := s.probing(ctx, r.Mode, p.file)
	if err != nil {
		return err
	}
	err = s.each(ctx, r, p, tests)
	sum, ended := x.end()
	if err != nil {
		return err
	}
	if ended != nil {
		r.Crash = ended.Error()
		return nil
	}
	r.add(&sum)
	return s.explain(ctx, r, p)
}

// plain runs the tests without probes, and returns them in the order of the time they took.
func (p *program) plain(ctx context.Context, r *result) ([]timed, error) {
	names, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var tests []timed
	for _, name := range names {
		begin := time.Now()
		o, err := p.run(ctx, nil, plainTime, name)
		if err != nil {
			return nil, err
		}
		took := time.Since(begin)
		r.Without += took.Seconds()
		switch {
		case o.crash != "":
			return nil, fmt.Errorf("%s without probes: %s", name, o.crash)
		case o.timedOut:
			r.Tests++
			r.slow(name, 1)
			continue
		}
		r.Tests += len(o.tests)
		tests = append(tests, timed{name, took, o.tests})
	}
	slices.SortFunc(tests, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	return tests, nil
}

// each runs the tests with probes, as long as the budget lasts.
func (s *soak) each(ctx context.Context, r *result, p *program, tests []timed) error {
	begin := time.Now()
	for i, t := range tests {
		left := s.budget - time.Since(begin)
		if left < time.Second {
			r.Unreached += len(t.tests)
			r.UnreachedNames = append(r.UnreachedNames, t.name)
			continue
		}
		// The slower ones are the last, and what the others leave is theirs.
		share := min(left, max(leastTime, 2*left/time.Duration(len(tests)-i))).Round(time.Second)
		o, err := p.run(ctx, nil, share, t.name)
		if err != nil {
			return err
		}
		if o.crash != "" {
			r.Crash = t.name + ": " + o.crash
			break
		}
		if o.timedOut {
			r.slow(t.name, len(t.tests))
			continue
		}
		if maps.Equal(o.tests, t.tests) {
			r.Same += len(t.tests)
			continue
		}
		if err := r.differs(ctx, p, &t, o, share); err != nil {
			return err
		}
	}
	r.Seconds = time.Since(begin).Seconds()
	return nil
}

// slow notes a test that did not end in its time, of n with its subtests.
func (r *result) slow(name string, n int) {
	r.Slow += n
	r.SlowNames = append(r.SlowNames, name)
}

// differs notes how a test ended otherwise, and how it does when it is run again.
func (r *result) differs(ctx context.Context, p *program, t *timed, with outcome, share time.Duration) error {
	again, err := p.run(ctx, nil, 2*share, t.name)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.tests)) {
		how := t.tests[name]
		if with.of(name) == how {
			r.Same++
			continue
		}
		r.Differ = append(r.Differ, difference{Test: name, Without: how, With: with.of(name), Again: again.of(name)})
	}
	for _, name := range slices.Sorted(maps.Keys(with.tests)) {
		if t.tests[name] == "" {
			r.Differ = append(r.Differ, difference{Test: name, Without: missing, With: with.of(name), Again: again.of(name)})
		}
	}
	return nil
}

// explain finds out about each test that differs whether that is for slowness.
func (s *soak) explain(ctx context.Context, r *result, p *program) error {
	slow := make(map[string]outcome)
	for i := range r.Differ {
		d := &r.Differ[i]
		if d.Again == d.Without {
			continue
		}
		top, _, _ := strings.Cut(d.Test, "/")
		if _, ok := slow[top]; !ok {
			o, err := p.run(ctx, slowed, 10*time.Minute, top)
			if err != nil {
				return err
			}
			slow[top] = o
		}
		d.Slowed = slow[top].of(d.Test)
	}
	return ctx.Err()
}

// exactly matches this test, with its subtests.
func exactly(name string) string { return "^" + regexp.QuoteMeta(name) + "$" }

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
