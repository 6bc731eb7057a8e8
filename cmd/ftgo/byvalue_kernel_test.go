package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

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
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		var v valueLine
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
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
	tracetest.Kernel(t)
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
		// All that trace shows is there to be asked for.
		file, _ = record(t, []string{"sh"}, scriptFor(t, "--as", "trace", target, "main.lookup"), target)
		rows, _ = valueLines(t, ftgo(t, "report", "--as", "probe", "--by", "found", "--hist-of", "n", "-o", "json", file))
		if len(rows) != 2 || rows[0].Value != "true" || rows[0].Calls != 1002 || rows[0].SumOf.Calls != 1002 || len(rows[0].HistogramOf) != 10 || rows[1].SumOf.Sum != 7*1003 {
			t.Errorf("%+v", rows)
		}
	})
}

// TestKernelByManyValues: where values are more than rows, nothing is lost, rows say how much they may
// miss, and intervals add up to the whole.
func TestKernelByManyValues(t *testing.T) {
	tracetest.Kernel(t)
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
