package main

import (
	"path/filepath"
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

// shownAs are flags of report by which what can be shown is.
func shownAs(as string) []string {
	return append([]string{"--as", as}, map[string][]string{"probe": {"--hist"}, "trace": {"-T"}}[as]...)
}
