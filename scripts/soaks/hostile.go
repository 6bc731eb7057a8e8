package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/testdata/hostile"
)

// Of a hostile file, no command may take more.
const (
	hostileMemory = 1 << 20 // KiB of addresses, as of ulimit -v
	hostileTime   = 2 * time.Second
)

// hostileCommands are asked of each file: the first, and another one by turns.
var hostileCommands = [][]string{
	{"list"}, {"count", "--dry-run"}, {"probe", "--dry-run"}, {"trace", "--dry-run"}, {"script"},
}

// hostile has ftgo read files that are damaged or claim more than they hold, each command in a
// process of its own.
func (s *soak) hostile(ctx context.Context, n int) error {
	r := result{Package: fmt.Sprint(n, " hostile files"), Mode: "list, --dry-run, script", Commit: s.commit, Tests: n}
	if !s.again && s.done(&r) {
		return nil
	}
	seeds, err := s.seeds(ctx)
	if err != nil {
		return err
	}
	h := hostileRun{soak: s, seeds: seeds, result: &r}
	begin := time.Now()
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range next {
				h.file(ctx, i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	r.Seconds = time.Since(begin).Seconds()
	r.Memory = fmt.Sprintf("at most %d MiB and %d ms of processor time for a command: ulimit -v %d", h.memory>>10, h.slowest.Milliseconds(), hostileMemory)
	if err := errors.Join(ctx.Err(), h.err); err != nil {
		return err // what was interrupted is no result
	}
	fmt.Fprintf(os.Stderr, "  %s\n  %s\n", r.text(), r.Memory)
	return s.save(&r)
}

// seeds are sound programs to begin with.
func (s *soak) seeds(ctx context.Context) (seeds []*hostile.Mutator, err error) {
	for i, flags := range [][]string{{"-ldflags=-s -w"}, {"-ldflags=-w"}, {}, {"-buildmode=pie", "-ldflags=-compressdwarf=false"}} {
		path := filepath.Join(s.state, fmt.Sprint("seed", i))
		args := append(append([]string{"build"}, flags...), "-o", path, "./testdata/inlined")
		if err := command(ctx, "go", args...).Run(); err != nil {
			return nil, fmt.Errorf("build testdata/inlined: %w", err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := hostile.NewMutator(data)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, m)
	}
	return seeds, nil
}

// hostileRun is what was found so far.
type hostileRun struct {
	*soak
	seeds []*hostile.Mutator

	mu      sync.Mutex // for all below
	result  *result
	memory  int64 // KiB, the most of a command
	slowest time.Duration
	err     error
}

// hostileFile is file n, and what kind it is of: half of them are of programs.
func (h *hostileRun) hostileFile(n int) (kind string, f hostile.File) {
	seed := n / 4 % len(h.seeds)
	switch n % 4 {
	case 0:
		return fmt.Sprint("mutant of seed ", seed), hostile.File{Data: h.seeds[seed].Mutant(n)}
	case 1:
		return fmt.Sprint("seed bloated ", seed), h.seeds[seed].Bloated(n)
	}
	return hostile.Bloated(n / 2)
}

func (h *hostileRun) file(ctx context.Context, n int) {
	kind, f := h.hostileFile(n)
	path := filepath.Join(h.state, "hostile"+strconv.Itoa(n))
	defer os.Remove(path)
	err := f.Write(path)
	bad := ""
	for _, args := range [][]string{hostileCommands[0], hostileCommands[1+n/4%(len(hostileCommands)-1)]} {
		if err != nil || bad != "" {
			break
		}
		bad = h.command(ctx, append(args, path, "*"))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		h.err = err
	case bad != "":
		fmt.Fprintf(os.Stderr, "file %d (%s): %s\n", n, kind, bad)
		h.result.Differ = append(h.result.Differ, difference{Test: fmt.Sprintf("file %d (%s)", n, kind), Without: "an answer", With: bad})
	default:
		h.result.Same++
	}
}

// command tells what is wrong with how a command ends.
func (h *hostileRun) command(ctx context.Context, args []string) (bad string) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	limited := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, hostileMemory), "sh", h.ftgo}, args...)
	cmd := exec.CommandContext(ctx, "sh", limited...)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	h.mu.Lock()
	h.memory, h.slowest = max(h.memory, maxResident(cmd.ProcessState)), max(h.slowest, took)
	h.mu.Unlock()
	switch code := cmd.ProcessState.ExitCode(); {
	case took > hostileTime:
		return fmt.Sprintf("%s: %v of processor time", args[0], took)
	case code < 0 || code == 2: // the runtime's own end, or wrong usage
		return fmt.Sprintf("%s: %v: %.400s", args[0], err, said.String())
	}
	return ""
}

// maxResident is the most memory that a process had, in KiB.
func maxResident(p *os.ProcessState) int64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return use.Maxrss
}
