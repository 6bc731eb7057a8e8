package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestShapes checks that the compiler makes of each function what the function
// is there for. The stack checks are those of cmd/internal/obj/x86/obj6.go.
func TestShapes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("knows the instructions of amd64 only, not of " + runtime.GOARCH)
	}
	exe := filepath.Join(t.TempDir(), "exact")
	out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listing, err := exec.Command("go", "tool", "objdump", "-s", `^main\.`, exe).Output()
	fixture.NoError(t, err)
	code := map[string][]string{}
	instruction := regexp.MustCompile(`(?m)^  \S+\s+0x[0-9a-f]+\s+[0-9a-f]+\s+(.+?)\s*$`)
	for _, text := range strings.Split("\n"+string(listing), "\nTEXT ")[1:] {
		name, _, _ := strings.Cut(text, "(SB)")
		for _, m := range instruction.FindAllStringSubmatch(text, -1) {
			code[name] = append(code[name], m[1])
		}
	}
	const (
		none  = `^[^C]` // anything but the comparisons below
		small = `^CMPQ SP, 0x10\(R14\)$`
		large = `^LEAQ (-0x[0-9a-f]+|0xf{4}[0-9a-f]{4})\(SP\), R12$`
		huge  = `^MOVQ SP, R12$`
	)
	frame := regexp.MustCompile(`^(SUBQ \$|ADDQ \$-)\S+, SP$`)
	for _, test := range []struct {
		name  string
		first string
		frame bool
		rets  int
	}{
		{"main.leaf", none, false, 1},
		{"main.point.norm", none, false, 1},
		{"main.spin", none, false, 1},
		{"main.nilLeaf", `^MOVQ 0x8\(AX\), AX$`, false, 1},
		{"main.branchFirst", `^TESTQ AX, AX$`, false, 2},
		{"main.faultBehind", `^TESTQ BX, BX$`, false, 2},
		{"main.faultBefore", `^CMPQ 0\(AX\), BX$`, false, 2},
		{"main.loopFirst", none, false, 1},
		{"main.loopSwitch", none, false, 1},
		{"main.nosplitFrame", none, true, 1},
		{"main.returns", small, true, 6},
		{"main.recurse", large, true, 1},
		{"main.nilFrame", small, true, 1},
		{"main.frame600", large, true, 1},
		{"main.frame6k", huge, true, 1},
		{"main.frame70k", huge, true, 1},
		{"main.descend", large, true, 1},
		{"main.catch", small, true, 2},
		{"main.ownPanic", small, true, 2},
		{"main.throws", small, true, 0},
		{"main.blockForever", small, true, 0},
		{"main.goexitInner", small, true, 2},
		{"main.deferOpen", small, true, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := code[test.name]
			if len(body) == 0 {
				t.Fatal("not in the program")
			}
			rets, framed, morestack := 0, false, false
			for _, text := range body {
				if text == "RET" {
					rets++
				}
				framed = framed || frame.MatchString(text)
				morestack = morestack || strings.HasPrefix(text, "CALL runtime.morestack")
			}
			checked := test.first == small || test.first == large || test.first == huge
			if !regexp.MustCompile(test.first).MatchString(body[0]) || morestack != checked ||
				framed != test.frame || rets < test.rets || (test.rets == 0) != (rets == 0) {
				t.Errorf("starts with %q, grows the stack: %v, has a frame: %v, returns %d times, want %+v\n%s",
					body[0], morestack, framed, rets, test, strings.Join(body, "\n"))
			}
		})
	}
}
