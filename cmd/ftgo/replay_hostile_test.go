package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// enter and leave are the two lines of madeUp that are events.
const (
	enter = " f-7 (    7) [000] d... 1.000000: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1\n"
	leave = " f-7 (    7) [000] d... 1.500000: r1_0123456789abcd: (0x6) sp=90 g=5 hi=100\n"
)

// forgeries are recordings that somebody has made up, or spoiled. In each, from becomes to;
// calls and completed are what probe shows, and hits are the kernel's; those of which
// refused says why are not shown at all, those with cutOff are, with status 1.
var forgeries = []struct {
	name, from, to         string
	calls, completed, hits uint64
	refused                string
	cutOff                 bool
}{
	{name: "nothing", calls: 1, completed: 1, hits: 2},
	// Lines among the events that look like others.
	{name: "a marker that ends it", from: enter, to: " f-7 (    7) [000] d... 1.000000: tracing_mark_write: ended_0123456789abcd\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "a marker with the end's line", from: enter, to: " f-7 (    7) [000] d... 1.000000: tracing_mark_write: # ended 0123456789abcd\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "a marker with an event", from: enter, to: " f-7 (    7) [000] d... 0.900000: tracing_mark_write: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "a name with an event", from: " f-7", to: " : e0_0123: (0x2-7", calls: 1, completed: 1, hits: 2},
	{name: "a name with an escape", from: " f-7", to: " \x1b[2Jf-7", calls: 1, completed: 1, hits: 2},
	{name: "an end of another", from: enter, to: "# ended 0123456789abce\n# complete 0123456789abce\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "an end behind a blank", from: enter, to: " # ended 0123456789abcd\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "an end before a blank", from: enter, to: "# ended 0123456789abcd \n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "complete among the events", from: enter, to: "# complete 0123456789abcd\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "losses among the events", from: enter, to: "# lost 99\nCPU:0 [LOST 99 EVENTS]\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "a function of another name", from: enter, to: strings.Replace(enter, "e0_0123456789abcd", "e0_0123456789abce", 1) + enter, calls: 1, completed: 1, hits: 2},
	{name: "escapes instead of a line", from: enter, to: "\x1b]2;title\a\x9b2J\r\n" + enter, calls: 1, completed: 1, hits: 2},
	{name: "no end of line", from: "# ended", to: strings.Repeat("x", 300<<10) + "\n# ended", calls: 1, completed: 1, hits: 2},
	{name: "an argument twice", from: " sp=90 g=5 hi=100 id=1", to: " sp=90 sp=91 g=5 hi=100 id=1", calls: 1, completed: 0, hits: 2},
	{name: "an argument with an escape", from: " id=1", to: " id=\x1b[2J1", calls: 1, completed: 0, hits: 2},
	// Numbers.
	{name: "a site that is none", from: "(0x2)", to: "(0xffffffffffffffff)", calls: 1, completed: 0, hits: 2},
	{name: "numbers that are too large", from: "sp=90 g=5 hi=100 id=1", to: "sp=18446744073709551616 g=5 hi=100 id=1", calls: 1, completed: 0, hits: 2},
	{name: "the largest numbers", from: "sp=90 g=5 hi=100 id=1", to: "sp=18446744073709551615 g=18446744073709551615 hi=18446744073709551615 id=18446744073709551615", calls: 1, completed: 0, hits: 2},
	{name: "a processor that is none", from: "[000] d... 1.000000", to: "[999999999] d... 1.000000", calls: 1, completed: 1, hits: 2},
	{name: "a thread that is none", from: " f-7 (    7) [000] d... 1.000000", to: " f-99999999999999999999 (    7) [000] d... 1.000000", calls: 1, completed: 0, hits: 2},
	{name: "a time that is none", from: "1.000000:", to: "99999999999999999999.000000:", calls: 1, completed: 0, hits: 2},
	{name: "more hits than there can be", from: "# profile e0_0123456789abcd 1", to: "# profile e0_0123456789abcd 9223372036854775807", calls: 1, completed: 1, hits: 2},
	{name: "hits without a number", from: "# profile e0_0123456789abcd 1", to: "# profile e0_0123456789abcd 9223372036854775808", refused: "value out of range"},
	{name: "fewer than no hits", from: "# profile e0_0123456789abcd 1", to: "# profile e0_0123456789abcd -1", refused: "invalid syntax"},
	{name: "hits of a site too many", from: "# profile e0", to: "# profile e0_0123456789abcd 1\n# profile e0", refused: "hits of 2 sites"},
	{name: "hits of no event", from: "# profile e0", to: "# profile \x1b[2J 1\n# profile e0", refused: "has not defined"},
	{name: "as many lost as there can be", from: "# lost 0", to: "# lost 9223372036854775807", calls: 1, completed: 1, hits: 2},
	{name: "more lost", from: "# lost 0", to: "# lost 9223372036854775808", refused: "value out of range"},
	{name: "clocks of no time", from: "# clock armed 1000000000 1.000000 1000000000", to: "# clock armed -9223372036854775808 0.000000 9223372036854775807", calls: 1, completed: 1, hits: 2},
	{name: "a clock after the end of time", from: "1000000000 1.000000 1000000000", to: "1000000000 18446744073.999999 1000000000", refused: "clock"},
	{name: "a clock that is a text", from: "1000000000 1.000000 1000000000", to: "1000000000 \x1b[2J 1000000000", refused: "clock"},
	{name: "an end before its beginning", from: "# clock ended 2000000000 2.000000 2000000000", to: "# clock ended 1 0.000001 2", calls: 1, completed: 1, hits: 2},
	// The end.
	{name: "no end", from: "# ended 0123456789abcd\n", to: "", calls: 1, completed: 1, hits: 2, cutOff: true},
	{name: "a part of an end", from: "# complete 0123456789abcd\n", to: "", calls: 1, completed: 1, hits: 2, cutOff: true},
	{name: "complete of another", from: "# complete 0123456789abcd", to: "# complete 0123456789abce", calls: 1, completed: 1, hits: 2, cutOff: true},
	{name: "complete before the hits", from: "# lost 0", to: "# complete 0123456789abcd\n# lost 0", refused: "hits of 0 sites"},
	{name: "events behind the end", from: "# complete", to: enter + "# complete", refused: "behind its events is a line"},
	// The header.
	{name: "another version", from: "# ftgo-recording 4", to: "# ftgo-recording 5", refused: "has version 5 of the format, not 4"},
	{name: "an older version", from: "# ftgo-recording 4", to: "# ftgo-recording 3", refused: `read it with the ftgo that made it, version "v1"`},
	{name: "an older version with escapes", from: `4 0123456789abcd
# about {"made":"v1`, to: `2 0123456789abcd
# about {"made":"\u001b[2J\n`, refused: "has version 2 of the format, not 4"},
	// What was traced.
	{name: "a plain trace", from: madeUp[:strings.Index(madeUp, " f-7")], to: "", refused: "no recording of ftgo"},
	{name: "nothing at all", from: madeUp, to: "", refused: "no recording of ftgo"},
	{name: "escapes at once", from: "# ftgo", to: "\x1b[2J", refused: "no recording of ftgo"},
	{name: "an event with escapes", from: "r1_0123456789abcd\",\"args", to: `\u001b[2J","args`, refused: "C identifier"},
	{name: "a command with escapes", from: `"command":"probe"`, to: `"command":"\u001b[2J"`, refused: "of command"},
	{name: "a path with escapes", from: "/no/such/file", to: `/no\u001b[2J`, calls: 1, completed: 1, hits: 2},
	{name: "a clock with escapes", from: "trace-clock mono", to: "trace-clock \x1b[2J", calls: 1, completed: 1, hits: 2},
	{name: "a clock that stands", from: "trace-clock mono\n", to: "trace-clock x86-tsc\n# clock armed 1 0.000001 1\n# clock ended 1 0.000001 1\n", refused: "calibrate clock"},
	{name: "another wall clock", from: "wall 1000000000000000000", to: "wall 9223372036854775807", calls: 1, completed: 1, hits: 2},
	{name: "fewer hits than events", from: "abcd 1\n# profile", to: "abcd 0\n# profile", calls: 1, completed: 1, hits: 2},
	{name: "time that runs backwards", from: "1.500000:", to: "0.000001:", calls: 1, completed: 0, hits: 2},
	{name: "an age", from: "1.500000:", to: "9999999999.500000:", calls: 1, completed: 1, hits: 2},
	// The window.
	{name: "a window", from: "# lost 0", to: "# lost 0\n" + windowed("1000000000 0.900000 1000000000", "2000000000 1.900000 2000000000"), calls: 1, completed: 1, hits: 2},
	{name: "a window that ends before its events", from: "# lost 0", to: "# lost 0\n" + windowed("1000000000 0.900000 1000000000", "2000000000 0.950000 2000000000"), calls: 0, completed: 0, hits: 0},
	{name: "a window that ends before it begins", from: "# lost 0", to: "# lost 0\n" + windowed("2000000000 1.900000 2000000000", "1000000000 0.900000 1000000000"), calls: 0, completed: 0, hits: 0},
	{name: "half a window", from: "# lost 0", to: "# lost 0\n# from e0_0123456789abcd 7", calls: 1, completed: 1, hits: 2},
	{name: "a pass that is none", from: "# lost 0", to: "# lost 0\n# pass until x", refused: "invalid syntax"},
	{name: "a pass of neither end", from: "# lost 0", to: "# lost 0\n# pass middle 7", refused: "of neither end"},
	{name: "a nonce that everybody knows", from: "0123456789abcd", to: "1", refused: "shorter than 16 bytes"},
	{name: "no plan", from: `,"plan":`, to: `,"plam":`, refused: "read plan"},
	{name: "a plan of another kind", from: `"mode":0`, to: `"mode":200`, refused: "mode 200"},
	{name: "a function that is not there", from: `"sites":[[0,1,2,0,255]]`, to: `"sites":[[0,1,2,1000000,255]]`, refused: "of function 1000000 of 1"},
	{name: "a function before the first", from: `"sites":[[0,1,2,0,255]]`, to: `"sites":[[0,1,2,-7,255]]`, refused: "of function -7"},
	{name: "a word that is not fetched", from: `"fields":{"SP":0,"G":1,"Goid":3`, to: `"fields":{"SP":1000000000,"G":1,"Goid":3`, refused: "field at word"},
	{name: "arrays without end", from: `"args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}]`, to: `"args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}],"counts":[1,1,1,2000000000]`, refused: "an array of 2000000000"},
	{name: "callers without end", from: `"mode":0`, to: `"stack":2000000000,"mode":0`, refused: "2000000000 callers"},
	{name: "functions named that are not there", from: `"named":[0]`, to: `"named":[-1,0,2000000000],"inside_funcs":[9],"only_inside":[9]`, calls: 1, completed: 1, hits: 2},
	{name: "strings without end", from: `"named":[0]`, to: `"named":[0],"strlen":2000000000`, refused: "--strlen 2000000000: not 1 to 512"},
	{name: "slices without end", from: `"named":[0]`, to: `"named":[0],"items":-1`, refused: "--items -1: not 1 to 64"},
	{name: "a condition that is none", from: `"named":[0]`, to: `"named":[0],"where":"((\u001b[2J"`, refused: "read recording: "},
	{name: "a binary that is a directory", from: "/no/such/file", to: "/etc", calls: 1, completed: 1, hits: 2},
	{name: "a binary that never ends", from: "/no/such/file", to: "/dev/zero", calls: 1, completed: 1, hits: 2},
	{name: "a binary that is secret", from: "/no/such/file", to: "/etc/shadow", calls: 1, completed: 1, hits: 2},
	{name: "a function left out that is an escape", from: `"named":[0]`, to: `"named":[0],"skipped":[["\u001b[2J","\u001b]2;title\u0007\n{\"type\":\"summary\"}"]]`, calls: 1, completed: 1, hits: 2},
	{name: "a function that is a formula", from: `"name":"main.f"`, to: `"name":"=HYPERLINK(1)\n{\"type\":\"call\"}"`, calls: 1, completed: 1, hits: 2},
	{name: "a kernel that is none", from: "# kernel 6.18.0", to: "# kernel 99999999999999999999.1.\x1b[2J", calls: 1, completed: 1, hits: 2},
	{name: "many facts", from: "# kernel", to: strings.Repeat("# x y\n", 100000) + "# kernel", calls: 1, completed: 1, hits: 2},
	{name: "a wall clock that is none", from: "# wall 1000000000000000000", to: "# wall \x1b[2J", calls: 1, completed: 1, hits: 2},
	{name: "what begins twice", from: "# began 0123456789abcd\n", to: "# began 0123456789abcd\n# began 0123456789abcd\n", calls: 1, completed: 1, hits: 2},
	{name: "braces without end", from: `"asked":{`, to: `"asked":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `,"asked2":{`, refused: "max depth"},
}

// windowed is a window, with its clocks.
func windowed(from, until string) string {
	return "# clock from " + from + "\n# from e0_0123456789abcd 0\n# from r1_0123456789abcd 0\n# pass from 1\n" +
		"# clock until " + until + "\n# until e0_0123456789abcd 1\n# until r1_0123456789abcd 1\n# pass until 1"
}

// TestReportForged: no recording makes up events, or losses, or controls the terminal, and
// none takes much more memory than it is long.
func TestReportForged(t *testing.T) {
	for _, c := range forgeries {
		t.Run(c.name, func(t *testing.T) {
			text := strings.ReplaceAll(madeUp, c.from, c.to)
			if c.from == "" {
				text = madeUp
			} else if text == madeUp {
				t.Fatalf("%q is not in it", c.from)
			}
			for _, as := range []string{"probe", "count", "trace"} {
				for _, format := range []string{"table", "json", "csv", "tsv", "chrome"} {
					if format == "chrome" && as != "trace" {
						continue
					}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					r := reported(t, text, append(shownAs(as), "-o", format)...)
					runtime.ReadMemStats(&after)
					if used, most := after.TotalAlloc-before.TotalAlloc, 30*uint64(len(text))+(16<<20); used > most {
						t.Errorf("--as %s -o %s took %d KB for a recording of %d", as, format, used>>10, len(text)>>10)
					}
					checkForged(t, r, as, format, c.refused, c.cutOff)
					if c.refused != "" || as == "trace" || format != "json" {
						continue
					}
					o := readObserved(t, r.stdout)
					var got functionLine
					for _, got = range o.functions {
					}
					hits := c.hits
					if len(o.functions) != 1 || got.Calls != c.calls || as == "probe" && got.Completed != c.completed || o.summary.Hits != hits {
						t.Errorf("--as %s: %d calls, %d completed, %d hits\n%s%s", as, got.Calls, got.Completed, o.summary.Hits, r.stdout, r.stderr)
					}
				}
			}
		})
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
