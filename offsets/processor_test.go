package offsets_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/given"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/processors"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/tracefs"
)

// arm64 is a second processor, as little of one as a test needs: all instructions have 4
// bytes, the return address is in a register, and behind a stack check there may be an
// instruction that a preemption repeats. It knows nothing of C.
type arm64 struct{}

var arm64Machine = arch.Machine{
	Name: "arm64", Quantum: 4, SP: "sp", Flags: "pstate", Filler: "x0", DwarfSP: 31, DwarfFP: 29, Relative: 1027, Absolute: 257, LastPadded: 1 << 16, FirstRegisters: 18,
}

func (arm64) Machine() *arch.Machine { return &arm64Machine }

func (arm64) Decode(code []byte) (in arch.Inst, err error) {
	if len(code) < 4 {
		return in, errors.New("decode instruction: code ends inside it")
	}
	w := binary.LittleEndian.Uint32(code)
	branch := func(kind arch.Kind, cond arch.Cond, bits, shift uint) arch.Inst {
		to := int64(w) << (64 - bits - shift) >> (64 - bits) * 4
		return arch.Inst{Len: 4, Kind: kind, Cond: cond, To: to}
	}
	in = arch.Inst{Len: 4, Cond: arch.NoCond}
	switch {
	case w>>16 == 0:
		return in, errors.New("decode instruction: undefined")
	case w&0xfc000000 == 0x14000000:
		in = branch(arch.Jump, arch.NoCond, 26, 0)
	case w&0xfc000000 == 0x94000000:
		in = branch(arch.Call, arch.NoCond, 26, 0)
	case w&0xff000010 == 0x54000000:
		in = branch(arch.CondJump, arch.Cond(w&15), 19, 5)
	case w&0x7e000000 == 0x34000000: // CBZ, CBNZ
		in = branch(arch.CondJump, arch.NoCond, 19, 5)
	case w&0x7e000000 == 0x36000000: // TBZ, TBNZ
		in = branch(arch.CondJump, arch.NoCond, 14, 5)
	case w&0xfffffc1f == 0xd65f0000:
		in.Kind = arch.Return
	case w&0xfffffc1f == 0xd63f0000:
		in.Kind = arch.IndirectCall
	case w&0xfffffc1f == 0xd61f0000:
		in.Kind = arch.IndirectJump
		if w>>5&31 == 27 {
			in.Kind = arch.SwitchJump
		}
	case w == 0xd503201f:
		in.Kind = arch.Nop
	case w&0xff000000 == 0xd4000000:
		in.Kind = arch.Trap
	}
	return in, nil
}

func (p arm64) Cost(function []byte, at int) arch.Cost {
	in, err := p.Decode(function[at:])
	switch {
	case err != nil:
		return arch.Cost{Refused: err.Error()}
	case in.Kind == arch.Trap:
		return arch.Cost{Refused: "raises an exception"}
	case in.Kind == arch.Nop:
		return arch.Cost{Later: "nop"}
	case !in.Kind.GoesOn():
		return arch.Cost{Emulated: true}
	}
	return arch.Cost{}
}

func (arm64) Effects([]byte) (e arch.Effects) { return e }

func (arm64) Leads(uint64, arch.Way) (inside, ok bool) { return false, false }

// Trim: functions are padded with zeros.
func (arm64) Alike(x, y []byte, _ uint64, _ func(arch.Reference) bool) (at int, ok bool) {
	return 0, bytes.Equal(x, y)
}

func (arm64) Trim(function []byte) int {
	n := len(function) &^ 3
	for n > 4 && binary.LittleEndian.Uint32(function[n-4:]) == 0 {
		n -= 4
	}
	return n
}

// StackCheck is the last B.LS of at most 14 instructions, behind a load of 16(R28) or 24(R28).
func (p arm64) StackCheck(function []byte) (c arch.Check, ok bool) {
	const ls = 9
	guard := false
	for at := 0; at < 14*4 && at+4 <= len(function); at += 4 {
		w := binary.LittleEndian.Uint32(function[at:])
		in, err := p.Decode(function[at:])
		if err != nil || !in.Kind.GoesOn() && in.Kind != arch.CondJump {
			return c, ok
		}
		guard = guard || w&0xffffffe0 == 0xf9400b80 || w&0xffffffe0 == 0xf9400f80
		if guard && in.Kind == arch.CondJump && in.Cond == ls && in.To > 0 {
			c, ok = arch.Check{Jump: at, Post: at + 4, Repeats: true}, true
		}
	}
	return c, ok
}

func (arm64) Spilled([]byte, arch.Check) (spills []arch.Spill, ok bool) { return nil, false }

func (arm64) Read([]byte) []arch.Reg { return nil }

func (arm64) SplitsStack([]byte) bool { return false }

func (arm64) Passed() arch.Cond { return 8 } // HI

