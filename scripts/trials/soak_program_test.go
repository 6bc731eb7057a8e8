package trials

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// program is a test binary.
type program struct {
	dir, file string
	start     time.Duration // what it takes before its tests begin
}

// testRun is what a run of tests has said.
type testRun struct {
	tests    map[string]string // PASS, FAIL or SKIP
	took     map[string]time.Duration
	begun    map[string]bool // true if not paused, to run in parallel with others
	timedOut bool
	panicked bool // by what the test itself says, not the runtime
	crash    string
}

// The lines of package testing that tell: with -test.v=test2json each begins with ^V, wherever the
// test has left the column.
var (
	began    = regexp.MustCompile(`(?m)(?:^|\x16)=== (RUN|PAUSE|CONT) +(\S+)`)
	ended    = regexp.MustCompile(`(?m)(?:^|\x16) *--- (PASS|FAIL|SKIP): (\S+) \((\d+\.\d+)s\)`)
	address  = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	panicked = regexp.MustCompile(`(?m)^panic: (.*)`)
	isTest   = regexp.MustCompile(`^(Test|Example|Fuzz)`)
)

// of is how a test ended.
func (o testRun) of(test string) string { return cmp.Or(o.tests[test], missing) }

const missing = "missing"

// part is the outcome of one test with its subtests.
func (o testRun) part(test string) testRun {
	tests := make(map[string]string)
	for name, how := range o.tests {
		if name == test || strings.HasPrefix(name, test+"/") {
			tests[name] = how
		}
	}
	return testRun{tests: tests}
}

// hung is how far beyond its time a program may go before it is taken to hang: the time does not
// count what runs before its tests do, nor, on a busy machine, the stacks that it then prints.
const hung = 2 * time.Minute

const timedOut = "panic: test timed out after "

func readTests(out string, exit error) testRun {
	o := testRun{tests: make(map[string]string), took: make(map[string]time.Duration), begun: make(map[string]bool)}
	for _, m := range began.FindAllStringSubmatch(out, -1) {
		o.begun[m[2]] = m[1] != "PAUSE"
	}
	for _, m := range ended.FindAllStringSubmatch(out, -1) {
		// Some subtests are named by what is at another address each time.
		name, sub, _ := strings.Cut(m[2], "/")
		if sub != "" {
			name += "/" + address.ReplaceAllString(sub, "0x...")
		}
		if o.tests[name] != "FAIL" {
			o.tests[name] = m[1]
			o.took[name], _ = time.ParseDuration(m[3] + "s") // digits, says the pattern
		}
	}
	o.timedOut = strings.Contains(out, timedOut)
	if m := panicked.FindStringSubmatch(out); m != nil {
		o.panicked = !strings.HasPrefix(m[1], "runtime error")
	}
	// Tests end with 0 or 1, and with 2 when their time is out.
	if exit != nil && !o.timedOut {
		var status *exec.ExitError
		if !errors.As(exit, &status) || status.ExitCode() != 1 {
			o.crash = exit.Error() + "\n" + out[max(0, len(out)-4000):]
		}
	}
	return o
}

// list are the tests, examples and fuzz targets, whose seeds are tests, that a pattern matches.
func (p *program) list(s *soak, pattern string) []string {
	list := command(s, childLimit, p.file, "-test.list="+cmp.Or(pattern, "."))
	list.Dir = p.dir
	o, err := list.run()
	check(s, err)
	return slices.DeleteFunc(strings.Fields(o.stdout), func(word string) bool { return !isTest.MatchString(word) })
}

// run runs the tests of a pattern; slowly is stopped most of the time. expired: they did not end within
// a limit, by default as long as it takes until they certainly hang.
func (p *program) run(s *soak, slowly bool, timeout, limit time.Duration, pattern string) (o testRun, expired bool) {
	// Where tests don't run in parallel, one that is slow keeps no other from ending.
	c := command(s, cmp.Or(limit, timeout+p.start+hung), p.file,
		"-test.v=test2json", "-test.short", "-test.parallel=1", "-test.timeout="+timeout.String(), "-test.run="+pattern)
	c.Dir, c.Stderr = p.dir, c.stdout
	c.WaitDelay = 10 * time.Second
	check(s, c.start())
	if slowly {
		go slowed(c.ctx, c.Process.Pid)
	}
	// A test that has run out of time leaves its children behind.
	end, err := c.wait()
	o = readTests(end.stdout, err)
	// Some tests panic by themselves, when nearly all of their time has passed.
	if o.panicked && !end.expired && end.ended.Sub(end.launched) > timeout*9/10 {
		o.timedOut, o.crash = true, ""
	}
	return o, end.expired
}

// slowed stops a process group most of the time: what the clock says of it is as if every
// function had become slower.
func slowed(ctx context.Context, group int) {
	for ctx.Err() == nil {
		syscall.Kill(-group, syscall.SIGSTOP)
		time.Sleep(30 * time.Millisecond)
		syscall.Kill(-group, syscall.SIGCONT)
		time.Sleep(2 * time.Millisecond)
	}
}
