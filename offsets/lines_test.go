package offsets

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPositionAgainstAddr2line compares the position of each function's start, and of each byte of package main, with
// go tool addr2line.
func TestPositionAgainstAddr2line(t *testing.T) {
	for _, flags := range [][]string{nil, {"-ldflags=-w"}, {"-ldflags=-s -w"}} {
		b := openLines(t, fixture.Current, flags)
		var addrs []uint64
		var input strings.Builder
		for i := range b.Funcs() {
			f := &b.Funcs()[i]
			addrs = append(addrs, f.Addr)
			if symname.Split(f.Name).Package == "main" {
				for at := uint64(1); at < f.Size; at++ {
					addrs = append(addrs, f.Addr+at)
				}
			}
		}
		for _, addr := range addrs {
			fmt.Fprintf(&input, "%#x\n", addr)
		}
		cmd := exec.Command("go", "tool", "addr2line", b.File().Path())
		cmd.Stdin = strings.NewReader(input.String())
		out, err := cmd.Output()
		fixture.NoError(t, err)
		answers := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(answers) != 2*len(addrs) || len(addrs) < 1500 {
			t.Fatalf("%d lines of answer to %d addresses", len(answers), len(addrs))
		}
		wrong, unknown := 0, 0
		for i, addr := range addrs {
			want := answers[2*i+1]
			file, line, ok := b.Position(addr)
			got := fmt.Sprintf("%s:%d", file, line)
			if want == "?:0" || want == ":-1" { // code that the compiler generated
				want = ":0"
				unknown++
			}
			if got != want || ok == (want == ":0") {
				if wrong++; wrong < 10 {
					t.Errorf("%q: %#x is at %s, %t; addr2line says %s", flags, addr, got, ok, want)
				}
			}
		}
		if unknown > 20 {
			t.Errorf("%q: addr2line knows nothing of %d addresses", flags, unknown)
		}
	}
}

// TestLineAddrsAgainstObjdump compares addresses with the statements in objdump's line tables.
func TestLineAddrsAgainstObjdump(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("no objdump")
	}
	for _, version := range []string{fixture.Current, "1.20.14"} {
		b := openLines(t, version, nil)
		out, err := exec.Command("objdump", "--dwarf=decodedline", "-WL", b.File().Path()).Output()
		fixture.NoError(t, err)
		// store.go    16    0x489700    x
		row := regexp.MustCompile(`(?m)^store\.go\s+(\d+)\s+0x([0-9a-f]+)\b.*\bx\s*$`)
		starts := make(map[int]map[uint64][]uint64) // by line and function
		for _, m := range row.FindAllStringSubmatch(string(out), -1) {
			line, _ := strconv.Atoi(m[1])
			addr, _ := strconv.ParseUint(m[2], 16, 64)
			f, ok := b.FuncAt(addr)
			if !ok {
				continue
			}
			if starts[line] == nil {
				starts[line] = make(map[uint64][]uint64)
			}
			starts[line][f.Addr] = append(starts[line][f.Addr], addr)
		}
		if len(starts) < 8 {
			t.Fatalf("objdump knows %d lines", len(starts))
		}
		for line, functions := range starts {
			addrs, err := b.Internals().LineAddrs("store.go", line)
			if err != nil {
				t.Errorf("Go %s: %v", version, err)
				continue
			}
			if !slices.IsSorted(addrs) || len(slices.Compact(slices.Clone(addrs))) != len(addrs) {
				t.Errorf("Go %s: store.go:%d: %#x not in order", version, line, addrs)
			}
			for start, all := range functions {
				if !slices.Contains(addrs, slices.Min(all)) {
					t.Errorf("Go %s: store.go:%d: %#x misses the first of %#x in the function at %#x", version, line, addrs, all, start)
				}
			}
			for _, addr := range addrs {
				f, _ := b.FuncAt(addr)
				if all := functions[f.Addr]; len(all) > 0 && !slices.Contains(all, addr) {
					t.Errorf("Go %s: store.go:%d: %#x is no statement; these are: %#x", version, line, addr, all)
				}
			}
		}
	}
}

// TestLineAddrs checks that each function and each inlined copy has one address of the line, where an instruction
// begins.
func TestLineAddrs(t *testing.T) {
	mark := fixture.Marks(t, "store.go")
	for _, build := range linesBuilds {
		t.Run(build.name, func(t *testing.T) {
			b := openLines(t, build.version, build.flags)
			for _, test := range []struct {
				mark string
				want []string
			}{
				{"double", []string{"main.double", "main.(*store).put", "main.(*store).put"}},
				{"put reset", []string{"main.(*store).put"}},
				{"fill loop", []string{"main.(*store).fill"}},
				{"frame start", []string{"main.(*store).frame"}},
				{"frame return", []string{"main.(*store).frame"}},
				{"at return", []string{"main.(*store).put", "main.(*store).fill"}},
			} {
				addrs, err := b.Internals().LineAddrs("store.go", mark[test.mark])
				if err != nil {
					t.Error(err)
					continue
				}
				var in []string
				for _, addr := range addrs {
					f, ok := b.FuncAt(addr)
					if !ok {
						t.Fatalf("%s: %#x is in no function", test.mark, addr)
					}
					in = append(in, f.Name)
					if _, err := siteAt(b, f, addr-f.Addr); err != nil {
						t.Errorf("%s: %#x: %v", test.mark, addr, err)
					}
					if _, line, _ := b.Position(addr); line != mark[test.mark] {
						t.Errorf("%s: %#x is at line %d", test.mark, addr, line)
					}
				}
				if !slices.Equal(in, test.want) {
					t.Errorf("%s: in %q, want %q", test.mark, in, test.want)
				}
			}
		})
	}
}

func TestLineAddrsFiles(t *testing.T) {
	mark := fixture.Marks(t, "store.go")
	line := mark["put reset"]
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
		b := openLines(t, fixture.Current, flags)
		want, err := b.Internals().LineAddrs("store.go", line)
		fixture.NoError(t, err)
		for _, name := range []string{
			"lines/store.go", "./store.go", "testdata/lines/store.go",
			filepath.Join(fixture.Root(), "testdata", "lines", "store.go"),
		} {
			if got, err := b.Internals().LineAddrs(name, line); !slices.Equal(got, want) || err != nil {
				t.Errorf("%s:%d is at %#x, %v; want %#x", name, line, got, err, want)
			}
		}
		for _, name := range []string{"tore.go", "/store.go", ""} {
			if addrs, err := b.Internals().LineAddrs(name, line); !errors.Is(err, errNoCode) {
				t.Errorf("%s:%d is at %#x, %v", name, line, addrs, err)
			}
		}
	}
}
