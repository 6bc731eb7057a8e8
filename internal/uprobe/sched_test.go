package uprobe

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSched checks that the scheduler is probed at instructions that the kernel emulates, in every version of Go that
// passes arguments in registers.
func TestSched(t *testing.T) {
	for version, coroutines := range map[string]int{"1.17.13": 0, "1.20.14": 0, "1.21.13": 0, "1.23.12": 1, fixture.Current: 1} {
		t.Run(version, func(t *testing.T) {
			variants := [][]string{nil}
			if version == fixture.Current && fixture.Long() {
				variants = append(variants, []string{"-gcflags=all=-N -l"})
			}
			for _, flags := range variants {
				p := planIn(t, binaries.Open(t, fixture.BuildWith(t, version, "sched", flags...)), Options{Mode: Latency, Features: modern, Sched: true}, "main.mixed")
				code, err := os.ReadFile(p.Binary.File().Path())
				fixture.NoError(t, err)
				sites := make(map[Kind]int)
				for _, ev := range p.Events {
					k := ev.Sites[0].Kind
					if k != Status && k != Park && k != Switch {
						continue
					}
					sites[k] += len(ev.Sites)
					for _, s := range ev.Sites {
						addr := s.Addr
						f, ok := p.Binary.FuncAt(addr)
						if !ok || s.Func != -1 || ev.Fields.G != 0 {
							t.Fatalf("site at %#x, function %d, fields %+v", addr, s.Func, ev.Fields)
						}
						// push %rbp, a conditional jump, a call: see internal/arch/amd64/probe.go.
						if op := code[s.Offset]; len(flags) == 0 && version != "1.17.13" && version != "1.20.14" && op != 0x55 && op != 0xe8 ||
							k == Status && op != 0x55 && op>>4 != 7 {
							t.Errorf("%s+%#x: opcode %#x", f.Name, addr-f.Addr, op)
						}
					}
				}
				if !p.Sched || sites[Status] != 1 || sites[Park] != 1 || sites[Switch] != coroutines {
					t.Errorf("sites %v, want 1 of Status and Park, %d of Switch", sites, coroutines)
				}
			}
		})
	}
}

func TestSchedRefusals(t *testing.T) {
	for _, c := range []struct{ target, function, want string }{
		{fixture.BuildWith(t, "1.9.7", "exact"), "main.main", "can't follow goroutines of go1.9.7: the scheduler is known from Go 1.11 on"},
		{fixture.Compile(t, "gcc", "c/asks.c", "-O1"), "ask", "can't follow goroutines: not a Go program"},
	} {
		b := binaries.Open(t, c.target)
		if _, err := New(b, lookup(t, b, c.function), Options{Mode: Latency, Features: modern, Sched: true}); !errors.Is(err, ErrNoSched) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
