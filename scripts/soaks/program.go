package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// program is a test binary.
type program struct{ dir, file string }

// outcome is what a run of tests has said.
type outcome struct {
	tests    map[string]string // PASS, FAIL or SKIP
	timedOut bool
	running  []string // when the time was out
	crash    string
}

// The lines of package testing that tell: with -test.v=test2json each begins with ^V, wherever the
// test has left the column.
var (
	ended   = regexp.MustCompile(`(?m)(?:^|\x16) *--- (PASS|FAIL|SKIP): (\S+) \(\d`)
	address = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	running = regexp.MustCompile(`(?m)^\t\t(\S+) \([0-9.hms]+\)$`)
)

// of is how a test ended.
func (o outcome) of(test string) string {
	if how := o.tests[test]; how != "" {
		return how
	}
	return "missing"
}

// hung is how far beyond its time a program may go before it is taken to hang: what runs before its
// tests do, the time does not count, nor what it takes to place and remove thousands of probes on a
// busy machine.
const hung = 10 * time.Minute

const timedOut = "panic: test timed out after "

func readOutcome(out []byte, exit error) outcome {
	o := outcome{tests: make(map[string]string)}
	for _, m := range ended.FindAllSubmatch(out, -1) {
		// Some subtests are named by what is at another address each time.
		name := string(address.ReplaceAll(m[2], []byte("0x...")))
		if o.tests[name] != "FAIL" {
			o.tests[name] = string(m[1])
		}
	}
	if _, after, found := bytes.Cut(out, []byte(timedOut)); found {
		o.timedOut = true
		goroutines := bytes.Index(after, []byte("\ngoroutine "))
		for _, m := range running.FindAllSubmatch(after[:max(goroutines, 0)], -1) {
			o.running = append(o.running, string(m[1]))
		}
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

// run runs tests without probes; during, if not nil, is called when they have begun, and ends when
// its context does.
func (p *program) run(ctx context.Context, during func(context.Context, int), timeout time.Duration, args ...string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+hung)
	defer cancel()
	return p.outcome(ctx, exec.CommandContext(ctx, p.file, testFlags(timeout, args)...), during)
}

func testFlags(timeout time.Duration, args []string) []string {
	return append([]string{"-test.v=test2json", "-test.short", "-test.timeout=" + timeout.String()}, args...)
}

// outcome runs a command in the package's directory, in a process group of its own.
func (p *program) outcome(ctx context.Context, cmd *exec.Cmd, during func(context.Context, int)) (outcome, error) {
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
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

// summary is the last line of -o json.
type summary struct {
	Type                                               string
	Hits, Delivered, Lost, Unparsed, Probes, Functions uint64
}

// probed runs tests with probes on everything, and adds to r what ftgo has counted.
func (s *soak) probed(ctx context.Context, r *result, p *program, timeout time.Duration, args ...string) (outcome, error) {
	data := filepath.Join(s.state, "data.json")
	flags := []string{r.Mode, "-q", "-t", "1", "-o", "json", "-w", data}
	if r.Mode == "probe" {
		flags = append(flags, "--max-rate", "0")
	}
	flags = append(append(flags, p.file, "*", "--", p.file), testFlags(timeout, args)...)
	ctx, cancel := context.WithTimeout(ctx, timeout+hung)
	defer cancel()
	o, err := p.outcome(ctx, exec.CommandContext(ctx, s.ftgo, flags...), nil)
	if err != nil {
		return o, err
	}
	if ctx.Err() == context.Canceled {
		return o, ctx.Err()
	}
	sum, err := readSummary(data)
	if err != nil {
		return o, fmt.Errorf("%w: ftgo said\n%s", err, o.crash)
	}
	r.add(&sum)
	return o, nil
}

// add adds what ftgo has counted in a run, whose books must balance.
func (r *result) add(sum *summary) {
	r.Functions, r.Probes = sum.Functions, sum.Probes
	r.Hits, r.Delivered, r.Lost = r.Hits+sum.Hits, r.Delivered+sum.Delivered, r.Lost+sum.Lost
	if sum.Hits != sum.Delivered+sum.Lost || sum.Unparsed > 0 {
		r.Unbalanced = fmt.Sprintf("%d hits, but %d delivered and %d lost, %d unparsed", sum.Hits, sum.Delivered, sum.Lost, sum.Unparsed)
	}
}

// readSummary reads the last line of data, which is then removed: the next run must write its own.
func readSummary(name string) (sum summary, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return sum, err
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil || sum.Type != "summary" {
		return sum, fmt.Errorf("read summary %.200q: %v", lines[len(lines)-1], err)
	}
	return sum, os.Remove(name)
}

func goEnv(ctx context.Context, name string) (string, error) {
	b, err := exec.CommandContext(ctx, "go", "env", name).Output()
	return strings.TrimSpace(string(b)), err
}
