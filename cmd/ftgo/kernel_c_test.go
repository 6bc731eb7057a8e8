package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelMalloc probes a library in a process that has it mapped, by the name that
// people know it by.
func TestKernelMalloc(t *testing.T) {
	tracetest.LongKernel(t)
	path := fixture.Compile(t, "gcc", "c/mallocs.c", "-O2")
	for _, command := range []string{"count", "probe"} {
		m := family(t, path, "1009")
		r := attached(t, m, command, "--budget", "0", "-o", "json", "-p", m.pid(), "libc", "malloc")
		r.succeeded(t)
		f := readObserved(t, r.stdout).functions["malloc"]
		if f.Calls != 1009 || command == "probe" && f.Completed != 1009 {
			t.Errorf("%s: %d calls of malloc, %d completed; want 1009", command, f.Calls, f.Completed)
		}
	}
}

// TestKernelGccgo counts the functions of a program made by GCC's Go compiler, whose
// goroutines no register names and whose stacks are in pieces.
func TestKernelGccgo(t *testing.T) {
	tracetest.LongKernel(t)
	compiler := "gccgo"
	if _, err := exec.LookPath("gccgo-12"); err == nil {
		compiler = "gccgo-12"
	}
	path := fixture.Compile(t, compiler, "gccgo/add.go")
	for _, c := range []struct{ binary, function string }{{path, "main.add"}, {"libgo", "fmt.Println"}} {
		m := family(t, path, "1009", "13")
		r := attached(t, m, "probe", "--budget", "0", "-o", "json", "-p", m.pid(), c.binary, c.function) // single-stepped hits cost more than a budget allows
		completed(t, r, c.function, map[string]uint64{"main.add": 1009, "fmt.Println": 13}[c.function])
	}
}

// TestKernelInstructions counts single instructions: by offset, and by source line.
func TestKernelInstructions(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	// The first instruction of a leaf is executed once per call.
	o, b, r := observeTarget(t, nil, "probe", target, []string{"main.leaf+0x0"}, "-n", "211", "-g", "1")
	if got, want := o.functions["main.leaf+0x0"].Calls, b.Functions["main.leaf"].Calls; r.code != 0 || got != want {
		t.Errorf("status %d, %d executions, want %d\n%s", r.code, got, want, r.stderr)
	}
	if bad := ftgo(t, "probe", target, "main.leaf+0x1"); bad.code == 0 || !strings.Contains(bad.stderr, "not where an instruction begins") {
		t.Errorf("an offset inside an instruction: status %d\n%s", bad.code, bad.stderr)
	}
}

// TestKernelShortLivedPIE: the process is gone before anything of its trace is read, and
// with it the addresses it was mapped to.
func TestKernelShortLivedPIE(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "flood", "-buildmode=pie")
	r := ftgo(t, "probe", "-o", "json", target, "main.*", "--", "sh", "-c", `exec >/dev/null; "$0" -n 17 -g 1; "$0" -n 13 -g 1`, target)
	completed(t, r, "main.framed", 30)
}

// TestKernelCgoCallback: calls that go from Go to C and back into Go run on one
// goroutine and on one of its stacks, with a thread's stack between.
func TestKernelCgoCallback(t *testing.T) {
	tracetest.LongKernel(t)
	fixture.NeedCompiler(t, "gcc")
	t.Setenv("CGO_ENABLED", "1")
	target := fixture.Build(t, "callback")
	names := []string{"main.outer", "half", "main.doubled"}
	r := ftgo(t, append(append([]string{"probe", "-o", "json", target}, names...), "--", target)...)
	for _, name := range names {
		completed(t, r, name, 21)
	}
}

// TestKernelSharedLibrary probes Go code in a library that a C program has loaded, by
// threads that C has started.
func TestKernelSharedLibrary(t *testing.T) {
	tracetest.LongKernel(t)
	fixture.NeedCompiler(t, "gcc")
	t.Setenv("CGO_ENABLED", "1")
	library := fixture.Build(t, "callback", "-buildmode=c-shared")
	host := fixture.Compile(t, "gcc", "c/host.c", "-pthread", "-ldl")
	completed(t, ftgo(t, "probe", "-o", "json", library, "main.doubled", "--", host, library), "main.doubled", 20)
}
