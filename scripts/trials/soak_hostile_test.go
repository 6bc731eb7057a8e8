package trials

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// A command may not take more for a hostile file.
const (
	hostileMemory = 1 << 20 // KiB of addresses, as of ulimit -v
	hostileTime   = 2 * time.Second
)

// hostileCommands are run on files in turn, each after list.
var hostileCommands = []string{"count --dry-run", "probe --dry-run", "trace --dry-run", "script"}

// hostile has ftgo read files that are damaged or claim more than they hold, each command in a
// process of its own. Half of the files are damaged programs, and half are made from nothing.
func (s *soak) hostile(n int) {
	s.each(result{Package: fmt.Sprint(n, " hostile files"), Mode: "list, --dry-run, script", Tests: n}, func(s *soak, r *result) {
		var seeds []*hostile.Mutator
		for _, flags := range [][]string{{"-ldflags=-s -w"}, {"-ldflags=-w"}, {}, {"-buildmode=pie", "-ldflags=-compressdwarf=false"}} {
			data, err := os.ReadFile(fixture.Build(s, "inlined", flags...))
			check(s, err)
			m, err := hostile.NewMutator(data)
			check(s, err)
			seeds = append(seeds, m)
		}
		begin := time.Now()
		var mu sync.Mutex // for r and most
		var most outcome
		var workers sync.WaitGroup
		for first := range runtime.NumCPU() {
			workers.Go(func() {
				for i := first; i < n && interrupted.Err() == nil; i += runtime.NumCPU() {
					seed := seeds[i/4%len(seeds)]
					var kind string
					var f hostile.File
					switch i % 4 {
					case 0:
						kind, f = "mutant", hostile.File{Data: seed.Mutant(i)}
					case 1:
						kind, f = "seed bloated", seed.Bloated(i)
					default:
						kind, f = hostile.Bloated(runtime.GOARCH, i/2)
					}
					o, bad := s.readsHostile(i, f)
					mu.Lock()
					most.maxRSS, most.user = max(most.maxRSS, o.maxRSS), max(most.user, o.user)
					if bad == "" {
						r.Same++
					} else {
						r.Differ = append(r.Differ, difference{Test: fmt.Sprintf("file %d (%s)", i, kind), Without: "an answer", With: bad})
					}
					mu.Unlock()
				}
			})
		}
		workers.Wait()
		r.Seconds = time.Since(begin).Seconds()
		r.Memory = fmt.Sprintf("at most %.0f MiB and %d ms of processor time for a command: ulimit -v %d", most.maxRSS/(1<<20), most.user.Milliseconds(), hostileMemory)
	})
}

// readsHostile returns the most that a command took for a file, user with sys, and what is wrong with its end.
func (s *soak) readsHostile(n int, f hostile.File) (most outcome, bad string) {
	path := filepath.Join(s.state, "hostile"+strconv.Itoa(n))
	defer os.Remove(path)
	if err := f.Write(path); err != nil {
		return most, err.Error()
	}
	for _, line := range []string{"list", hostileCommands[n/4%len(hostileCommands)]} {
		c := command(s, time.Minute, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, hostileMemory), "sh", s.ftgo)
		c.Args = append(append(c.Args, strings.Fields(line)...), path, "*")
		c.Stdout, c.Cancel = nil, func() error { return c.signal(syscall.SIGKILL) }
		o, err := c.run()
		most.maxRSS, most.user = max(most.maxRSS, o.maxRSS), max(most.user, o.user+o.sys)
		var exit *exec.ExitError
		switch {
		case err != nil && !errors.As(err, &exit):
			return most, err.Error()
		case most.user > hostileTime:
			return most, fmt.Sprintf("%s: %v of processor time", line, most.user)
		case err != nil && (exit.ExitCode() < 0 || exit.ExitCode() == 2): // the runtime's own end, or wrong usage
			return most, fmt.Sprintf("%s: %v: %.400s", line, err, o.stderr)
		}
	}
	return most, ""
}
