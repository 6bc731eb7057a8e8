package uprobe

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSched checks that the scheduler is probed at instructions that the kernel emulates, in every version of Go that
// passes arguments in registers, and that the creation of goroutines is probed.
func TestSched(t *testing.T) {
	for version, coroutines := range map[string]int{"1.17.13": 0, "1.20.14": 0, "1.21.13": 0, "1.23.12": 1, fixture.Current: 1} {
		variants := [][]string{nil}
		if version == fixture.Current {
			variants = append(variants, []string{"-ldflags=-s -w"})
		}
		if version == fixture.Current && fixture.Long() {
			variants = append(variants, []string{"-gcflags=all=-N -l"}, []string{"-buildmode=pie"})
		}
		for _, flags := range variants {
			t.Run(fmt.Sprint(version, flags), func(t *testing.T) {
				p := planIn(t, binaries.Open(t, fixture.BuildWith(t, version, "sched", flags...)), Options{Mode: Latency, Features: modern, RuntimeProbes: RuntimeProbes{Sched: true, Follow: true}}, "main.mixed")
				code, err := os.ReadFile(p.Binary.File().Path())
				fixture.NoError(t, err)
				sites := make(map[Kind]int)
				for _, ev := range p.Events {
					k := ev.Sites[0].Kind
					sites[k] += len(ev.Sites)
					if k != Status && k != Park && k != Switch {
						continue
					}
					for _, s := range ev.Sites {
						addr := s.Addr
						f, ok := p.Binary.FuncAt(addr)
						if !ok || s.Func != -1 || ev.Fields.G != 0 {
							t.Fatalf("site at %#x, function %d, fields %+v", addr, s.Func, ev.Fields)
						}
						// push %rbp, a conditional jump, a call: see internal/arch/amd64/probe.go.
						optimized := !slices.Contains(flags, "-gcflags=all=-N -l")
						if op := code[s.Offset]; optimized && version != "1.17.13" && version != "1.20.14" && op != 0x55 && op != 0xe8 ||
							k == Status && op != 0x55 && op>>4 != 7 {
							t.Errorf("%s+%#x: opcode %#x", f.Name, addr-f.Addr, op)
						}
					}
				}
				if !p.Sched || sites[Status] != 1 || sites[Park] != 1 || sites[Switch] != coroutines || !p.Follow || sites[Creation] == 0 {
					t.Errorf("sites %v, want 1 of Status and Park, %d of Switch, some of Creation", sites, coroutines)
				}
				for name, in := range map[string]bool{"runtime.bgsweep": true, "runtime.forcegchelper": true, "main.mixed": false, "main.main": false, "runtime.corostart": false} {
					if f, ok := p.Binary.Lookup(name); ok && p.InRuntime(f.Addr) != in {
						t.Errorf("%s is the runtime's: %v", name, !in)
					}
				}
			})
		}
	}
}

// TestUnfollowed checks that the creation of goroutines is not probed if it is not requested, or unknown.
func TestUnfollowed(t *testing.T) {
	for version, follow := range map[string]bool{"1.12.17": true, fixture.Current: false} {
		p := planIn(t, binaries.Open(t, fixture.BuildWith(t, version, "nest")), Options{Mode: Latency, Features: modern, RuntimeProbes: RuntimeProbes{Follow: follow}}, "main.fact")
		if p.Follow || len(p.Runtime) > 0 || strings.Contains(outline(p), "k ") {
			t.Errorf("Go %s: follows %v, package runtime at %x", version, p.Follow, p.Runtime)
		}
	}
}

func TestSchedRefusals(t *testing.T) {
	for _, c := range []struct{ target, function, want string }{
		{fixture.BuildWith(t, "1.9.7", "exact"), "main.main", "can't follow goroutines of go1.9.7: the scheduler is known from Go 1.11 on"},
		{fixture.Compile(t, "gcc", "c/asks.c", "-O1"), "ask", "can't follow goroutines: not a Go program"},
	} {
		b := binaries.Open(t, c.target)
		if _, err := New(b, lookup(t, b, c.function), Options{Mode: Latency, Features: modern, RuntimeProbes: RuntimeProbes{Sched: true}}); !errors.Is(err, ErrNoSched) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