func (arm64) Failed(field string) string {
	return fmt.Sprintf("!(%[1]s & 0x20000000) || %[1]s & 0x40000000", field)
}

// Taken knows HI and LS.
func (arm64) Taken(c arch.Cond, flags uint64) bool {
	const carry, zero = 1 << 29, 1 << 30
	higher := flags&carry != 0 && flags&zero == 0
	return higher == (c == 8)
}

func xs(n int) (all []arch.Reg) {
	for i := range n {
		all = append(all, arch.Reg(fmt.Sprint("x", i)))
	}
	return all
}

func (arm64) Go(minor int, assembly bool) *arch.CallConv {
	conv := &arch.CallConv{StackArgs: 8, Outgoing: 8, Context: "x26", G: "x28", CheckG: "x28"}
	if minor >= arm64Machine.FirstRegisters && !assembly {
		conv.Ints, conv.IntResults, conv.Floats = xs(16), xs(16), 16
	}
	return conv
}

func (arm64) C() *arch.CallConv {
	return &arch.CallConv{Ints: xs(8), IntResults: xs(2), Floats: 8, Indirect: "x8"}
}

func (arm64) PassC(*gotype.Type) (p arch.Passing, err error) { return p, errors.New("not known") }

func (arm64) Frames(int) *arch.Frames {
	return &arch.Frames{Return: "%x30", Pointer: "x29", Kept: true}
}

func (arm64) Fetches(r arch.Reg) bool { return slices.Contains(xs(31), r) || r == "sp" }

func (arm64) DwarfReg(n uint64) (arch.Reg, bool) {
	if n <= 30 {
		return xs(31)[n], true
	}
	return "", 64 <= n && n < 96
}

const arm64Program = `package main

import "os"

type pair struct{ a, b int }

//go:noinline
func add(x int, name string, p *pair) (int, error) {
	if x == 0 {
		return p.a + len(name), os.ErrInvalid
	}
	n, err := add(x-1, name, p)
	return n + x, err
}

//go:noinline
func leaf(x int) int { return 3 * x }

func main() {
	n, _ := add(len(os.Args), "name", &pair{1, 2})
	os.Exit(leaf(n))
}
`

// openArm64 opens a program for arm64, which is known as long as the test runs.
func openArm64(t *testing.T) *offsets.Binary {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path+".go", []byte(arm64Program), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", path, path+".go")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build for arm64: %v\n%s", err, out)
	}
	if _, err := offsets.Open(path); err == nil || !strings.Contains(err.Error(), "EM_AARCH64") {
		t.Errorf("a processor that is not known: %v", err)
	}
	processors.All[elf.EM_AARCH64] = arm64{}
	t.Cleanup(func() { delete(processors.All, elf.EM_AARCH64) })
	b, err := offsets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestSecondProcessor: all that a plan and pairing need of a processor is behind the
