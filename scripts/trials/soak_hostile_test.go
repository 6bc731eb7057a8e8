package trials

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// Of a hostile file, no command may take more.
const (
	hostileMemory = 1 << 20 // KiB of addresses, as of ulimit -v
	hostileTime   = 2 * time.Second
)

// hostileCommands are asked of files by turns, each after list.
var hostileCommands = [][]string{
	{"count", "--dry-run"}, {"probe", "--dry-run"}, {"trace", "--dry-run"}, {"script"},
}

// hostileRun is what was found so far.
type hostileRun struct {
	*soak
	seeds []*hostile.Mutator

	mu      sync.Mutex // for all below
	result  *result
	memory  float64 // bytes, the most of a command
	slowest time.Duration
}

// hostile has ftgo read files that are damaged or claim more than they hold, each command in a
// process of its own.
func (s *soak) hostile(n int) {
	s.each(result{Package: fmt.Sprint(n, " hostile files"), Mode: "list, --dry-run, script", Tests: n}, func(s *soak, r *result) {
		h := hostileRun{soak: s, seeds: s.seeds(), result: r}
		begin := time.Now()
		next := make(chan int)
		var workers sync.WaitGroup
		for range runtime.NumCPU() {
			workers.Go(func() {
				defer func() {
					for range next { // where a worker has failed
					}
				}()
				for i := range next {
					h.file(i)
				}
			})
		}
		for i := 0; i < n && interrupted.Err() == nil && !s.Failed(); i++ {
			next <- i
		}
		close(next)
		workers.Wait()
		if s.Failed() {
			s.FailNow()
		}
		r.Seconds = time.Since(begin).Seconds()
		r.Memory = fmt.Sprintf("at most %.0f MiB and %d ms of processor time for a command: ulimit -v %d", h.memory/(1<<20), h.slowest.Milliseconds(), hostileMemory)
	})
}

// seeds are sound programs to begin with.
func (s *soak) seeds() (seeds []*hostile.Mutator) {
	for _, flags := range [][]string{{"-ldflags=-s -w"}, {"-ldflags=-w"}, {}, {"-buildmode=pie", "-ldflags=-compressdwarf=false"}} {
		data, err := os.ReadFile(fixture.Build(s, "inlined", flags...))
		check(s, err)
		m, err := hostile.NewMutator(data)
		check(s, err)
		seeds = append(seeds, m)
	}
	return seeds
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
	return hostile.Bloated(runtime.GOARCH, n/2)
}

func (h *hostileRun) file(n int) {
	kind, f := h.hostileFile(n)
	path := filepath.Join(h.state, "hostile"+strconv.Itoa(n))
	defer os.Remove(path)
	if err := f.Write(path); err != nil {
		h.Error(err)
		return
	}
	bad := h.command([]string{"list", path, "*"})
	if bad == "" {
		bad = h.command(slices.Concat(hostileCommands[n/4%len(hostileCommands)], []string{path, "*"}))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if bad == "" {
		h.result.Same++
		return
	}
	fmt.Fprintf(os.Stderr, "file %d (%s): %s\n", n, kind, bad)
	h.result.Differ = append(h.result.Differ, difference{Test: fmt.Sprintf("file %d (%s)", n, kind), Without: "an answer", With: bad})
}

// command tells what is wrong with how a command ends.
func (h *hostileRun) command(args []string) (bad string) {
	limited := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, hostileMemory), "sh", h.ftgo}, args...)
	c := command(h, time.Minute, "sh", limited...)
	c.Stdout, c.Cancel = nil, func() error { return c.signal(syscall.SIGKILL) }
	o, err := c.run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	took := o.user + o.sys
	h.mu.Lock()
	h.memory, h.slowest = max(h.memory, o.maxRSS), max(h.slowest, took)
	h.mu.Unlock()
	switch code := c.ProcessState.ExitCode(); {
	case took > hostileTime:
		return fmt.Sprintf("%s: %v of processor time", args[0], took)
	case code < 0 || code == 2: // the runtime's own end, or wrong usage
		return fmt.Sprintf("%s: %v: %.400s", args[0], err, o.stderr)
	}
	return ""
}
