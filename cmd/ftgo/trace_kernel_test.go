package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// jsonLines are the objects of a type in JSON output.
func jsonLines(t *testing.T, text, kind string) (lines []map[string]any) {
	t.Helper()
	for _, o := range decoded[map[string]any](t, text) {
		if o["type"] == kind {
			lines = append(lines, o)
		}
	}
	return lines
}

// TestKernelTraceAdd shows the arguments that tracers of C programs get wrong in Go:
// from the stack of old versions, from registers since, and those of gccgo.
func TestKernelTraceAdd(t *testing.T) {
	tracetest.Kernel(t)
	for _, c := range []struct {
		name    string
		build   func(t *testing.T) string
		program []string
		calls   int
	}{
		{"current", func(t *testing.T) string { return fixture.Build(t, "greet") }, []string{"-n", "13"}, 13},
		{"1.5", func(t *testing.T) string { return fixture.BuildWith(t, "1.5.4", "greet") }, []string{"-n", "13"}, 13},
		{"gccgo", func(t *testing.T) string { return fixture.Compile(t, "gccgo", "gccgo/add.go", "-g") }, []string{"13", "1"}, 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := c.build(t)
			r := ftgo(t, append([]string{"trace", "-o", "json", target, "main.add", "--", target}, c.program...)...)
			calls := jsonLines(t, r.stdout, "call")
			if r.code != 0 || len(calls) != c.calls {
				t.Fatalf("status %d, %d calls, want %d\n%s", r.code, len(calls), c.calls, r.stderr)
			}
			for _, call := range calls {
				if got := fmt.Sprint(call["args"], call["results"]); got != "map[a:42 b:13] map[r0:55]" {
					t.Errorf("main.add: %s", got)
				}
			}
		})
	}
}

