package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelFaults: the faults of fetching behind nil pointers are those that the program is made to
// have, and that the kernel tells of itself; with either reader, and where arguments are on the stack.
func TestKernelFaults(t *testing.T) {
	f := tracetest.LongKernel(t)
	const (
		rounds = 101
		kernel = "exceptions:page_fault_kernel"
		// A text of eight words; one of an empty struct; a struct and the text in it; and as argument and
		// result the words of an error, what three of them would lead to, two numbers, and its type.
		each = 8 + 8 + (3 + 1) + 2*(6+3+2+1)
	)
	want := 0.0
	if f.Features().Arrays {
		want = rounds * each
	}
	for _, c := range []struct{ reader, version string }{{"pipe", fixture.Current}, {"raw", fixture.Current}, {"pipe", "1.16.15"}} {
		t.Run(c.reader+" "+c.version, func(t *testing.T) {
			target := fixture.BuildWith(t, c.version, "nils")
			t.Setenv(readerVar, c.reader)
			args := []string{"trace", "-o", "json", "--budget", "0"}
			_, err := os.Stat(f.Dir() + "/events/" + strings.Replace(kernel, ":", "/", 1))
			if err == nil {
				args = append(args, "--with", kernel)
			}
			r := outcome(exec.Command(built(t), append(args, target, "main.bytes", "main.field", "main.fails", "--", target, "-n", strconv.Itoa(rounds))...))
			r.succeeded(t)
			s := jsonLines(t, r.stdout, "summary")[0]
			if s["lost"] != 0.0 {
				t.Errorf("summary %v", s)
			}
			if err == nil {
				faults := 0.0
				for _, e := range jsonLines(t, r.stdout, "event") {
					at := fmt.Sprint(e["fields"].(map[string]any)["address"])
					if address, err := strconv.ParseUint(at, 0, 64); err == nil && address < 1<<16 {
						faults++
					}
				}
				// By how it copies a kernel tries twice; and where the program starts there is no goroutine to fetch.
				if !slices.Contains([]float64{want, want + 1, 2 * want, 2 * (want + 1)}, faults) {
					t.Errorf("the kernel tells of %v faults, want %v", faults, want)
				}
			}
			probing, _ := s["probing"].(map[string]any)
			if faults, _ := probing["faults"].(float64); probing == nil || faults != want {
				t.Errorf("want %v faults, got %v", want, probing)
			}
		})
	}
}
