package amd64

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// TestStackCheckAgreesWithSymbols compares what StackCheck finds in bytes alone with
// what the symbols say: a function has a check exactly when it calls
// runtime.morestack.
func TestStackCheckAgreesWithSymbols(t *testing.T) {
	tool := goTool(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(checkedProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "checked")
	if out, err := exec.Command(tool, "build", "-o", built, source).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	for _, path := range []string{built, tool} {
		t.Run(filepath.Base(path), func(t *testing.T) { agreeWithSymbols(t, path) })
	}
}

// checkedProgram has a frame of each size class.
const checkedProgram = `package main

//go:noinline
func small(n int) int { return n + medium(n) }

//go:noinline
func medium(n int) int {
	var b [500]byte
	fill(b[:])
	return int(b[n&255])
}

//go:noinline
func large(n int) int {
	var b [9000]byte
	fill(b[:])
	return int(b[n&255]) + small(n)
}

//go:noinline
func fill(b []byte) {
	for i := range b {
		b[i] = byte(len(b) ^ i)
	}
}

func main() { println(large(3)) }
`

func agreeWithSymbols(t *testing.T, path string) {
	fns := functions(t, path)
	morestack := map[uint64]bool{}
	for _, fn := range fns {
		if strings.HasPrefix(fn.name, "runtime.morestack") {
			morestack[fn.addr] = true
		}
	}
	if len(morestack) == 0 {
		t.Fatalf("%s has no runtime.morestack", path)
	}
	with, without := 0, 0
	for _, fn := range fns {
		if morestack[fn.addr] {
			continue
		}
		calls := false
		for p := 0; p < len(fn.code); {
			in, err := decode(fn.code[p:])
			if err != nil {
				break
			}
			p += in.Len
			if in.Kind == arch.Call && morestack[fn.addr+uint64(int64(p-in.Len)+in.To)] {
				calls = true
			}
		}
		check, found := Processor.StackCheck(fn.code)
		if found != calls {
			t.Errorf("%s: check found: %v, calls morestack: %v", fn.name, found, calls)
		}
		if !found {
			without++
			continue
		}
		with++
		jump, err := decode(fn.code[check.Jump:])
		if err != nil || jump.Kind != arch.CondJump {
			t.Errorf("%s: no conditional jump at +%#x", fn.name, check.Jump)
		}
		if check.Post <= check.Jump || check.Post >= len(fn.code) {
			t.Errorf("%s: jump +%#x, post +%#x of %#x", fn.name, check.Jump, check.Post, len(fn.code))
		}
	}
	t.Logf("%d functions with a check, %d without", with, without)
	if with < 500 || without < 100 {
		t.Errorf("%d functions with a check, %d without: too few to mean anything", with, without)
	}
}