// TestKernelTracePrintln shows the string inside the interface inside the slice, of a stripped program by the types
// that it is told, too. Of a Go that does not exist yet it shows nothing that could be wrong.
func TestKernelTracePrintln(t *testing.T) {
	tracetest.Kernel(t)
	const told = "fmt.Fprintln(w io.Writer, a []any) (n int, err error)"
	t.Run("unknown", func(t *testing.T) {
		target := moved(t, "greet")
		for _, c := range []struct {
			told string
			code int
			want string
		}{
			{told, cli.ExitUsage, `w: type "io.Writer": neither predeclared nor known of this program: say int, uint64, bool, string, []byte, error, any, ptr or a type that is`},
			{"fmt.Fprintln(w any, a []any)", cli.ExitFailed, "0, a release that ftgo does not know: no debug information"},
		} {
			r := ftgo(t, "trace", target, c.told, "--", target)
			lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
			if r.code != c.code || r.stdout != "" || len(lines) != 2 || !strings.Contains(lines[0], "does not know where go1.28.") || !strings.HasSuffix(lines[1], c.want) {
				t.Errorf("%s: status %d\n%s%s", c.told, r.code, r.stdout, r.stderr)
			}
		}
	})
	for _, version := range []string{"1.26.8", "1.27.4", fixture.Current} {
		t.Run(version+" stripped", func(t *testing.T) {
			target := fixture.BuildWith(t, version, "greet", "-ldflags=-s -w")
			r := ftgo(t, "trace", target, told, "--", target)
			if r.code != 0 || !strings.Contains(r.stdout, `fmt.Fprintln(w=*os.File(0x`) || !strings.Contains(r.stdout, `a=[string("Hello, BPF!")]) = (12, nil)`) {
				t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
	for _, version := range []string{"1.12.17", "1.26.8", "1.27.4", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			target := fixture.BuildWith(t, version, "greet")
			// fmt.Println has no code of its own any more: it is a call of Fprintln.
			r := ftgo(t, "trace", target, "fmt.Fprintln(a)", "--", target)
			if r.code != 0 || strings.Count(r.stdout, "\n") != 1 || !strings.Contains(r.stdout, `fmt.Fprintln(a=[string("Hello, BPF!")]) = (12, nil)`) {
				t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// TestKernelTraceWhere counts on the kernel and user space agreeing on what to show.
func TestKernelTraceWhere(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	const n = 1009
	for _, c := range []struct {
		name  string
		args  []string
		calls int
		// kernel: most of the rest never left the kernel.
		kernel bool
	}{
		{"number", []string{"--where", "n % 2 == 0 && n >= 1000"}, 4, true},
		{"number in the kernel", []string{"--where", "n >= 1000"}, 7, true},
		{"one or the other in the kernel", []string{"--where", "n == 3 || n == 5"}, 2, true},
		{"string", []string{"--where", `key == "key-77"`}, 1, false},
		{"string and number", []string{"--where", `key != "key-77" && n < 100`}, 99, true},
		{"regexp", []string{"--where", `key =~ "7$"`}, 100, false},
		{"length", []string{"--where", "len(key) == 5"}, 12, true},
		{"result", []string{"--where", `found && value == "value-3"`}, 1, false},
		{"error", []string{"--where", `err == "no such key"`}, 7, false},
		{"error in the kernel as well", []string{"--where", `err != nil && n > 1003`}, 3, true},
		{"either", []string{"--where", `n == 3 || key == "key-4"`}, 2, false},
		{"begins only", []string{"--entries", "--where", `n < 7`}, 7, true},
		{"errors", []string{"--errors"}, 7, false},
		{"inside", []string{"--inside", "main.twice"}, 2, false},
		{"a function that was not called", []string{"--inside", "main.never"}, 0, false},
		{"inside, and a number in the kernel", []string{"--inside", "main.twice", "--where", "n == 500"}, 1, true},
		{"depth is not for the kernel", []string{"--where", "depth == 0 && n == 7"}, 1, false},
		{"string longer than what is shown", []string{"--strlen", "2", "--where", `key == "key-77"`}, 1, false},
		{"slow ones", []string{"--min", "1h"}, 0, false},
		{"another goroutine", []string{"--where", "goid == 99999"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"trace", "-o", "json"}, c.args...)
			r := ran(t, append(args, target, "main.lookup", "--", target, "-n", fmt.Sprint(n-2))...)
			calls := jsonLines(t, r.stdout, "call")
			if len(calls) != c.calls {
				t.Errorf("%d calls, want %d\n%s", len(calls), c.calls, r.stderr)
			}
			s := jsonLines(t, r.stdout, "summary")[0]
			filtered, _ := s["filtered"].(float64)
			if s["delivered"].(float64)+s["lost"].(float64)+filtered != s["hits"].(float64) || s["lost"] != 0.0 {
				t.Errorf("summary %v", s)
			}
			if kernel := filtered >= n-100; kernel != c.kernel {
				t.Errorf("the kernel dropped %v hits", filtered)
			}
		})
	}
}

// TestKernelTraceCrowd: what does not fit in an event is left out, and said; the rest of
// the functions is not the worse for it.
func TestKernelTraceCrowd(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "crowd")
	strlens := []string{"64", "512"}
	if !f.Features().Arrays {
		strlens = strlens[:1] // 64 words of one string leave no room for others
	}
	for _, strlen := range strlens {
		r := ftgo(t, "trace", "--full", "--strlen", strlen, "-n", "5", target, "main.*", "--", target)
		for _, want := range []string{
			"main.errors(a=nil, b=nil, ", "<no room: name the parts that matter>", "main.lists(a=[\"one\"]", "main.plain(n=7) = 7",
			"main.astray(p=&<unreadable: no valid pointer>, s=<unreadable: no valid pointer>, q=&<unreadable: no valid pointer>)", `main.zeros(p=&{N:0 Name:""}, s="\x00\x00\x00")`,
		} {
			if r.code != 0 || !strings.Contains(r.stdout, want) {
				t.Errorf("--strlen %s: status %d, no %q in\n%s%s", strlen, r.code, want, r.stdout, r.stderr)
			}
		}
	}
}

// TestKernelWatch reads package variables, by address and, where the program is mapped
// anywhere, by offset.
func TestKernelWatch(t *testing.T) {
	tracetest.Kernel(t)
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) {
			target := fixture.Build(t, "lookup", "-buildmode="+mode)
			r := ftgo(t, "watch", "-o", "json", "--at", "main.lookup", target,
				"main.counter", "main.cfg.Limits.Max", "main.cfg.name", "*main.cfg.limit", "main.last", "--", target, "-n", "13")
			lines := jsonLines(t, r.stdout, "variable")
			if r.code != 0 || len(lines) != 15*5 {
				t.Fatalf("status %d, %d lines\n%s", r.code, len(lines), r.stderr)
			}
			for i, l := range lines {
				hit := i / 5
				want := []string{fmt.Sprint(hit), fmt.Sprint(100 + hit), "seven", fmt.Sprint(100 + hit), ""}[i%5]
				if i%5 == 4 {
					if want = "[]"; hit > 0 {
						want = fmt.Sprintf("map[cap:1 items:[%d] len:1]", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 500}[hit-1])
					}
					if hit == 0 {
						want = "<nil>"
					}
				}
				if got := fmt.Sprint(l["value"]); got != want {
					t.Errorf("hit %d: %s = %s, want %s", hit, l["name"], got, want)
				}
			}
		})
	}
}

// TestKernelWatchInterval reads once per interval, with the change per second.
func TestKernelWatchInterval(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "greet")
	began := time.Now()
	ftgo(t, "count", "-d", "1ms", target, "main.add")
	// Out of one interval the probe is for what is left when it has been taken out, which takes as long
	// as the machine is busy.
	interval := max(700*time.Millisecond, 3*time.Since(began))
	r := ftgo(t, "watch", "-o", "json", "-i", interval.String(), "-n", "4", "--at", "main.add", target, "main.counter", "--", target, "-n", "100000", "-every", "1ms")
	lines := jsonLines(t, r.stdout, "variable")
	if len(lines) != 4 {
		t.Fatalf("status %d, %d lines\n%s%s", r.code, len(lines), r.stdout, r.stderr)
	}
	for i, l := range lines {
		rate, has := l["per_second"].(float64)
		if has != (i > 0) || has && (rate <= 0 || rate > 1100) {
			t.Errorf("line %d: %v", i, l)
		}
	}
	s := jsonLines(t, r.stdout, "summary")[0]
	if last := lines[3]["value"].(float64); s["hits"].(float64) > 0.8*last {
		t.Errorf("%v hits of %v calls: the probe was not taken out", s["hits"], last)
	}
}