// interface. Nothing in the plan of a program for arm64 is of another one.
func TestSecondProcessor(t *testing.T) {
	b := openArm64(t)
	var all []*offsets.Func
	for i := range b.Funcs() {
		all = append(all, &b.Funcs()[i])
	}
	checked, refused := 0, 0
	for _, f := range all {
		s, err := b.Sites(f)
		switch {
		case err != nil:
			refused++
		case s.Check != nil:
			checked++
			if !s.CheckOnly || s.Check.Cond() != 8 || !s.Check.Cost().Emulated {
				t.Fatalf("%s: %+v", f.Name, s)
			}
		}
	}
	if len(all) < 1000 || checked < len(all)/2 || refused > len(all)/20 {
		t.Errorf("%d functions, %d with a stack check, %d refused", len(all), checked, refused)
	}
	features := tracefs.Features{Append: true, Arrays: true, Memory: true, Instances: true}
	plan, err := uprobe.New(b, all, uprobe.Options{Features: features, Stack: 5, Threads: true, Sched: true, Values: func(f *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
		sig, err := b.Signature(f)
		if err != nil || symname.Split(f.Name).Package != "main" {
			return v, nil
		}
		options := capture.Options{StrLen: 8, Memory: true, Arrays: true, Machine: b.Processor().Machine()}
		if v.Entry, err = capture.NewBuilder(sig.Params, options).Capture(nil, nil); err == nil {
			v.Return, err = capture.NewBuilder(sig.Results, options).Capture(nil, nil)
		}
		return v, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	register := regexp.MustCompile(`^(x[0-9]|x[12][0-9]|x30|sp|pstate)$`)
	named := regexp.MustCompile(`%([a-z0-9]+)`)
	for _, ev := range uprobe.TraceEvents(plan.Events) {
		for i := range ev.Sites {
			for k, a := range ev.Args {
				fetch := a.Fetch
				if ev.Fetch != nil && ev.Fetch[i] != nil {
					fetch = ev.Fetch[i][k]
				}
				for _, m := range named.FindAllStringSubmatch(fetch, -1) {
					if !register.MatchString(m[1]) {
						t.Fatalf("event %s fetches %s", ev.Name, fetch)
					}
				}
			}
		}
	}
	checkArm64Add(t, b, plan)
}

// checkArm64Add looks at one function's events: what they fetch, and what hits make of it.
func checkArm64Add(t *testing.T, b *offsets.Binary, plan *uprobe.Plan) {
	fn := slices.IndexFunc(plan.Funcs, func(f uprobe.Function) bool { return f.Name == "main.add" })
	event := func(kind uprobe.Kind) (site int, e *uprobe.Event) {
		for i := range plan.Events {
			for k := range plan.Events[i].Sites {
				if e = &plan.Events[i]; e.Sites[k].Func == fn && e.Sites[k].Kind == kind {
					return k, e
				}
			}
		}
		t.Fatalf("main.add has no event of kind %d", kind)
		return
	}
	jumpSite, entry := event(uprobe.EntryJump)
	var fetched []string
	for i, a := range entry.Args {
		if fetch := a.Fetch; entry.Sites[jumpSite].Fetch != nil {
			fetched = append(fetched, entry.Sites[jumpSite].Fetch[i])
		} else {
			fetched = append(fetched, fetch)
		}
	}
	text := strings.Join(fetched, " ")
	for _, want := range []string{"%sp %x28 +8(%x28) +152(%x28) %pstate", "%x30 %x29", " %x0 %x1 %x2 %x3", "+0(%x3)", "+0(%x1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("main.add fetches %s, without %s", text, want)
		}
	}
	retSite, back := event(uprobe.Return)
	sig, err := b.Signature(plan.Funcs[fn].Func)
	if err != nil || len(sig.Results) != 2 || sig.Results[1].Pieces[1].Register != "x2" {
		t.Errorf("results of main.add: %+v, %v", sig, err)
	}
	for fetch, fine := range map[string]bool{"+8(%x3)": true, "%ax": false} {
		g, isGiven, err := given.Parse("main.add(k=" + fetch + ":x64)")
		if err != nil || !isGiven {
			t.Fatal(isGiven, err)
		}
		if _, err := g.Signature(b, plan.Funcs[fn].Func); (err == nil) != fine {
			t.Errorf("%s: %v", fetch, err)
		}
	}
	var trace strings.Builder
	hit := func(site int, e *uprobe.Event, time, flags uint64) {
		words := map[int]uint64{e.Fields.SP: 0x1000, e.Fields.G: 1, e.Fields.Hi: 0x2000, e.Fields.Flags: flags}
		fmt.Fprintf(&trace, " prog-1 (1) [000] d.... %d: %s: (%#x)", time, e.Name, e.Sites[site].Addr)
		at := 0 // of the argument's first word
		for i, arg := range e.Args {
			if e.Counts == nil || e.Counts[i] == 0 {
				fmt.Fprintf(&trace, " %s=%d", arg.Name, words[at])
				at++
				continue
			}
			fmt.Fprintf(&trace, " %s={0%s}", arg.Name, strings.Repeat(",0", e.Counts[i]-1))
			at += e.Counts[i]
		}
		fmt.Fprintln(&trace)
	}
	const carry, zero = 1 << 29, 1 << 30
	hit(jumpSite, entry, 1, 0)          // below the guard: morestack
	hit(jumpSite, entry, 2, carry|zero) // at it
	hit(jumpSite, entry, 3, carry)
	hit(retSite, back, 7, 0)
	var calls returned
	stream, err := pairing.NewStream(plan, textSource{strings.NewReader(trace.String())}, oneProcess{}, &calls, pairing.Options{})
	for err == nil {
		_, err = stream.Read(t.Context())
	}
	if stream.Finish(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(calls) != 1 || calls[0].Start != 3 || calls[0].End != 7 || calls[0].Outcome != pairing.Returned {
		t.Errorf("calls %+v", calls)
	}
}

// textSource is a trace in memory.
type textSource struct{ *strings.Reader }

func (s textSource) Read(_ context.Context, buf []byte) (int, error) { return s.Reader.Read(buf) }

// returned are the calls that a stream tells.
type returned []pairing.Call

func (r *returned) Counted(int, int)             {}
func (r *returned) Entry(*pairing.Call)          {}
func (r *returned) Kernel(*pairing.KernelEvent)  {}
func (r *returned) Goroutine(*pairing.Goroutine) {}
func (r *returned) Return(c *pairing.Call)       { *r = append(*r, *c) }

// oneProcess is where its addresses are in the file.
type oneProcess struct{}

func (oneProcess) Of(_, printed int) int           { return printed }
func (oneProcess) Wanted(_, pid int) (int, bool)   { return pid, true }
func (oneProcess) Bias(int, uint64) (uint64, bool) { return 0, true }
