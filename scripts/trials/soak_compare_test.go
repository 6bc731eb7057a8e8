package trials

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
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
func (s *soak) compare(r *result) {
	p := s.build(r.Package)
	tests := s.plain(r, p)
	x := s.probing(r.Mode, p.file)
	check(s, x.begin())
	check(s, x.ready())
	begin := time.Now()
	s.probed(r, p, tests)
	r.Seconds = time.Since(begin).Seconds()
	_ = x.signal(syscall.SIGINT) // one that has ended by itself has said why
	if _, err := x.end(); err != nil {
		r.Crash = err.Error()
		return
	}
	r.add(x.summary)
	s.explain(r, p)
}

// plain runs the tests without probes, and returns them in the order of the time they took.
func (s *soak) plain(r *result, p *program) (tests []timed) {
	for _, name := range p.list(s, r.Run) {
		begin := time.Now()
		o, _ := p.run(s, false, *budget/aTwentieth, 0, exactly(name))
		check(s, interrupted.Err())
		r.Without += time.Since(begin).Seconds()
		switch {
		case o.crash != "":
			s.Fatalf("%s without probes: %s", name, o.crash)
		case o.timedOut:
			o.tests = map[string]string{name: ""}
			r.slow(&timed{name: name, tests: o.tests})
		default:
			tests = append(tests, timed{name, o.took[name], o.tests})
		}
		r.Tests += len(o.tests)
	}
	slices.SortStableFunc(tests, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	return tests
}

// probed runs the tests with probes, as long as the budget lasts.
func (s *soak) probed(r *result, p *program, tests []timed) {
	s.start(r, p)
	begin := time.Now()
	for len(tests) > 0 && r.Crash == "" {
		left := *budget - time.Since(begin)
		if left < time.Second {
			break
		}
		n, share := batch(tests, p.start, left)
		tests = append(s.batch(r, p, tests[:n], share), tests[n:]...)
	}
	for i := range tests {
		r.Unreached += len(tests[i].tests)
		r.UnreachedNames = append(r.UnreachedNames, tests[i].name)
	}
}

// start finds out how long a process takes to start with probes, unless that is too long to be found out.
func (s *soak) start(r *result, p *program) {
	begin := time.Now()
	o, expired := p.run(s, false, *budget, *budget/4, "^$")
	if p.start = time.Since(begin); expired {
		p.start = dear
		return
	}
	r.Crash = o.crash
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
func (s *soak) batch(r *result, p *program, tests []timed, share time.Duration) (again []timed) {
	names := make([]string, len(tests))
	for i := range tests {
		names[i] = tests[i].name
	}
	o, _ := p.run(s, false, share, 0, exactly(names...))
	check(s, interrupted.Err())
	if o.crash != "" {
		r.Crash = strings.Join(names, ", ") + ": " + o.crash
		return nil
	}
	for i := range tests {
		switch t := &tests[i]; {
		case o.tests[t.name] != "" || !o.timedOut:
			s.compareTest(r, p, t, o.part(t.name), share)
		case o.begun[t.name] || len(tests) == 1:
			r.slow(t)
		default:
			again = append(again, *t)
		}
	}
	return again
}

// slow notes a test that did not end in its time.
func (r *result) slow(t *timed) {
	r.Slow += len(t.tests)
	r.SlowNames = append(r.SlowNames, t.name)
}

// compareTest notes whether a test ended with probes as it did without, and if not, how it does when it
// is run again.
func (s *soak) compareTest(r *result, p *program, t *timed, with testRun, share time.Duration) {
	if maps.Equal(with.tests, t.tests) {
		r.Same += len(t.tests)
		return
	}
	again, _ := p.run(s, false, 2*share, 0, exactly(t.name))
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
}

// explain finds out about each test that differs whether that is for slowness.
func (s *soak) explain(r *result, p *program) {
	slow := make(map[string]testRun)
	for i := range r.Differ {
		d := &r.Differ[i]
		if d.Again == d.Without {
			continue
		}
		top, _, _ := strings.Cut(d.Test, "/")
		if _, ok := slow[top]; !ok {
			slow[top], _ = p.run(s, true, 10*time.Minute, 0, exactly(top))
		}
		d.Slowed = slow[top].of(d.Test)
	}
}

// exactly matches these tests, with their subtests.
func exactly(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}
