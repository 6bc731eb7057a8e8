package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// enter is the line of madeUp that is the begin of the call.
const enter = " f-7 (    7) [000] d... 1.000000: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1\n"

// repeatedRE is a part of a forgery that is there so often.
var repeatedRE = regexp.MustCompile(`\\\((\d+) ([^)]*)\)`)

// unescaped is a part of a forgery as scripts have it.
func unescaped(text string) string {
	text = repeatedRE.ReplaceAllStringFunc(text, func(part string) string {
		m := repeatedRE.FindStringSubmatch(part)
		n, _ := strconv.Atoi(m[1])
		return strings.Repeat(m[2], n)
	})
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\e`, "\x1b", `\a`, "\a", `\x9b`, "\x9b", `\r`, "\r").Replace(text)
}

// forged is a command of scripts: forged shown|cut|refused CALLS|TEXT FROM TO. What can be shown is, those that were cut
// off with status 1; of others is said why not.
func forged(t *testing.T, ts *testscript.TestScript, kind, want, from, to string) {
	text := strings.ReplaceAll(madeUp, unescaped(from), unescaped(to))
	if text == madeUp && from != to {
		ts.Fatalf("%q is not in it", from)
	}
	refused := ""
	if kind == "refused" {
		refused = want
	}
	for _, as := range []string{"probe", "count", "trace"} {
		for _, format := range []string{"table", "json", "csv", "tsv"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := reported(t, text, append(shownAs(as), "-o", format)...)
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, 30*uint64(len(text))+(16<<20); used > most {
				ts.Fatalf("--as %s -o %s took %d KB for a recording of %d", as, format, used>>10, len(text)>>10)
			}
			if checkForged(t, r, as, format, refused, kind == "cut"); t.Failed() {
				ts.Fatalf("%q is wrong", to)
			}
			if refused != "" || as == "trace" || format != "json" {
				continue
			}
			o := readObserved(t, r.stdout)
			var calls, completed, hits uint64
			_, err := fmt.Sscan(want, &calls, &completed, &hits)
			ts.Check(err)
			var got functionLine
			for _, got = range o.functions {
			}
			if len(o.functions) != 1 || got.Calls != calls || as == "probe" && got.Completed != completed || o.summary.Hits != hits {
				ts.Fatalf("--as %s: %d calls, %d completed, %d hits\n%s%s", as, got.Calls, got.Completed, o.summary.Hits, r.stdout, r.stderr)
			}
		}
	}
}

// checkForged looks at what anything forged may do to an output.
func checkForged(t *testing.T, r result, as, format, refused string, cutOff bool) {
	t.Helper()
	at := fmt.Sprintf("--as %s -o %s", as, format)
	for line := range strings.SplitSeq(r.stdout+r.stderr, "\n") {
		if i := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("%s: %q", at, line)
		}
		if format == "csv" && strings.HasPrefix(line, "=") {
			t.Errorf("%s: a formula: %q", at, line)
		}
	}
	switch {
	case refused != "":
		if r.code != cli.ExitFailed || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "ftgo: ") || !strings.Contains(r.stderr, refused) || len(r.stderr) > 600 {
			t.Errorf("%s: status %d, want %q\n%s%s", at, r.code, refused, r.stdout, r.stderr)
		}
		return
	case cutOff != (r.code == cli.ExitFailed), !cutOff && r.code != cli.ExitOK, cutOff != strings.Contains(r.stderr, "cut off"):
		t.Errorf("%s: status %d\n%s%s", at, r.code, r.stdout, r.stderr)
	}
	if format != "json" {
		return
	}
	kinds := make(map[string]int)
	for line := range strings.Lines(r.stdout) {
		var o struct{ Type string }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Errorf("%s: %q: %v", at, line, err)
		}
		kinds[o.Type]++
	}
	if kinds["summary"] != 1 || kinds["call"] > 1 || kinds["function"]+kinds["call"]+1 != strings.Count(r.stdout, "\n") {
		t.Errorf("%s: lines %v\n%s", at, kinds, r.stdout)
	}
}

// TestReportLongLines: what no line of a recording can be as long as is refused, and not read.
func TestReportLongLines(t *testing.T) {
	fixture.NeedLong(t)
	header, _, _ := strings.Cut(madeUp, "# about")
	most, _, _ := strings.Cut(madeUp, " f-7")
	_, end, _ := strings.Cut(madeUp, "# ended")
	for _, c := range []struct{ name, text, want string }{
		{"at once", "", "longer than 8 MB"},
		{"a fact", header + "# kernel ", "longer than 8 MB"},
		{"a plan", header + "# about ", "longer than 128 MB"},
		{"an event", most, "cut off"},
		{"behind the events", most + "# ended" + end[:strings.Index(end, "# lost")] + "# lost ", "longer than 8 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rec")
			fixture.Write(t, file, c.text)
			// The rest is a hole: one line of zeros.
			noError(t, os.Truncate(file, 300<<20))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := ftgo(t, "report", file)
			runtime.ReadMemStats(&after)
			if r.code != cli.ExitFailed || !strings.Contains(r.stderr, c.want) || len(r.stderr) > 600 {
				t.Errorf("status %d, want %q\n%s", r.code, c.want, r.stderr)
			}
			if used := after.TotalAlloc - before.TotalAlloc; c.name != "a plan" && used > 100<<20 {
				t.Errorf("it took %d MB", used>>20)
			}
		})
	}
}

// madeUp is a recording of one call.
const madeUp = `# ftgo-recording 5 0123456789abcd
# about {"made":"v1","command":"probe","binary":{"path":"/no/such/file"},"flags":["--wrappers=true"],"patterns":["main.f"],"processor":"x86-64","plan":{"mode":0,"funcs":[{"name":"main.f","returns":true,"role":{"named":true}}],"events":[` +
	`{"name":"e0_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}],"fields":{"SP":0,"G":1,"Goid":3,"Hi":2,"Lo":-1,"Flags":-1,"Creator":-1,"CreatorGoid":-1,"Start":-1,"Stack":-1,"Values":-1},"sites":[{"kind":0,"addr":2,"func":0}]},` +
	`{"name":"r1_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"}],"fields":{"SP":0,"G":1,"Goid":-1,"Hi":2,"Lo":-1,"Flags":-1,"Creator":-1,"CreatorGoid":-1,"Start":-1,"Stack":-1,"Values":-1},"sites":[{"kind":3,"addr":6,"func":0}]}]}}
# kernel 6.18.0
# trace-clock mono
# wall 1000000000000000000
# clock first 999000000 0.999000 999000000
# clock armed 1000000000 1.000000 1000000000
# began 0123456789abcd
 f-7 (    7) [000] d... 1.000000: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1
 f-7 (    7) [000] d... 1.500000: r1_0123456789abcd: (0x6) sp=90 g=5 hi=100
# ended 0123456789abcd
# clock ended 2000000000 2.000000 2000000000
# lost 0
# profile e0_0123456789abcd 1
# profile r1_0123456789abcd 1
# complete 0123456789abcd
`

func reported(t *testing.T, text string, args ...string) result {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rec")
	fixture.Write(t, file, text)
	return ftgo(t, append(append([]string{"report"}, args...), file)...)
}

// shownAs are flags of report by which what can be shown is.
func shownAs(as string) []string {
	return append([]string{"--as", as}, map[string][]string{"probe": {"--hist"}, "trace": {"-T"}}[as]...)
}
