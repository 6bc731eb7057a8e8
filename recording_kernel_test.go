package ftgo_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelRecording checks the calls of a recording, with and without the binary, and of one that was cut off.
func TestKernelRecording(t *testing.T) {
	tracetest.Kernel(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err) // needed to build ftgo, which writes the script
	}
	dir, path := t.TempDir(), fixture.Build(t, "lookup")
	script, err := exec.Command("go", "run", "./cmd/ftgo", "script", "--as", "trace", "--stack", path, "main.lookup", "main.twice").Output()
	fixture.NoError(t, err)
	fixture.NoError(t, os.WriteFile(dir+"/record", script, 0o755))
	run := exec.Command("sh", dir+"/record", "-w", dir+"/rec", "--", path, "-n", "20")
	if b, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	var with, without []string
	for _, c := range []struct {
		binary string
		to     *[]string
	}{{path, &with}, {"", &without}} {
		for call, err := range (&ftgo.Tracer{Recording: dir + "/rec", Binary: c.binary, Stack: 4}).Calls(t.Context()) {
			fixture.NoError(t, err)
			_, line, _ := strings.Cut(call.String(), "  goroutine 1  ")
			for f := range call.Stack() {
				line += " < " + f.Func
			}
			*c.to = append(*c.to, line)
		}
	}
	if len(with) != 23 || len(without) != 23 || without[3] != "main.lookup()" || !slices.ContainsFunc(with, func(line string) bool {
		return strings.HasPrefix(line, `main.lookup(key="twice", n=501) = ("value-501", true, nil) < main.twice < main.main`)
	}) {
		t.Errorf("with the binary:\n%s\nwithout:\n%s", strings.Join(with, "\n"), strings.Join(without, "\n"))
	}
	r, err := (&ftgo.Tracer{Recording: dir + "/rec"}).Count(t.Context())
	if err != nil || rows(r) != "main.lookup 22, main.twice 1" {
		t.Errorf("counted %s, %v", rows(r), err)
	}

	text, err := os.ReadFile(dir + "/rec")
	fixture.NoError(t, err)
	whole, _, found := strings.Cut(string(text), "\n# ended ")
	if err := os.WriteFile(dir+"/cut", []byte(whole+"\n"), 0o644); err != nil || !found {
		t.Fatalf("%t, %v", found, err)
	}
	var loss *ftgo.LossError
	n := 0
	for _, err := range (&ftgo.Tracer{Recording: dir + "/cut"}).Calls(t.Context()) {
		if n++; err != nil && (!errors.As(err, &loss) || loss.Unknown == nil) {
			t.Error(err)
		}
	}
	if n != 24 || loss == nil {
		t.Errorf("%d items of a recording that was cut off, want 23 calls and the loss: %v", n, loss)
	}
}

// TestList checks the list of functions, with one that can't be probed.
func TestList(t *testing.T) {
	var got []string
	for f, err := range (&ftgo.Tracer{Binary: fixture.Build(t, "lines"), Funcs: []string{"main.once", "main.(*store).*"}}).List() {
		fixture.NoError(t, err)
		got = append(got, fmt.Sprintf("%s %t %t", f.Name, f.Addr != 0 && f.Line > 0 && strings.HasPrefix(f.Signature, f.Name+"("), f.Unprobed == nil))
	}
	if !slices.Contains(got, "main.once true true") || !slices.Contains(got, "main.(*store).at false false") {
		t.Errorf("listed %q", got)
	}
}
