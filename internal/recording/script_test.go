package recording

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

func exampleScript() *Script {
	var first []uprobe.Site
	for offset := range uint64(9) {
		first = append(first, uprobe.Site{Offset: offset + 1})
	}
	return &Script{
		About: About{Version: "'$HOME' \\ `id`", Binary: File{Path: "/opt/it's `here`/server", Size: 12345, SHA256: strings.Repeat("0f", 32)}, Plan: &uprobe.Plan{Processor: amd64.Processor, Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "it's.`f`"}}}, Events: []uprobe.Event{
			{Event: tracefs.Event{Name: "e0_0123456789abcd", Args: []tracefs.Arg{{Name: "sp", Fetch: "%sp", Type: "s64"}, {Name: "w", Fetch: "+0(%ax)", Type: "x64[2]"}}, Filter: "sp > 1"}, Sites: first},
			{Event: tracefs.Event{Name: "r1_0123456789abcd", Args: []tracefs.Arg{{Name: "sp", Fetch: "%sp", Type: "s64"}}}, Sites: []uprobe.Site{
				{Offset: 0x10, Fetch: []string{"$stack"}}, {Offset: 0x20, Fetch: []string{"+8(%sp)"}},
			}},
		}}},
		Budget: 2.5, Seconds: "1.5", BufferKB: 64, HitNS: []float64{1200, 10000},
	}
}

// TestScriptText compares a script with testdata/script.sh, and checks it with shellcheck and shells.
func TestScriptText(t *testing.T) {
	got, err := exampleScript().Text()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "script.sh")
	if os.Getenv("FTGO_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the script is not %s (FTGO_UPDATE=1 makes it so):\n%s", golden, got)
	}
	for _, check := range [][]string{{"shellcheck", "-s", "sh", golden}, {"dash", "-n", golden}, {"busybox", "sh", "-n", golden}} {
		if _, err := exec.LookPath(check[0]); err != nil {
			if os.Getenv("FTGO_TEST_KERNEL") == "require" && check[0] == "shellcheck" && os.Getenv("FTGO_TEST_TARGETS") == "" {
				t.Errorf("the script is not checked: %v", err)
			}
			t.Logf("%s: %v", check[0], err)
			continue
		}
		if out, err := exec.Command(check[0], check[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v\n%s", check, err, out)
		}
	}
}

// TestScriptQuotes checks that a shell sets the variables and prints the header exactly as given, and that the text has
// no control characters.
func TestScriptQuotes(t *testing.T) {
	for _, binary := range []string{exampleScript().Binary.Path, "/opt/\u202ecod.\u2066\u009b2J\x9b\xff\x1b[2J%s\\n'\n\n"} {
		s := exampleScript()
		s.Binary.Path = binary
		text, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range text {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q at byte %d", r, i)
			}
		}
		beginning, _, _ := strings.Cut(text, recorder)
		out, err := exec.Command("sh", "-c", beginning+"header; printf '%s\\n' \"$binary\" $cost_e0_0123456789abcd $share; at() { echo \"$# $2\"; }; filter() { :; }; probes").Output()
		if err != nil {
			t.Fatal(err)
		}
		_, about, _ := strings.Cut(text, "# about ")
		about, _, _ = strings.Cut(about, "\n")
		want := "# ftgo-recording 5 0123456789abcd\n# about " + about + "\n" + binary + "\n1200\n25000\n11  sp=%sp:s64 w=+0(%ax):x64[2]\n3  sp=$stack:s64\n3  sp=+8(%sp):s64\n"
		if string(out) != want {
			t.Errorf("a shell makes it\n%q\nwant\n%q", out, want)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	s := exampleScript()
	s.Plan.Events[0].Args[0].Fetch = "%sp\np:x/y z:0"
	if _, err := s.Text(); err == nil || !strings.Contains(err.Error(), "blank in it") {
		t.Errorf("a definition of two lines: %v", err)
	}
}
