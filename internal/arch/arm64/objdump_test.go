package arm64

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// instruction is a line of objdump: "  10000:	d65f03c0 	ret".
var instruction = regexp.MustCompile(`^ +([0-9a-f]+):\t([0-9a-f]{8}) \t(\S+)\s*([^/<]*)`)

// TestObjdump compares kinds and targets of all instructions of programs with what binutils finds.
func TestObjdump(t *testing.T) {
	objdump, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skip("aarch64-linux-gnu-objdump (binutils-aarch64-linux-gnu) is not installed: classes are not cross-checked")
	}
	for _, path := range []string{
		fixture.BuildFor(t, "arm64", fixture.Current, "crypto"), fixture.BuildFor(t, "arm64", "1.17.13", "exact"),
	} {
		cmd := exec.Command(objdump, "-d", "-w", "-z", "-M", "no-aliases", path)
		out, err := cmd.StdoutPipe()
		fixture.NoError(t, err)
		fixture.NoError(t, cmd.Start())
		n, wrong := 0, 0
		for sc := bufio.NewScanner(out); sc.Scan(); {
			f := instruction.FindStringSubmatch(sc.Text())
			if f == nil {
				continue
			}
			n++
			if err := agrees(f[1], f[2], f[3], f[4]); err != nil && wrong < 20 {
				wrong++
				t.Errorf("%s: %v", sc.Text(), err)
			}
		}
		if err := cmd.Wait(); err != nil || n < 150_000 {
			t.Errorf("%s: %d instructions, %v", path, n, err)
		}
	}
}

// agrees compares a word with the text that objdump has for it.
func agrees(at, word, name, operands string) error {
	w, err := strconv.ParseUint(word, 16, 32)
	if err != nil {
		return err
	}
	addr, err := strconv.ParseUint(at, 16, 64)
	if err != nil {
		return err
	}
	in, err := Processor.Decode(code(uint32(w)))
	if name == ".inst" { // what objdump does not know may be newer
		return nil
	}
	if err != nil {
		return err
	}
	want, direct := kindOf(name, operands)
	if in.Kind != want {
		return fmt.Errorf("kind %d, want %d", in.Kind, want)
	}
	if !direct {
		return nil
	}
	fields := strings.Split(strings.TrimSpace(operands), ", ")
	to, err := strconv.ParseUint(strings.TrimPrefix(fields[len(fields)-1], "0x"), 16, 64)
	if err == nil && to != addr+uint64(in.To) {
		err = fmt.Errorf("leads to %#x", addr+uint64(in.To))
	}
	return err
}

// kindOf is the kind of an instruction by its name; direct says that its last operand is an address.
func kindOf(name, operands string) (kind arch.Kind, direct bool) {
	base, _, _ := strings.Cut(name, ".")
	switch {
	case name == "b":
		return arch.Jump, true
	case name == "bl":
		return arch.Call, true
	case base == "b", name == "cbz", name == "cbnz", name == "tbz", name == "tbnz":
		return arch.CondJump, true
	case name == "br" && strings.HasPrefix(operands, "x27"):
		return arch.SwitchJump, false
	case name == "br":
		return arch.IndirectJump, false
	case name == "blr":
		return arch.IndirectCall, false
	case name == "ret":
		return arch.Return, false
	case name == "nop", name == "hint" && strings.TrimSpace(operands) == "#0x0":
		return arch.Nop, false
	case name == "udf", name == "brk", name == "hlt":
		return arch.Trap, false
	case (base == "ldr" || base == "ldrsw" || base == "prfm") && !strings.Contains(operands, "["):
		return arch.Literal, true
	}
	return arch.Other, false
}

// FuzzDecode: no words make anything here panic, or lead out of a function; what is trimmed is no more than
// there is.
func FuzzDecode(f *testing.F) {
	f.Add(code(0xf9400b90, 0xeb3063ff, 0x540001e9, 0xf81e0ffe, 0xd65f03c0, 0xaa1e03e3, 0x94000100, 0x17fffff9))
	f.Add(code(0xc85ffc22, 0x8b000042, 0xc81bfc22, 0xb5ffffbb, 0xd65f03c0, 0, 0))
	f.Add(code(0x1800007b, 0x90000000, 0xf9400000, 0xd65f03c0, 0x00017740))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := Processor.Trim(b); n > len(b) || n < 0 {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
		if at, ok := Processor.Alike(b, b, 0x10000, func(x, y uint64, _ bool) bool { return x == y }); !ok || at > len(b) {
			t.Errorf("not like itself: %d, %v", at, ok)
		}
		if c, ok := arch.StackCheck(Processor, b, arch.Instructions(Processor, b)); ok {
			arch.Spilled(Processor, b, c)
			for _, at := range []int{c.Jump, c.Post} {
				if at < 0 || at%4 != 0 || at >= len(b) {
					t.Errorf("%+v of %d bytes", c, len(b))
				}
			}
		}
		for at := 0; at < len(b); at += 4 {
			in, err := Processor.Decode(b[at:])
			cost := Processor.Cost(b, at)
			e := Processor.Effects(b[at:])
			switch {
			case err != nil && (cost.Refused == "" || e != arch.Effects{}):
				t.Errorf("%v: %+v, %+v", err, cost, e)
			case err == nil && in.To%4 != 0:
				t.Errorf("%+v", in)
			case cost.Emulated && cost.Refused != "", cost.Emulated && in.Kind == arch.Trap:
				t.Errorf("%+v: %+v", in, cost)
			}
		}
	})
}
