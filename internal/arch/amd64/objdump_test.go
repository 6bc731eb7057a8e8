package amd64

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// sampleFunctions is how much of each binary -short looks at.
const sampleFunctions = 200

// TestObjdump compares the boundaries of all instructions of all functions with
// those of binutils.
func TestObjdump(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed: instruction boundaries are not cross-checked")
	}
	for _, path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			fns := functions(t, path)
			if testing.Short() && len(fns) > sampleFunctions {
				from := len(fns) / 3
				fns = fns[from : from+sampleFunctions]
			}
			lines, err := disassemble(objdump, path, fns)
			fixture.NoError(t, err)
			compared, stopped := 0, 0
			for _, fn := range fns {
				n, ended := compare(t, fn, lines)
				compared += n
				if !ended {
					stopped++
				}
			}
			t.Logf("%d functions, %d instructions equal, %d functions left at data", len(fns), compared, stopped)
			if compared < 3*len(fns) {
				t.Errorf("only %d instructions compared in %d functions", compared, len(fns))
			}
			if stopped*1000 > len(fns) {
				t.Errorf("%d of %d functions not decoded to their end", stopped, len(fns))
			}
		})
	}
}

// compare walks one function along objdump's instructions until an encoding both
// sides call bad, and reports how far it came.
func compare(t *testing.T, fn function, lines map[uint64]string) (n int, ended bool) {
	t.Helper()
	for p := 0; p < len(fn.code); n++ {
		at := fn.addr + uint64(p)
		text, ok := lines[at]
		if !ok {
			t.Errorf("%s+%#x: no boundary in objdump: % x", fn.name, p, window(fn.code, p))
			return n, false
		}
		in, err := decode(fn.code[p:])
		if err != nil {
			if !isBad(text) {
				t.Errorf("%s+%#x: %v: % x, objdump: %s", fn.name, p, err, window(fn.code, p), text)
			}
			return n, false
		}
		if isBad(text) {
			t.Errorf("%s+%#x: length %d: % x, objdump: %s", fn.name, p, in.Len, window(fn.code, p), text)
			return n, false
		}
		// fwait is an instruction of its own, which objdump shows as part of the
		// x87 instruction behind it (fstcw for fwait and fnstcw).
		if fn.code[p] == 0x9b {
			if next, ok := lines[at+1]; ok && in.Len != 1 {
				t.Errorf("%s+%#x: fwait of length %d, objdump next: %s", fn.name, p, in.Len, next)
			} else if !ok {
				p += in.Len
				if in, err = decode(fn.code[p:]); err != nil {
					t.Errorf("%s+%#x: after fwait: %v", fn.name, p, err)
					return n, false
				}
			}
		}
		p += in.Len
	}
	return n, true
}

func window(code []byte, p int) []byte { return code[p:min(p+maxLen, len(code))] }

// disassemble maps the address of each instruction that objdump finds to its text.
func disassemble(objdump, path string, fns []function) (map[uint64]string, error) {
	last := fns[len(fns)-1]
	lines := map[uint64]string{}
	err := objdumpLines(exec.Command(objdump, "-d", "-w", "--no-show-raw-insn",
		fmt.Sprintf("--start-address=%#x", fns[0].addr),
		fmt.Sprintf("--stop-address=%#x", last.addr+uint64(len(last.code))), path),
		func(at uint64, text string) { lines[at] = text })
	return lines, err
}

// objdumpLines runs objdump and hands over address and text of each instruction:
// "  401000:	cmp    0x10(%r14),%rsp".
func objdumpLines(cmd *exec.Cmd, each func(at uint64, text string)) error {
	cmd.Env = []string{"LC_ALL=C"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		addr, text, ok := strings.Cut(sc.Text(), ":\t")
		if !ok {
			continue
		}
		if at, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); err == nil {
			each(at, text)
		}
	}
	if err := sc.Err(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, stderr.Bytes())
	}
	return nil
}
