package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// madeUp is a recording of one call.
const madeUp = `# ftgo-recording 4 0123456789abcd
# about {"made":"v1","command":"probe","binary":{"path":"/no/such/file"},"asked":{"patterns":["main.f"],"named":[0]},"plan":{"processor":"x86-64","mode":0,"funcs":[{"name":"main.f","returns":true}],"events":[` +
	`{"name":"e0_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}],"fields":{"SP":0,"G":1,"Goid":3,"Hi":2,"Lo":-1,"Flags":-1,"Stack":-1,"Values":-1},"sites":[[0,1,2,0,255]]},` +
	`{"name":"r1_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"}],"fields":{"SP":0,"G":1,"Goid":-1,"Hi":2,"Lo":-1,"Flags":-1,"Stack":-1,"Values":-1},"sites":[[3,5,6,0,255]]}]}}
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

// TestReportHostile: files that are none, or lie, give a plain line, or numbers; never an
// escape sequence, and never a file that they name.
func TestReportHostile(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a plain trace", madeUp[:strings.Index(madeUp, " f-7")], "", "no recording of ftgo"},
		{"nothing", madeUp, "", "no recording of ftgo"},
		{"escapes at once", "# ftgo", "\x1b[2J", "no recording of ftgo"},
		{"cut off", madeUp[strings.Index(madeUp, "# ended"):], "", "cut off"},
		{"a name with escapes", "main.f\",\"returns", `main.\u001b[2Jf\n","returns`, ""},
		{"a path with escapes", "/no/such/file", `/no\u001b[2J`, ""},
		{"an event with escapes", "r1_0123456789abcd\",\"args", `\u001b[2J","args`, "C identifier"},
		{"a command with escapes", `"command":"probe"`, `"command":"\u001b[2J"`, "of command"},
		{"a fact with escapes", "6.18.0", "\x1b[2J", ""},
		{"a clock with escapes", "trace-clock mono", "trace-clock \x1b[2J", ""},
		{"a clock that stands", "trace-clock mono\n", "trace-clock x86-tsc\n# clock armed 1 0.000001 1\n# clock ended 1 0.000001 1\n", "calibrate clock"},
		{"another wall clock", "wall 1000000000000000000", "wall 9223372036854775807", ""},
		{"more hits than can be", "abcd 1\n# profile", "abcd 9223372036854775807\n# profile", ""},
		{"fewer hits than events", "abcd 1\n# profile", "abcd 0\n# profile", ""},
		{"time that runs backwards", "1.500000:", "0.000001:", ""},
		{"an age", "1.500000:", "9999999999.500000:", ""},
	} {
		text := strings.ReplaceAll(madeUp, c.from, c.to)
		for _, as := range []string{"probe", "count", "trace"} {
			for _, format := range []string{"table", "json", "csv"} {
				r := reported(t, text, append(shownAs(as), "-o", format)...)
				if strings.Contains(r.stdout+r.stderr, "\x1b") || c.want != "" && (r.code == 0 || !strings.Contains(r.stderr, c.want)) {
					t.Errorf("%s: --as %s -o %s: status %d\n%q\n%q", c.name, as, format, r.code, r.stdout, r.stderr)
				}
			}
		}
	}
}

// shownAs are flags of report by which what can be shown is.
func shownAs(as string) []string {
	return append([]string{"--as", as}, map[string][]string{"probe": {"--hist"}, "trace": {"-T"}}[as]...)
}
