package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// long has a program call as fast as it can for a while: ftgo's memory must not grow, and its
// books must be the program's.
func (s *soak) long(ctx context.Context, each time.Duration, modes []string) error {
	flood := filepath.Join(s.state, "flood")
	if err := command(ctx, "go", "build", "-o", flood, "./testdata/flood").Run(); err != nil {
		return err
	}
	for _, mode := range modes {
		r := result{Package: "testdata/flood for " + each.String(), Mode: mode, Commit: s.commit, Tests: 1}
		if !s.again && s.done(&r) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s %s %s\n", time.Now().Format(time.TimeOnly), r.Mode, r.Package)
		if err := s.flood(ctx, &r, flood, each); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "  %s\n", r.text())
		if err := s.save(&r); err != nil {
			return err
		}
	}
	return nil
}

// flood runs ftgo and compares its numbers with those of the program, which prints its own.
func (s *soak) flood(ctx context.Context, r *result, flood string, each time.Duration) error {
	// Gigabytes of calls: only the last line is kept.
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	lastLine := make(chan string, 1)
	var counted uint64 // calls, of the table that probe writes at its end
	go func() {
		var line string
		lines := bufio.NewScanner(read)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line = lines.Text()
			var f struct{ Calls uint64 }
			if strings.HasPrefix(line, `{"type":"function"`) && json.Unmarshal([]byte(line), &f) == nil {
				counted += f.Calls
			}
		}
		lastLine <- line
	}()
	args := append(strings.Fields(r.Mode), "-o", "json", "-w", "/dev/fd/3", flood, "main.leaf", "main.framed", "--", flood, "-for", each.String())
	cmd := exec.CommandContext(ctx, s.ftgo, args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, os.Stderr, []*os.File{write}
	begin := time.Now()
	err = cmd.Start()
	write.Close()
	if err != nil {
		return err
	}
	m := sampling(cmd.Process.Pid, each/100)
	err = cmd.Wait()
	r.Seconds, r.Without = time.Since(begin).Seconds(), each.Seconds()
	second, last := m.end()
	r.Memory = fmt.Sprintf("at most %d kB in the second third of the time, %d kB in the last", second, last)
	if err != nil {
		r.Crash = err.Error()
		return nil
	}
	var sum summary
	if line := <-lastLine; json.Unmarshal([]byte(line), &sum) != nil {
		return fmt.Errorf("read summary %.200q: no JSON", line)
	}
	r.add(&sum)
	var books struct {
		Functions map[string]struct{ Calls uint64 }
	}
	if err := json.Unmarshal([]byte(out.String()), &books); err != nil {
		return fmt.Errorf("read the program's numbers %q: %w", out.String(), err)
	}
	switch made := 2 * books.Functions["main.leaf"].Calls; {
	case strings.HasPrefix(r.Mode, "probe") && counted != made:
		r.Unbalanced = fmt.Sprintf("%d calls, but the program made %d", counted, made)
	case !flat(second, last, slack(r.Mode)):
		r.Unbalanced = "memory is not flat: " + r.Memory
	case r.Unbalanced == "":
		r.Same = 1
	}
	return nil
}

// memory are samples of a process's resident memory, in kB.
type memory struct {
	stop chan struct{}
	wait sync.WaitGroup
	kB   []int
}

func sampling(pid int, every time.Duration) *memory {
	m := &memory{stop: make(chan struct{})}
	m.wait.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-m.stop:
				return
			case <-tick.C:
			}
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				return
			}
			if _, after, ok := strings.Cut(string(b), "VmRSS:"); ok {
				kB, _ := strconv.Atoi(strings.Fields(after)[0])
				m.kB = append(m.kB, kB)
			}
		}
	})
	return m
}

// end returns the most there was in the second third of the time, and in the last: 0 if nothing was seen.
func (m *memory) end() (second, last int) {
	close(m.stop)
	m.wait.Wait()
	third := len(m.kB) / 3
	if third == 0 {
		return 0, 0
	}
	return slices.Max(m.kB[third : 2*third]), slices.Max(m.kB[2*third:])
}

// flat: memory has grown by little more than a tenth.
func flat(second, last, slack int) bool {
	return second > 0 && last <= second+second/10+slack
}

// slack is how much more memory, in kB, there may be for a while: the garbage collector's, and, with
// the raw reader, the pages that it holds while a CPU is behind, which is no more than the ring
// buffers hold.
func slack(mode string) int {
	const collector, buffer = 8 << 10, 16 << 10
	if strings.HasSuffix(mode, "raw") {
		return collector + runtime.NumCPU()*buffer
	}
	return collector
}
