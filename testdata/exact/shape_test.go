package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCounters compares the calls in the books with the counters that
// `go build -cover` puts into the first block of every function.
func TestCounters(t *testing.T) {
	exe, dir := build(t, "-cover", "-covermode=atomic"), t.TempDir()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	b := decode(t, output(t, cmd))
	compare(t, b, 1)
	profile := filepath.Join(dir, "profile")
	output(t, exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", profile))
	text, err := os.ReadFile(profile)
	fixture.NoError(t, err)
	counted := firstBlocks(t, text)

	booked := map[string]int64{}
	brackets := regexp.MustCompile(`\[.*\]`)
	for name, f := range b.Functions {
		if !strings.HasSuffix(name, "-fm") { // has no source of its own
			booked[brackets.ReplaceAllString(name, "")] += f.Calls
		}
	}
	for name, calls := range booked {
		if n, ok := counted[name]; !ok || n != calls {
			t.Errorf("%s: %d calls in the books, %d counted, in the source %v", name, calls, n, ok)
		}
	}
}

// firstBlocks returns how often each function was entered, by name without
// type parameters.
func firstBlocks(t *testing.T, profile []byte) map[string]int64 {
	t.Helper()
	type position struct {
		file         string
		line, column int
	}
	blocks := map[position]int64{}
	line := regexp.MustCompile(`(?m)([^/\n]+\.go):(\d+)\.(\d+),\S+ \d+ (\d+)$`)
	for _, m := range line.FindAllStringSubmatch(string(profile), -1) {
		l, _ := strconv.Atoi(m[2])
		c, _ := strconv.Atoi(m[3])
		n, err := strconv.ParseInt(m[4], 10, 64)
		if err != nil {
			t.Fatalf("read counter %q: %v", m[0], err)
		}
		blocks[position{m[1], l, c}] = n
	}

	counted := map[string]int64{}
	files, err := filepath.Glob("*.go")
	fixture.NoError(t, err)
	for _, file := range files {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, nil, 0)
		fixture.NoError(t, err)
		count := func(name string, body *ast.BlockStmt) {
			first, begin, end := math.MaxInt, fset.Position(body.Lbrace), fset.Position(body.Rbrace)
			for p, n := range blocks {
				offset := p.line*1000 + p.column
				if p.file == file && offset >= begin.Line*1000+begin.Column && offset <= end.Line*1000+end.Column && offset < first {
					first, counted[name] = offset, n
				}
			}
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			name := "main." + receiver(f) + f.Name.Name
			count(name, f.Body)
			literals := 0
			ast.Inspect(f.Body, func(n ast.Node) bool {
				literal, ok := n.(*ast.FuncLit)
				if ok {
					literals++
					count(name+".func"+strconv.Itoa(literals), literal.Body)
				}
				return !ok
			})
		}
	}
	return counted
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	format, of := "", f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		format, of = "*", star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	if format == "" {
		return of.(*ast.Ident).Name + "."
	}
	return "(*" + of.(*ast.Ident).Name + ")."
}

// TestShapes checks that the compiler makes of each function what the function
// is there for. The stack checks are those of cmd/internal/obj/x86/obj6.go.
func TestShapes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("knows the instructions of amd64 only, not of " + runtime.GOARCH)
	}
	listing := string(output(t, exec.Command("go", "tool", "objdump", "-s", `^main\.`, build(t))))
	code := map[string][]string{}
	instruction := regexp.MustCompile(`(?m)^  \S+\s+0x[0-9a-f]+\s+[0-9a-f]+\s+(.+?)\s*$`)
	for _, text := range strings.Split("\n"+listing, "\nTEXT ")[1:] {
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
