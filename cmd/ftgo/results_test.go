package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// files writes texts into files, and returns their names.
func files(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		names = append(names, filepath.Join(dir, string(rune('a'+i))))
		fixture.Write(t, names[i], text)
	}
	return names
}

// TestReportAddsUp: recordings and results of any machines add up, by function or by host as well.
func TestReportAddsUp(t *testing.T) {
	web1 := strings.Replace(madeUp, "# kernel", "# host web1\n# kernel", 1)
	recordings := files(t, web1, strings.Replace(web1, "web1", "web2", 1), madeUp)
	one := ftgo(t, "report", "-o", "json", recordings[0])
	if !strings.Contains(one.stdout, `"host":"web1"`) || !strings.Contains(one.stdout, `"buckets":{"ns":{"min":500000000,"max":500000000,"sum":500000000,"counts":[[499122176,1]]}}`) {
		t.Fatalf("%s%s", one.stdout, one.stderr)
	}
	whole := files(t, one.stdout, one.stdout[:len(one.stdout)/2], "PK\x03\x04\n", strings.ReplaceAll(one.stdout, "web1", "web7"))
	all := append(recordings[1:], whole[0])
	for _, c := range []struct {
		scenario string
		args     []string
		want     string // of what is written
		code     int
	}{
		{"recordings and JSON", all, "main.f        3    3.00  500ms  500ms  500ms  500ms  1.50s   150%", 0},
		{"by host", append([]string{"--per-host", "--sort", "name"}, all...), "main.f    /", 0},
		{"JSON alone", whole[:1], "main.f        1    1.00  500ms", 0},
		{"as count", append([]string{"--as", "count"}, recordings...), "main.f        3", 0},
		{"with histograms", append([]string{"--hist"}, all...), "256 -> 511        : 3", 0},
		{"as CSV", append([]string{"-o", "csv", "--per-host"}, all...), "function,host,calls", 0},
		{"as JSON", append([]string{"-o", "json"}, all...), `"counts":[[499122176,3]]`, 0},
		{"a condition", append([]string{"--fail-if", "calls > 2"}, all...), "calls > 2: true of main.f (calls 3)", cli.ExitFailIf},
		{"two hosts", []string{"--per-host", "-o", "tsv", whole[0], whole[3]}, "main.f\tweb7\t1", 0},
		{"twice the same", []string{whole[0], recordings[0]}, "the run on web1 that began at 2001-09-09T", cli.ExitFailed},
		{"cut", []string{whole[0], whole[1]}, whole[1] + ":1: the line is cut", cli.ExitFailed},
		{"foreign", []string{whole[0], whole[2]}, whole[2] + ": read recording: no recording of ftgo", cli.ExitFailed},
		{"a recording that was cut off", append(files(t, madeUp[:strings.Index(madeUp, "# ended")]), whole[0]), "the recording was cut off", cli.ExitFailed},
		{"not there", []string{"/no/such", whole[0]}, "open /no/such", cli.ExitFailed},
		{"twice standard input", []string{"-", "-"}, "- is given twice", cli.ExitUsage},
		{"lines", []string{"--as", "trace", whole[0]}, "report: several FILEs, or JSON and --as trace exclude each other", cli.ExitUsage},
		{"values", append([]string{"--by", "goid"}, all...), "report: several FILEs, or JSON and --by exclude each other", cli.ExitUsage},
		{"errors that nobody counted", []string{"--fail-if", "errors > 0", whole[0]}, "errors are counted with probe --errors alone", cli.ExitUsage},
		{"an output that is read", []string{"-w", whole[0], whole[0]}, "which is in use", cli.ExitUsage},
	} {
		r := ftgo(t, append([]string{"report"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", c.scenario, r.code, c.code, c.want, r.stdout, r.stderr)
		}
		if c.code == cli.ExitFailed && (r.stdout != "" || strings.Count(r.stderr, "\n") != 1) {
			t.Errorf("%s: more than a line\n%s%s", c.scenario, r.stdout, r.stderr)
		}
	}
}
