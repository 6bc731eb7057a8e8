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

// A test has this share of the budget without probes: one that takes longer is too slow for them.
const aTwentieth = 20

// dear is what a program may take to start.
const dear = 10 * time.Minute

// leastTime is what a process has for its tests with probes, however many there are.
const leastTime = 5 * time.Second

// timed is a test with its subtests, run alone without probes.
type timed struct {
	name  string
	took  time.Duration
	tests map[string]string
}

// compare runs the tests of r's package without probes and with, and notes what differs. Those that
// are quickest without probes come first.
func (s *soak) compare(ctx context.Context, r *result) error {
	p, err := s.build(ctx, r.Package)
	if err != nil {
		return err
	}
	tests, err := s.plain(ctx, r, p)
	if err != nil {
		return err
	}
	x, err := s.probing(ctx, r.Mode, p.file)
	if err != nil {
		return err
	}
	begin := time.Now()
	err = s.probed(ctx, r, p, tests)
	r.Seconds = time.Since(begin).Seconds()
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
func (s *soak) plain(ctx context.Context, r *result, p *program) ([]timed, error) {
	names, err := p.list(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	var tests []timed
	for _, name := range names {
		begin := time.Now()
		o, err := p.run(ctx, nil, s.budget/aTwentieth, exactly(name))
		if err != nil {
			return nil, err
		}
		r.Without += time.Since(begin).Seconds()
		switch {
		case o.crash != "":
			return nil, fmt.Errorf("%s without probes: %s", name, o.crash)
		case o.timedOut:
			o.tests = map[string]string{name: ""}
			r.slow(&timed{name: name, tests: o.tests})
		default:
			tests = append(tests, timed{name, o.took[name], o.tests})
		}
		r.Tests += len(o.tests)
	}
	slices.SortStableFunc(tests, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	return tests, nil
}

// probed runs the tests with probes, as long as the budget lasts.
func (s *soak) probed(ctx context.Context, r *result, p *program, tests []timed) error {
	if err := s.start(ctx, r, p); err != nil {
		return err
	}
	begin := time.Now()
	for len(tests) > 0 && r.Crash == "" {
		left := s.budget - time.Since(begin)
		if left < time.Second {
			break
		}
		n, share := batch(tests, p.start, left)
		again, err := s.batch(ctx, r, p, tests[:n], share)
		if err != nil {
			return err
		}
		tests = append(again, tests[n:]...)
	}
	for i := range tests {
		r.Unreached += len(tests[i].tests)
		r.UnreachedNames = append(r.UnreachedNames, tests[i].name)
	}
	return nil
}

// start finds out how long a process takes to start with probes, unless that is too long to be found out.
func (s *soak) start(ctx context.Context, r *result, p *program) error {
	soon, cancel := context.WithTimeout(ctx, s.budget/4)
	defer cancel()
	begin := time.Now()
	o, err := p.run(soon, nil, s.budget, "^$")
	if p.start = time.Since(begin); soon.Err() != nil {
		p.start = dear
		return ctx.Err()
	}
	r.Crash = o.crash
	return err
}

// batch tells how many tests to run in one process, of those that are to be run in the time left, and
// how long: starting processes must take no more than half of it, slow tests must not keep quick ones
// from ending, and the slower ones, which are the last, get what the others leave.
func batch(tests []timed, start, left time.Duration) (n int, share time.Duration) {
	all := time.Duration(len(tests))
	n = min(len(tests), max(1, int(2*start*all/left)))
	for n > 1 && tests[n-1].took > 2*tests[0].took+10*time.Millisecond {
		n--
	}
	share = 2 * left * time.Duration(n) / all
	return n, min(left, max(leastTime, share)).Round(time.Second)
}

// batch runs tests in one process, and returns those that were not begun when the time was out.
func (s *soak) batch(ctx context.Context, r *result, p *program, tests []timed, share time.Duration) (again []timed, err error) {
	names := make([]string, len(tests))
	for i := range tests {
		names[i] = tests[i].name
	}
	o, err := p.run(ctx, nil, share, exactly(names...))
	if err != nil {
		return nil, err
	}
	if o.crash != "" {
		r.Crash = strings.Join(names, ", ") + ": " + o.crash
		return nil, nil
	}
	for i := range tests {
		switch t := &tests[i]; {
		case o.tests[t.name] != "" || !o.timedOut:
			if err := r.compare(ctx, p, t, o.part(t.name), share); err != nil {
				return nil, err
			}
		case o.begun[t.name] || len(tests) == 1:
			r.slow(t)
		default:
			again = append(again, *t)
		}
	}
	return again, nil
}

// slow notes a test that did not end in its time.
func (r *result) slow(t *timed) {
	r.Slow += len(t.tests)
	r.SlowNames = append(r.SlowNames, t.name)
}

// compare notes whether a test ended with probes as it did without, and if not, how it does when it
// is run again.
func (r *result) compare(ctx context.Context, p *program, t *timed, with outcome, share time.Duration) error {
	if maps.Equal(with.tests, t.tests) {
		r.Same += len(t.tests)
		return nil
	}
	again, err := p.run(ctx, nil, 2*share, exactly(t.name))
	if err != nil {
		return err
	}
	all := maps.Clone(with.tests)
	maps.Copy(all, t.tests)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := difference{Test: name, Without: cmp.Or(t.tests[name], missing), With: with.of(name), Again: again.of(name)}
		if d.With == d.Without {
			r.Same++
		} else {
			r.Differ = append(r.Differ, d)
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
			o, err := p.run(ctx, slowed, 10*time.Minute, exactly(top))
			if err != nil {
				return err
			}
			slow[top] = o
		}
		d.Slowed = slow[top].of(d.Test)
	}
	return ctx.Err()
}

// exactly matches these tests, with their subtests.
func exactly(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
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
