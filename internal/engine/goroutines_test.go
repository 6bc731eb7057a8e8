package engine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// startPark starts testdata/park, and waits until it is ready if it says so.
func startPark(t testing.TB, path, arg string) *Goroutines {
	t.Helper()
	cmd := exec.Command(path, arg)
	in, err := cmd.StdinPipe()
	fixture.NoError(t, err)
	out, err := cmd.StdoutPipe()
	fixture.NoError(t, err)
	fixture.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	b, err := offsets.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	p, err := OpenProcess(b, cmd.Process.Pid)
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	}
	fixture.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	g, err := NewGoroutines(p)
	fixture.NoError(t, err)
	return g
}

// called has text of the source lines that call a function whose name is not in the line.
var called = map[string][]string{
	"chansend1": {"<- "}, "chanrecv1": {"<-"}, "chanrecv2": {"range ping"}, "newproc": {"go "}, "selectgo": {"select"}, "block": {"select {}"},
	"func1": {"go "}, "goexit": {""}, "asyncPreempt": {""}, "newobject": {""}, "makechan": {"make("}, "morestack_noctxt": {""}, "morestack": {""},
	"deferreturn": {""}, "mallocgc": {""}, "exitsyscall": {""},
}

// TestGoroutinesAtFullSpeed reads goroutines that never rest. Each stack must be one that the source allows: each function is
// called at a line that has its name.
func TestGoroutinesAtFullSpeed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata/park/main.go"))
	fixture.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	snapshots := 500
	if fixture.Long() {
		snapshots = 20_000 // system calls that moved to another thread were torn once in 10,000
	}
	g := startPark(t, fixture.Build(t, "park", "-ldflags=-s -w"), "busy")
	stacks, inSyscalls, moving := 0, 0, 0
	for range snapshots {
		s, err := g.Snapshot(0, nil)
		fixture.NoError(t, err)
		if s.Unreadable > 0 {
			t.Fatalf("%d could not be read", s.Unreadable)
		}
		moving += s.Moving
		for _, group := range s.Groups {
			var frames []offsets.Frame
			for _, l := range group.Stack {
				if len(l.Frames) == 0 {
					t.Fatalf("a stack that is not whole: %v", names(group.Stack))
				}
				frames = append(frames, l.Frames...)
			}
			for i := range frames[:max(len(frames), 1)-1] {
				callee, at := frames[i].Function, frames[i+1]
				callee = callee[strings.LastIndexByte(callee, '.')+1:]
				if !strings.HasPrefix(at.Function, "main.") || strings.HasSuffix(at.Function, ".main") {
					continue
				}
				line := lines[at.Line-1]
				if strings.HasPrefix(frames[i].Function, "main.busy.func") {
					callee = "block()"
				}
				ok := strings.Contains(line, callee)
				for _, text := range called[callee] {
					ok = ok || strings.Contains(line, text)
				}
				if !ok {
					t.Errorf("%s is called at %q: %s", callee, line, names(group.Stack))
				}
			}
			if n := len(frames); n > 0 {
				stacks += len(group.Members)
				switch last := frames[n-1].Function; {
				case strings.HasPrefix(last, "main.startX"), strings.HasPrefix(last, "main.busy."), last == "runtime.main", last == "runtime.goexit1":
				default:
					t.Errorf("begins with %s: %v", last, names(group.Stack))
				}
			}
			if group.State == "syscall" {
				inSyscalls += len(group.Members)
			}
		}
	}
	if t.Logf("%d stacks, %d of system calls, %d moving", stacks, inSyscalls, moving); stacks < snapshots || inSyscalls == 0 {
		t.Errorf("only %d stacks, %d of system calls", stacks, inSyscalls)
	}
}

func names(stack []stats.Location) (list []string) {
	for _, l := range stack {
		for _, f := range l.Frames {
			list = append(list, f.Function)
		}
	}
	return list
}

// TestGoroutinesDamaged reads memory that a hostile program has written.
func TestGoroutinesDamaged(t *testing.T) {
	g := startPark(t, fixture.Build(t, "park"), "10")
	s, err := g.Snapshot(0, nil)
	fixture.NoError(t, err)
	total := 0
	for _, group := range s.Groups {
		total += len(group.Members)
	}
	if total < 20 || s.Unreadable+s.Moving > 0 {
		t.Errorf("%d goroutines, %+v", total, s)
	}
	list := g.lists[slices.IndexFunc(g.lists, func(addr uint64) bool { return g.Word(g.Word(g.Word(addr))+uint64(g.at[goid])) == 1 })]
	all := g.Word(list)
	first := g.Words(all, total)
	sp := g.Word(first[0] + uint64(g.at[syscallSP]))
	for _, c := range []struct {
		scenario string
		addr     uint64
		words    []uint64
		failed   bool
	}{
		{"2^60 goroutines", list + 8, []uint64{1 << 60}, true},
		{"a list that can't be read", list, []uint64{1 << 50}, true},
		{"the same goroutine again", all + 8, first[:1], false},
		{"a goroutine that overlaps", all + 8, []uint64{first[0] + 8}, false},
		{"a goroutine that can't be read", all + 8, []uint64{8}, false},
		{"a return address that is a stack address", sp + g.stacks.callers.Site(g.Word(first[0]+uint64(g.at[syscallPC]))-g.Bias).Size, []uint64{sp}, false},
		{"a stack pointer elsewhere", first[0] + uint64(g.at[syscallSP]), []uint64{16}, false},
		{"an unknown status", first[0] + uint64(g.at[status]), []uint64{77}, false},
	} {
		was := g.Words(c.addr, len(c.words))
		write(t, g, c.addr, c.words)
		s, err := g.Snapshot(0, nil)
		if (err != nil) != c.failed {
			t.Errorf("%s: %v", c.scenario, err)
		}
		if err == nil && s.Unreadable == 0 && !cut(s) {
			t.Errorf("%s: not told", c.scenario)
		}
		write(t, g, c.addr, was)
	}
	if again, err := g.Snapshot(0, nil); err != nil || cut(again) || again.Unreadable > 0 {
		t.Errorf("after that: %v, %+v", err, again)
	}
}

// cut reports whether a stack is not whole.
func cut(s *Snapshot) bool {
	for _, g := range s.Groups {
		for _, l := range g.Stack {
			if len(l.Frames) == 0 {
				return true
			}
		}
	}
	return false
}

// write writes words into the memory of the process.
func write(t *testing.T, g *Goroutines, addr uint64, words []uint64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join("/proc", filepath.Base(filepath.Dir(g.memory.Name())), "mem"), os.O_WRONLY, 0)
	fixture.NoError(t, err)
	defer f.Close()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	_, err = f.WriteAt(b, int64(addr))
	fixture.NoError(t, err)
}

// BenchmarkGoroutines reads 10,000 goroutines that wait.
func BenchmarkGoroutines(b *testing.B) {
	g := startPark(b, fixture.Build(b, "park", "-ldflags=-s -w"), "10000")
	for b.Loop() {
		if s, err := g.Snapshot(0, nil); err != nil || s.Unreadable > 0 {
			b.Fatal(s, err)
		}
	}
}
