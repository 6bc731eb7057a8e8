package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// valueLine is a row of a value, or of the summary.
type valueLine struct {
	Type, Value, Rest string
	Calls, Lost       uint64
	Missed            uint64 `json:"missed_at_most"`
	Values            struct{ Rows, FellOut int }
}

func valueLines(t *testing.T, r result) (rows []valueLine, summary valueLine) {
	t.Helper()
	r.succeeded(t)
	for _, v := range decoded[valueLine](t, r.stdout) {
		if rows = append(rows, v); v.Type == "summary" {
			return rows[:len(rows)-1], v
		}
	}
	t.Fatalf("no summary in %s", r.stdout)
	return nil, summary
}

// TestKernelByMillion: of a million calls with a hundred thousand keys, the rows of the first 20 are
// exact, all rows are between what they promise, no more is lost than without, and memory is bounded.
func TestKernelByMillion(t *testing.T) {
	f := tracetest.LongKernel(t)
	const calls, keys = 1_000_000, 100_000
	for _, asked := range []string{"probe", "probe --by key", "raw probe --by key", "count --by key"} {
		t.Run(asked, func(t *testing.T) {
			target := exec.Command(fixture.Build(t, "skewed"), "-n", fmt.Sprint(calls), "-of", fmt.Sprint(keys))
			in, err := target.StdinPipe()
			noError(t, err)
			said, err := target.StdoutPipe()
			noError(t, err)
			noError(t, target.Start())
			t.Cleanup(func() { target.Process.Kill(); target.Wait() })

			rowsFile := filepath.Join(t.TempDir(), "rows")
			noError(t, syscall.Mkfifo(rowsFile, 0o600))
			p := launch(t, append(readBy(t, strings.Fields(asked)), "--budget", "0", "--max-lost", "0", "-o", "json", "-w", rowsFile, "-p", fmt.Sprint(target.Process.Pid), "main.lookup")...)
			out, err := os.Open(rowsFile)
			noError(t, err)
			defer out.Close()
			p.await(t)
			var taken map[string]uint64
			for lines := bufio.NewReader(said); taken == nil; {
				line, err := lines.ReadString('\n')
				noError(t, err)
				if line == "more?\n" {
					waitRead(t, f, p.Process.Pid)
					_, err = io.WriteString(in, "\n")
				} else {
					err = json.Unmarshal([]byte(line), &taken)
				}
				noError(t, err)
			}
			lines, memory := bufio.NewReader(out), 0
			if strings.Contains(asked, "--by") {
				// More rows are written than a pipe takes: while the first are there, ftgo is, too.
				_, err = lines.Peek(1)
				noError(t, err)
				memory = peakMemory(t, p.Process.Pid)
			}
			text, err := io.ReadAll(lines)
			noError(t, err)
			rows, summary := valueLines(t, result{p.end(t), string(text), p.err.String()})
			t.Logf("%s: %d MB, %d rows, %d lost, %+v", asked, memory>>10, len(rows), summary.Lost, summary.Values)

			var sum uint64
			of := make(map[string]valueLine)
			for _, row := range rows {
				if sum += row.Calls; row.Rest == "" {
					of[row.Value] = row
				}
			}
			if sum != calls || summary.Lost != 0 || len(taken) != keys {
				t.Errorf("%d calls of %d keys, %d lost", sum, len(taken), summary.Lost)
			}
			if !strings.Contains(asked, "--by") {
				return
			}
			if memory >= 96<<10 { // 100,000 rows would take several times as much
				t.Errorf("%d MB of memory", memory>>10)
			}
			for key, row := range of {
				if row.Calls > taken[key] || row.Calls+row.Missed < taken[key] {
					t.Errorf("%s: %d calls, and %d at most are missed, of %d", key, row.Calls, row.Missed, taken[key])
				}
			}
			for i, key := range slices.SortedFunc(maps.Keys(taken), func(a, b string) int { return cmp.Compare(taken[b], taken[a]) }) {
				row, kept := of[key]
				if !kept && taken[key] > calls/1000 || i < 20 && (row.Calls != taken[key] || row.Missed > 0) {
					t.Errorf("key %d, %s, of %d calls: %+v", i, key, taken[key], row)
				}
			}
		})
	}
}

// waitRead waits until ftgo has read nearly all that the kernel has recorded of the program. The program's session is
// ftgo's second: its first measures what a hit costs, and nobody reads what a count records there.
func waitRead(t *testing.T, f *tracefs.FS, pid int) {
	t.Helper()
	waitFor(t, "what comes to be read", func() bool {
		files, err := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*_2/per_cpu/cpu*/stats", f.Dir(), pid))
		noError(t, err)
		unread := 0
		for _, file := range files {
			var n int
			_, err = fmt.Sscanf(readFile(t, file), "entries: %d", &n) // kernel/trace/trace.c, tracing_stats_read
			noError(t, err)
			unread += n
		}
		return len(files) > 0 && unread < 1000
	})
}

// peakMemory is the most that a process had so far, in KiB. (What wait4 tells has the parent's, too, as
// fs/exec.c, exec_mmap, takes it over.)
func peakMemory(t *testing.T, pid int) (kb int) {
	t.Helper()
	text := readFile(t, fmt.Sprintf("/proc/%d/status", pid))
	_, peak, _ := strings.Cut(text, "VmHWM:")
	_, err := fmt.Sscan(peak, &kb)
	noError(t, err)
	return kb
}
