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
	Type, Value, Rest   string
	Calls, Completed    uint64
	Errors, Lost        uint64
	Missed              uint64 `json:"missed_at_most"`
	Total               bool
	SumOf               struct{ Calls, Sum uint64 } `json:"sum_of"`
	HistogramOf         []struct{ Count uint64 }    `json:"histogram_of"`
	Values              struct{ Rows, FellOut int }
	Interval, Delivered uint64
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

// TestKernelByValue: rows of values have the calls that the target made with them, whatever tells the
// values, live and of a recording.
func TestKernelByValue(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	type calls map[string]uint64
	for _, c := range []struct {
		by    string
		want  calls
		probe bool // the value is not known before a call has ended, or takes the stack
	}{
		{"key[:4]", calls{"key-": 1007, "twic": 2}, false},
		{"n / 500", calls{"0": 500, "1": 502, "2": 7}, false},
		{"len(key)", calls{"5": 12, "6": 90, "7": 900, "8": 7}, false},
		{"n < 7", calls{"true": 7, "false": 1002}, false},
		{"goid", calls{"1": 1009}, false},
		{"err", calls{"nil": 1002, "no such key": 7}, true},
		{"found", calls{"true": 1002, "false": 7}, true},
		{"value[:6]", calls{"value-": 1002, "": 7}, true},
		{"stack", calls{"main.main < runtime.main < …": 1007, "main.twice < main.main < …": 2}, true},
	} {
		check := func(t *testing.T, r result) {
			rows, summary := valueLines(t, r)
			got := calls{}
			for _, row := range rows {
				got[row.Value] += row.Calls
			}
			if !maps.Equal(got, c.want) || summary.Lost != 0 {
				t.Errorf("%v, want %v; %d lost", got, c.want, summary.Lost)
			}
		}
		flags := []string{"-o", "json", "--by", c.by}
		if c.by == "stack" {
			flags = append(flags, "--stack=2")
		}
		t.Run(c.by, func(t *testing.T) {
			program := []string{target, "main.lookup", "--", target}
			check(t, ftgo(t, slices.Concat([]string{"probe"}, flags, program)...))
			if !c.probe {
				check(t, ftgo(t, slices.Concat([]string{"count"}, flags, program)...))
			}
		})
	}
	t.Run("recorded", func(t *testing.T) {
		file, _ := record(t, []string{"sh"}, scriptFor(t, "--by", "key[:4]", "--sum", "n", target, "main.lookup"), target)
		rows, _ := valueLines(t, ftgo(t, "report", "-o", "json", file))
		if len(rows) != 2 || rows[0].Value != "key-" || rows[0].Calls != 1007 || rows[0].SumOf.Sum != 1006*1007/2 || rows[1].Value != "twic" || rows[1].SumOf.Sum != 1001 {
			t.Errorf("%+v", rows)
		}
		if r := ftgo(t, "report", "--by", "n", file); r.code != 2 {
			t.Errorf("other values than were recorded: status %d\n%s", r.code, r.stderr)
		}
		// What is known of a call in any case is there beside errors.
		file, _ = record(t, []string{"sh"}, scriptFor(t, "--errors", target, "main.lookup"), target)
		rows, _ = valueLines(t, ftgo(t, "report", "--by", "goid", "-o", "json", file))
		if len(rows) != 1 || rows[0].Value != "1" || rows[0].Calls != 1009 || rows[0].Errors != 7 {
			t.Errorf("%+v", rows)
		}
		// All that trace shows is there to be asked for.
		file, _ = record(t, []string{"sh"}, scriptFor(t, "--as", "trace", target, "main.lookup"), target)
		rows, _ = valueLines(t, ftgo(t, "report", "--as", "probe", "--by", "found", "--sum", "n", "--hist", "-o", "json", file))
		if len(rows) != 2 || rows[0].Value != "true" || rows[0].Calls != 1002 || rows[0].SumOf.Calls != 1002 || len(rows[0].HistogramOf) != 10 || rows[1].SumOf.Sum != 7*1003 {
			t.Errorf("%+v", rows)
		}
	})
}

// TestKernelByManyValues: where values are more than rows, nothing is lost, rows say how much they may
// miss, and intervals add up to the whole.
func TestKernelByManyValues(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	r := ftgo(t, "probe", "-o", "json", "-i", "0.02", "--errors", "--sum", "n", "--by", "key", "--sort", "calls", target, "main.lookup", "--", target, "-n", "3007")
	rows, summary := valueLines(t, r)
	var total, intervals, errors, sum, others uint64
	for _, row := range rows {
		switch {
		case !row.Total:
			intervals += row.Calls
			continue
		case row.Rest == "others":
			others = row.Calls
		case row.Calls == 0 || row.Missed > 0 && row.Calls+row.Missed > 5 || row.Lost > 0:
			t.Errorf("%+v", row)
		}
		total, errors, sum = total+row.Calls, errors+row.Errors, sum+row.SumOf.Sum
	}
	if total != 3009 || intervals != total || errors != 3007-1000 || sum != 3006*3007/2+1001 || others < 2000 || summary.Values.Rows != 1000 || summary.Lost != 0 {
		t.Errorf("%d calls, %d in intervals, %d errors, a sum of %d, %d calls of others, %+v", total, intervals, errors, sum, others, summary)
	}
	if r := ftgo(t, "probe", "-t", "2", "--by", "key", target, "main.lookup", "--", target); !strings.Contains(r.stdout, "\nkey-") || !strings.Contains(r.stdout, "(others)") || !strings.Contains(r.stderr, "only the 1000 values with most calls have rows") {
		t.Errorf("a table without what it misses:\n%s%s", r.stdout, r.stderr)
	}
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
			if memory >= 64<<10 {
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

// waitRead waits until the first session of a tracer has read nearly all that the kernel has for it.
func waitRead(t *testing.T, f *tracefs.FS, pid int) {
	t.Helper()
	waitFor(t, "what comes to be read", func() bool {
		files, err := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*_1/per_cpu/cpu*/stats", f.Dir(), pid))
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
