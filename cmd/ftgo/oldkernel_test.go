package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// kernelsWithout returns the features of the running kernel without one of them, or those of an old kernel.
var kernelsWithout = map[string]func(tracefs.Features) tracefs.Features{
	"append":      func(f tracefs.Features) tracefs.Features { f.Append, f.PushEmulated = false, false; return f },
	"push":        func(f tracefs.Features) tracefs.Features { f.PushEmulated = false; return f },
	"record-tgid": func(f tracefs.Features) tracefs.Features { f.RecordTGID = false; return f },
	"arrays":      func(f tracefs.Features) tracefs.Features { f.Arrays = false; return f },
	"event-fork":  func(f tracefs.Features) tracefs.Features { f.EventFork = false; return f },
	"event-pid":   func(f tracefs.Features) tracefs.Features { f.EventPID = false; return f },
	"exact-hits":  func(f tracefs.Features) tracefs.Features { f.ExactHits = false; return f },
	"linux-4.4":   likeLinux44,
	"linux-3.10":  likeLinux310,
}

// likeLinux44 returns the features that Linux 4.4 has.
func likeLinux44(tracefs.Features) tracefs.Features {
	return tracefs.Features{Memory: true, Instances: true, EventPID: true}
}

// likeLinux310 returns the features that Linux 3.10 has.
func likeLinux310(tracefs.Features) tracefs.Features { return tracefs.Features{} }

// linux44 and linux310 let ftgo do without what these kernels lack.
func linux44(e *cli.Env) { e.Adjust = likeLinux44 }

func linux310(e *cli.Env) { e.Adjust = likeLinux310 }

// ftgoOn is ftgo on another kernel.
func ftgoOn(t *testing.T, kernel func(*cli.Env), args ...string) result {
	t.Helper()
	var out, err written
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e := newEnv(&out, &err)
	kernel(e)
	code := runCommand(ctx, e, args)
	return result{code, out.String(), err.String()}
}

// topLevel is what of the top level everybody sees.
func topLevel(t *testing.T, f *tracefs.FS) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"trace_clock", "buffer_size_kb", "tracing_on", "set_event", "current_tracer"} {
		text := readFile(t, filepath.Join(f.Dir(), name))
		// The first use of a buffer gives it the size that it says it would have.
		_, size, expands := strings.Cut(text, "(expanded: ")
		if expands {
			text = strings.Replace(size, ")", "", 1)
		}
		if kb, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && name == "buffer_size_kb" {
			text = strconv.Itoa(kb/4) + " pages\n" // which the kernel rounds up to
		}
		fmt.Fprintf(&b, "%s: %s", name, text)
	}
	return b.String()
}

// TestKernelTopLevel does without instances, and without memory: as Linux 3.10.
func TestKernelTopLevel(t *testing.T) {
	f := tracetest.AnyKernel(t)
	target, lookup := fixture.Build(t, "exact"), fixture.Build(t, "lookup")
	// Somebody else may be using the top level; and this is only for tests.
	whenIdle := func(do func() result) (r result) {
		for range 40 {
			if r = do(); !strings.Contains(r.stderr, "somebody uses it") {
				return r
			}
			time.Sleep(time.Second)
		}
		t.Skipf("the top level is in use: %s", r.stderr)
		return r
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"count", target, "main.*"}, "--force"},
		{[]string{"probe", "--force", target, "main.*"}, "ftgo count"},
		{[]string{"watch", "--force", lookup, "main.counter"}, "ftgo count"},
	} {
		if r := ftgoOn(t, linux310, c.args...); r.code != cli.ExitKernel || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: status %d\n%s", c.args, r.code, r.stderr)
		}
	}
	before := ""
	t.Run("count", func(t *testing.T) {
		fixture.NeedLong(t)
		var o observed
		var b books
		r := whenIdle(func() (r result) {
			before = topLevel(t, f)
			data := filepath.Join(t.TempDir(), "data")
			r = ftgoOn(t, linux310, "count", "--force", "--wrappers", "-o", "json", "-w", data, target, "main.*", "--", target)
			if text, err := os.ReadFile(data); err == nil && r.code == 0 {
				o, b = readObserved(t, string(text)), readBooks(t, r.stdout)
			}
			return r
		})
		r.succeeded(t)
		sameCalls(t, o, b)
		if after := topLevel(t, f); after != before {
			t.Errorf("the top level was\n%sand is\n%s", before, after)
		}
	})
	for _, reader := range readers() {
		t.Run("entries "+reader, func(t *testing.T) {
			t.Setenv(readerVar, reader)
			r := whenIdle(func() result {
				before = topLevel(t, f)
				return ftgoOn(t, linux310, "trace", "--force", "--entries", "-o", "json", "--where", "n >= 3 && n < 10",
					lookup, "main.lookup(n, key)", "--", lookup, "-n", "101")
			})
			calls := jsonLines(t, r.stdout, "call")
			if r.code != 0 || len(calls) != 7 {
				t.Fatalf("status %d, %d calls, want 7\n%s", r.code, len(calls), r.stderr)
			}
			for i, c := range calls {
				args := c["args"].(map[string]any)
				key, _ := args["key"].(map[string]any) // its length is in a register, the rest is not
				if args["n"] != float64(i+3) || key["len"] != 5.0 || key["cut"] != "" {
					t.Errorf("call %d: %v", i, c)
				}
			}
			if !strings.Contains(r.stderr, "registers alone") {
				t.Errorf("nothing is said of what is missing:\n%s", r.stderr)
			}
			if after := topLevel(t, f); after != before {
				t.Errorf("the top level was\n%sand is\n%s", before, after)
			}
		})
	}
}
