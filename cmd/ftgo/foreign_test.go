package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// foreign is a program for another processor, and which that is.
func foreign(t *testing.T, name string, flags ...string) (path, of string) {
	t.Helper()
	goarch := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	return fixture.BuildFor(t, goarch, fixture.Current, name, flags...), map[string]string{"amd64": "x86-64", "arm64": "arm64"}[goarch]
}

// TestForeign: a program for another processor is not probed, which is said in one line; what takes no machine of
// that kind is done.
func TestForeign(t *testing.T) {
	bin, of := foreign(t, "greet")
	for _, args := range [][]string{
		{"probe", bin, "main.*"}, {"probe", bin, "main.*", "--", bin}, {"count", bin, "main.add"}, {"trace", bin, "main.nothing"},
		{"watch", bin, "main.add(a)"}, {"top", "-o", "json", bin},
	} {
		refusedForeign(t, bin, of, args)
	}
	for _, args := range [][]string{
		{"list", bin, "main.add"}, {"probe", "--dry-run", bin, "main.add"}, {"script", bin, "main.add"}, {"trace", "--dry-run", bin, "main.add(a)"},
	} {
		if r := ftgo(t, args...); r.code != 0 || r.stdout == "" || r.stderr != "" {
			t.Errorf("%q: status %d, %d bytes, said %q", args, r.code, len(r.stdout), r.stderr)
		}
	}
}

func refusedForeign(t *testing.T, bin, of string, args []string) {
	t.Helper()
	r := ftgo(t, args...)
	begins := fmt.Sprintf("ftgo: %s is for %s, and this machine is ", bin, of)
	if r.code != cli.ExitKernel || r.stdout != "" || !strings.HasPrefix(r.stderr, begins) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("%q: status %d, %d bytes, said %q", args, r.code, len(r.stdout), r.stderr)
	}
}

// TestKernelForeign: so it is where tracefs is opened first.
func TestKernelForeign(t *testing.T) {
	tracetest.Kernel(t)
	bin, of := foreign(t, "greet")
	refusedForeign(t, bin, of, []string{"export", "-q", "--listen", "127.0.0.1:0", bin, "main.*"})
}
