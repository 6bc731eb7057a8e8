package offsets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// describe opens a file and calls Describe with another one.
func describe(t *testing.T, path, by string) (*Binary, error) {
	t.Helper()
	b := openPath(t, path)
	f, err := os.Open(by)
	fixture.NoError(t, err)
	return b, b.Internals().Describe(f, by)
}

// known returns everything that is known about a function.
func known(b *Binary, f *Func) string {
	s, err := b.Signature(f)
	text := fmt.Sprintf("%s %v %x+%x %v", f.Name, f.ABI, f.Addr, f.Size, err)
	if err == nil {
		for _, v := range slices.Concat(s.Params, s.Results, s.Captured) {
			text += fmt.Sprintf(" %s %s %v %v", v.Name, v.Type.Name, v.Pieces, v.Err)
		}
		text += s.Note
	}
	file, line, ok := b.Position(f.Addr)
	return text + fmt.Sprintf(" %s:%d %v", file, line, ok)
}

// checkDescribed checks that a stripped program gets the same names, types and lines from its twin as the twin has.
func checkDescribed(t *testing.T, stripped string, twin *Binary) {
	t.Helper()
	got, err := describe(t, stripped, twin.image.Path())
	fixture.NoError(t, err)
	if len(got.Funcs()) != len(twin.Funcs()) {
		t.Fatalf("%d functions, the twin has %d", len(got.Funcs()), len(twin.Funcs()))
	}
	for i := range twin.Funcs() {
		if g, w := known(got, &got.Funcs()[i]), known(twin, &twin.Funcs()[i]); g != w {
			t.Fatalf("got  %s\nwant %s", g, w)
		}
	}
}

const twinSource = `package main

import "os"

var calls int

//go:noinline
func first(n int) int { calls++; return n + 1 }

//go:noinline
func second(name string) int { return len(name) + FIVE }

func main() {
	for range os.Args {
		first(second(os.Args[0]))
	}
}
`

// buildText builds a program from one source file.
func buildText(t *testing.T, text string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	fixture.Write(t, filepath.Join(dir, "go.mod"), "module twin\n\ngo 1.24\n")
	fixture.Write(t, filepath.Join(dir, "main.go"), text)
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", "program"}, flags, []string{"."})...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "program")
}

// TestNoTwin checks that a file of another build is rejected, with the first function that differs.
func TestNoTwin(t *testing.T) {
	source := func(five string) string { return strings.ReplaceAll(twinSource, "FIVE", five) }
	stripped := buildText(t, source("5"), "-ldflags=-s -w")
	for _, test := range []struct{ name, text, flags, want string }{
		{"a constant", source("6"), "", "main.second differs: its code at +0x"},
		{"a function more", source("5") + "\nfunc init() { calls++ }\n", "", " differs: its name, place or source lines"},
		{"a line more", strings.Replace(source("5"), "//go", "\n//go", 1), "", "main.first differs: its name, place or source lines"},
		{"a longer function", source("n()") + "\nfunc n() int { return calls/7 }\n", "", " differs: its name, place or source lines"},
		{"no optimization", source("5"), "-gcflags=all=-N -l", " differs: "},
		{"stripped, too", source("5"), "-ldflags=-s -w", ErrNoDebugInfo.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.flags, "all=") {
				fixture.NeedLong(t) // the standard library is compiled for it
			}
			b, err := describe(t, stripped, buildText(t, test.text, test.flags))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if f, ok := b.Lookup("main.second"); !ok {
				t.Error("the functions are lost")
			} else if s, err := b.Signature(f); err != nil || !s.Untyped {
				t.Errorf("the debug information was accepted: %+v, %v", s, err)
			}
		})
	}
	b, err := describe(t, stripped, buildText(t, source("5")))
	fixture.NoError(t, err)
	f, _ := b.Lookup("main.second")
	if s, err := b.Signature(f); err != nil || s.Source != fromTwin {
		t.Errorf("of the twin: %+v, %v", s, err)
	}
	if v, err := b.Internals().StaticVariable("main.calls"); err != nil || v.Err == nil || v.Type.Name != "int" {
		t.Errorf("of the twin, where data are at other addresses: %+v, %v", v, err)
	}
}

// TestTwinInside checks that a symbol of the twin that begins inside a function is ignored, with and without code in
// the twin, because a probe there could be in the middle of an instruction. Without code, the build IDs are compared.
func TestTwinInside(t *testing.T) {
	const id = "-B 0x00c0ffee"
	stripped, full := buildText(t, strings.ReplaceAll(twinSource, "FIVE", "5"), "-ldflags=-s -w "+id), buildText(t, strings.ReplaceAll(twinSource, "FIVE", "5"), "-ldflags="+id)
	data, err := os.ReadFile(full)
	fixture.NoError(t, err)
	f := lookup(t, openPath(t, full), "main.first")
	symbol := binary.LittleEndian.AppendUint64(nil, f.Addr)
	symbol = binary.LittleEndian.AppendUint64(symbol, f.Size) // as Elf64_Sym has them
	at := bytes.LastIndex(data, symbol)
	if at < 0 || bytes.Count(data, symbol) != 1 {
		t.Fatalf("%d symbols", bytes.Count(data, symbol))
	}
	data[at]++
	for _, codeless := range []bool{false, true} {
		if codeless && !dropText(data) {
			t.Fatal("no section is .text")
		}
		lies := filepath.Join(t.TempDir(), "lies")
		fixture.Write(t, lies, string(data))
		b, err := describe(t, stripped, lies)
		fixture.NoError(t, err)
		if got, ok := b.FuncAt(f.Addr + 1); !ok || got.Addr != f.Addr || got.Size != f.Size || got.Name != f.Name {
			t.Errorf("codeless %v: %+v, want %+v", codeless, got, f)
		}
		second := signatureOf(t, b, "main.second")
		if v, err := b.Internals().StaticVariable("main.calls"); err != nil || v.Type.Name != "int" || len(v.Pieces) != 1 || second.Params[0].Name != "name" {
			t.Errorf("codeless %v: variable %v, %v; signature %+v", codeless, v, err, second)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	fixture.Write(t, other, strings.ReplaceAll(string(data), "\x00\xc0\xff\xee", "\x01\xc0\xff\xee"))
	if _, err := describe(t, stripped, other); err == nil || !strings.Contains(err.Error(), `its build ID "01c0ffee" is not the "00c0ffee"`) {
		t.Errorf("another build's: %v", err)
	}
}
