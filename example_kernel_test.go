package ftgo_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelShownTracer builds the tracer of docs/library.md and runs it.
func TestKernelShownTracer(t *testing.T) {
	fs := tracetest.Kernel(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	page, err := os.ReadFile("docs/library.md")
	fixture.NoError(t, err)
	_, program, _ := strings.Cut(string(page), "\n```go\n")
	program, _, _ = strings.Cut(program, "\n```\n")
	source, err := os.ReadFile("example_test.go")
	fixture.NoError(t, err)
	if _, body, _ := strings.Cut(program, "{\n"); len(strings.Split(program, "\n")) > 13 || !strings.Contains(string(source), "\nfunc Example() {\n"+body) {
		t.Errorf("docs/library.md does not have the body of Example, or that in more than 12 lines:\n%s", program)
	}
	dir := t.TempDir()
	imports := "package main\nimport (\"context\"; \"fmt\"; \"log\"; \"os\"; \"os/signal\"; \"time\"; \"github.com/ftgo/ftgo\")\n"
	fixture.NoError(t, os.WriteFile(dir+"/main.go", []byte(imports+program), 0o644))
	if b, err := exec.Command("go", "build", "-o", dir+"/tracer", dir+"/main.go").CombinedOutput(); err != nil {
		t.Fatalf("the program does not build: %v\n%s", err, b)
	}
	target := fixture.Build(t, "exact")
	var out bytes.Buffer
	tracer := exec.Command(dir+"/tracer", target, "main.sleep5")
	tracer.Stdout, tracer.Stderr = &out, &out
	fixture.NoError(t, tracer.Start())
	defer tracer.Process.Kill()
	tracetest.WaitArmedBy(t, fs, tracer.Process.Pid)
	if b, err := exec.Command(target).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	if err := tracer.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := tracer.Wait(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "main.sleep5("); n != 23 {
		t.Errorf("%d slow calls, want 23:\n%s", n, out.String())
	}
	if left, _ := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*", fs.Dir(), tracer.Process.Pid)); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestKernelExamplePrometheus(t *testing.T) {
	tracetest.Kernel(t)
	var out bytes.Buffer
	for r, err := range (&ftgo.Tracer{Command: exec.Command(fixture.Build(t, "exact")), Funcs: []string{"main.sleep*"}}).Reports(t.Context(), time.Hour) {
		fixture.NoError(t, err)
		prometheus(&out, r)
	}
	for _, want := range []string{
		`go_call_seconds_bucket{function="main.sleep5",le="0.001"} 0`,
		`go_call_seconds_bucket{function="main.sleep5",le="+Inf"} 23`,
		`go_call_seconds_count{function="main.sleep5"} 23`,
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}

// TestKernelExampleTimeByKey checks that an argument selected in Funcs is fetched without Values.
func TestKernelExampleTimeByKey(t *testing.T) {
	tracetest.Kernel(t)
	byKey, err := timeByKey(t.Context(), &ftgo.Tracer{Command: lookup(t, 20), Funcs: []string{"main.lookup(key)"}})
	if err != nil || len(byKey) != 21 || byKey["twice"] <= 0 {
		t.Errorf("%d keys: %v, %v", len(byKey), byKey, err)
	}
}
