package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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

// outcome is what a run of tests has said.
type outcome struct {
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
func (o outcome) of(test string) string { return cmp.Or(o.tests[test], missing) }

const missing = "missing"

// part is the outcome of one test with its subtests.
func (o outcome) part(test string) outcome {
	tests := make(map[string]string)
	for name, how := range o.tests {
		if name == test || strings.HasPrefix(name, test+"/") {
			tests[name] = how
		}
	}
	return outcome{tests: tests}
}

// hung is how far beyond its time a program may go before it is taken to hang: the time does not
// count what runs before its tests do, nor, on a busy machine, the stacks that it then prints.
const hung = 2 * time.Minute

const timedOut = "panic: test timed out after "

func readOutcome(out []byte, exit error) outcome {
	o := outcome{tests: make(map[string]string), took: make(map[string]time.Duration), begun: make(map[string]bool)}
	for _, m := range began.FindAllSubmatch(out, -1) {
		o.begun[string(m[2])] = string(m[1]) != "PAUSE"
	}
	for _, m := range ended.FindAllSubmatch(out, -1) {
		// Some subtests are named by what is at another address each time.
		name, sub, _ := strings.Cut(string(m[2]), "/")
		if sub != "" {
			name += "/" + address.ReplaceAllString(sub, "0x...")
		}
		if o.tests[name] != "FAIL" {
			o.tests[name] = string(m[1])
			o.took[name], _ = time.ParseDuration(string(m[3]) + "s") // digits, says the pattern
		}
	}
	o.timedOut = bytes.Contains(out, []byte(timedOut))
	if m := panicked.FindSubmatch(out); m != nil {
		o.panicked = !bytes.HasPrefix(m[1], []byte("runtime error"))
	}
	// Tests end with 0 or 1, and with 2 when their time is out.
	if exit != nil && !o.timedOut {
		var status *exec.ExitError
		if !errors.As(exit, &status) || status.ExitCode() != 1 {
			o.crash = exit.Error() + "\n" + string(out[max(0, len(out)-4000):])
		}
	}
	return o
}

// list are the tests, examples and fuzz targets, whose seeds are tests, that a pattern matches.
func (p *program) list(ctx context.Context, pattern string) ([]string, error) {
	cmd := exec.CommandContext(ctx, p.file, "-test.list="+cmp.Or(pattern, "."))
	cmd.Dir = p.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list tests: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(word string) bool { return !isTest.MatchString(word) }), nil
}

// run runs the tests of a pattern; during, if not nil, is called when they have begun, and ends when
// its context does.
func (p *program) run(ctx context.Context, during func(context.Context, int), timeout time.Duration, pattern string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+p.start+hung)
	defer cancel()
	// Where tests don't run in parallel, one that is slow keeps no other from ending.
	flags := []string{"-test.v=test2json", "-test.short", "-test.parallel=1", "-test.timeout=" + timeout.String(), "-test.run=" + pattern}
	begin := time.Now()
	o, err := p.outcome(ctx, exec.CommandContext(ctx, p.file, flags...), during)
	// Some tests panic by themselves, when nearly all of their time has passed.
	if o.panicked && ctx.Err() == nil && time.Since(begin) > timeout*9/10 {
		o.timedOut, o.crash = true, ""
	}
	return o, err
}

// outcome runs a command in the package's directory, in a process group of its own.
func (p *program) outcome(ctx context.Context, cmd *exec.Cmd, during func(context.Context, int)) (outcome, error) {
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	meanwhile, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if during != nil {
			during(meanwhile, cmd.Process.Pid)
		}
	}()
	err := cmd.Wait()
	// A test that has run out of time leaves its children behind.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	stop()
	<-over
	return readOutcome(out.Bytes(), err), nil
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
	syscall.Kill(-group, syscall.SIGCONT)
}

func goEnv(ctx context.Context, name string) (string, error) {
	b, err := exec.CommandContext(ctx, "go", "env", name).Output()
	return strings.TrimSpace(string(b)), err
}
