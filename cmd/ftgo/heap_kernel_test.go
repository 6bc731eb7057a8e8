package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// allocating is a running testdata/heap.
type allocating struct {
	*exec.Cmd
	in   io.Closer
	out  *bufio.Scanner
	file string // the profile that the program writes
}

// startHeap runs a build of testdata/heap until it is ready.
func startHeap(t *testing.T, target string, args ...string) *allocating {
	t.Helper()
	a := &allocating{file: filepath.Join(t.TempDir(), "own.pb.gz")}
	a.Cmd = exec.Command(target, append([]string{a.file}, args...)...)
	in, err := a.StdinPipe()
	noError(t, err)
	out, err := a.StdoutPipe()
	noError(t, err)
	a.Env = append(os.Environ(), "GODEBUG=memprofilerate=512")
	a.in, a.out, a.Stderr = in, bufio.NewScanner(out), os.Stderr
	noError(t, a.Start())
	t.Cleanup(func() {
		in.Close()
		a.Wait()
	})
	a.says(t, "ready")
	return a
}

func (a *allocating) says(t *testing.T, want string) {
	t.Helper()
	if !a.out.Scan() || want != "" && a.out.Text() != want {
		t.Fatalf("the program says %q", a.out.Text())
	}
}

// typeArgs are what runtime/pprof writes for the type arguments of a function.
var typeArgs = regexp.MustCompile(`\[.*\]`)

// sites are the samples of a profile: stack, size and values, sorted.
func sites(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := os.Open(file)
	noError(t, err)
	defer f.Close()
	p, err := profile.Parse(f)
	noError(t, err)
	all = []string{fmt.Sprint(*p.PeriodType, p.Period)}
	for _, s := range p.SampleType {
		all[0] += fmt.Sprint(*s)
	}
	for _, s := range p.Compact().Sample { // drops samples that are 0
		line := fmt.Sprint(s.NumLabel["bytes"], s.Value)
		for _, l := range s.Location {
			for _, n := range l.Line {
				name, file := typeArgs.ReplaceAllString(n.Function.Name, "[...]"), path.Base(n.Function.Filename)
				if strings.HasSuffix(name, ".init") {
					file = "" // runtime/pprof knows one file of each function, and this one is of many
				}
				line += fmt.Sprintf(" %s %s:%d", name, file, n.Line)
			}
		}
		all = append(all, line)
	}
	slices.Sort(all[1:])
	return all
}

// TestKernelHeap: ftgo heap reads the profile that runtime/pprof writes, of programs by many toolchains.
func TestKernelHeap(t *testing.T) {
	for _, version := range []string{fixture.Local, "1.17.13", "1.18.10", "1.20.14", "1.21.13", "1.22.12", "1.23.12", "1.24.6", "1.25.0", "1.27.4"} {
		for _, flags := range [][]string{nil, {"-ldflags", "-s -w"}, {"-buildmode=pie", "-ldflags", "-s -w"}} {
			t.Run(version+strings.Join(flags, ""), func(t *testing.T) {
				a := startHeap(t, fixture.BuildWith(t, version, "heap", flags...))
				file := filepath.Join(t.TempDir(), "ftgo.pb.gz")
				ran(t, "heap", "-o", "pprof", "-w", file, "-p", fmt.Sprint(a.Process.Pid))
				got, want := sites(t, file), sites(t, a.file)
				if !slices.Equal(got, want) || len(want) < 20 {
					n := len(want)
					got, want = slices.DeleteFunc(slices.Clone(got), func(s string) bool { return slices.Contains(want, s) }),
						slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(got, s) })
					t.Errorf("of %d sites, too many:\n%s\nmissing:\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// TestKernelHeapBusy: while a program allocates two objects by turns and collects garbage all the time, the counts of both
// are those of one moment, or are marked.
func TestKernelHeapBusy(t *testing.T) {
	a := startHeap(t, fixture.Build(t, "heap", "-ldflags", "-s -w"), "busy")
	last, changing := 0., 0
	for range 50 {
		r := ran(t, "heap", "-o", "json", "--sort", "alloc_objects", "-p", fmt.Sprint(a.Process.Pid), "main.first", "main.second")
		var first, second float64
		for _, o := range jsonLines(t, r.stdout, "allocations") {
			if o["changing"] != nil {
				first = -1
				break
			}
			// The runtime itself may allocate there, 112 bytes in Go 1.26.
			if n, bytes := o["alloc_objects"].(float64), o["alloc_space"].(float64); o["function"] == "main.first" {
				first = n - (bytes-64*n)/(112-64)
			} else {
				second = n - (bytes-128*n)/(112-128)
			}
		}
		if first < 0 {
			changing++
			continue
		}
		if math.Abs(first-second) > 1 || first < last {
			t.Errorf("%.f objects of first, %.f of second, and %.f before:\n%s", first, second, last, r.stdout)
		}
		last = first
	}
	a.in.Close()
	a.says(t, "")
	if t.Logf("%s objects, %d readings of 50 are marked", a.out.Text(), changing); changing > 25 || last == 0 {
		t.Error("too few objects are seen, or too many readings marked")
	}
}

// TestKernelHeapOff: ftgo heap says why a program has no profile, and which processes it takes.
func TestKernelHeapOff(t *testing.T) {
	greet := exec.Command(fixture.Build(t, "greet"), "-every", "10ms", "-n", "3000")
	noError(t, greet.Start())
	defer greet.Wait()
	defer greet.Process.Kill()
	var r result
	for range 300 { // until the program is mapped, and the runtime has begun
		if r = ftgo(t, "heap", "-p", fmt.Sprint(greet.Process.Pid)); r.code == 3 {
			break
		}
	}
	if r.code != 3 || !strings.Contains(r.stderr, "nothing in the program uses runtime.MemProfile") {
		t.Errorf("status %d: %s", r.code, r.stderr)
	}
	for want, args := range map[string][]string{"takes one process": {"/bin/ls"}, "no such process": {"-p", "99999999"}} {
		if r := ftgo(t, append([]string{"heap"}, args...)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: status %d: %s", args, r.code, r.stderr)
		}
	}
}
