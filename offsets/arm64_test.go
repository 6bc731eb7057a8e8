package offsets

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// arm64Programs are programs of the current toolchain for another processor: a large one, one that serves HTTP, and one with C.
func arm64Programs(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"go tool": fixture.GoCommandFor(t, "arm64"),
		"httpd":   fixture.BuildFor(t, "arm64", fixture.Current, "httpd"),
		"cgo":     fixture.BuildFor(t, "arm64", fixture.Current, "callback"),
		"PIE":     fixture.BuildFor(t, "arm64", fixture.Current, "exact", "-buildmode=pie"),
		"-N -l":   fixture.BuildFor(t, "arm64", fixture.Current, "exact", "-gcflags=all=-N -l"),
	}
}

// TestArm64AgainstObjdump compares where calls end with what binutils finds.
func TestArm64AgainstObjdump(t *testing.T) {
	for name, path := range arm64Programs(t) {
		t.Run(name, func(t *testing.T) { againstObjdump(t, path, maxRefused) })
	}
}

// TestArm64LibrariesAgainstObjdump does the same for what cross compilers bring of C and C++.
func TestArm64LibrariesAgainstObjdump(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libasan.so.8"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("/usr/aarch64-linux-gnu/lib", name)
			if _, err := os.Stat(path); err != nil {
				t.Skip(err)
			}
			againstObjdump(t, path, maxRefused)
		})
	}
}

// TestArm64Checks compares where calls begin with what binutils finds: those that call runtime.morestack begin by the
// B.LS before, the others where no check is.
func TestArm64Checks(t *testing.T) {
	programs := arm64Programs(t)
	for _, version := range []string{"1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.22.12", "1.24.6"} {
		if fixture.Long() {
			programs[version] = fixture.BuildFor(t, "arm64", version, "exact")
			programs[version+" PIE"] = fixture.BuildFor(t, "arm64", version, "exact", "-buildmode=pie")
		}
	}
	for name, path := range programs {
		t.Run(name, func(t *testing.T) { checksAgainstObjdump(t, path) })
	}
}

// callsMorestack and branches are texts of instructions as objdump writes them.
var (
	callsMorestack = regexp.MustCompile(`^bl\t[0-9a-f]+ <runtime\.morestack(_noctxt|c)?(\.abi0)?>`)
	branches       = regexp.MustCompile(`^(b\.[a-z]+)\t`)
)

func checksAgainstObjdump(t *testing.T, path string) {
	b := openPath(t, path)
	type line struct {
		at   uint64
		text string
	}
	var jumps, calls []line
	objdumpLines(t, b, func(at uint64, text string) {
		if branches.MatchString(text) {
			jumps = append(jumps, line{at, text})
		} else if callsMorestack.MatchString(text) {
			calls = append(calls, line{at, text})
		}
	})
	within := func(lines []line, f *Func) []line {
		from, _ := slices.BinarySearchFunc(lines, f.Addr, func(l line, addr uint64) int { return int(int64(l.at - addr)) })
		until, _ := slices.BinarySearchFunc(lines, f.Addr+f.Size, func(l line, addr uint64) int { return int(int64(l.at - addr)) })
		return lines[from:until]
	}
	checked, free, stepped := 0, 0, 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		s, err := b.Sites(f)
		if err != nil || f.ABI == SystemV {
			continue
		}
		again := within(calls, f)
		if len(again) == 0 {
			if free++; s.Entry.Cost().Stepped() && s.Branch == nil {
				stepped++
			}
			if s.Check != nil || s.First != nil || s.Again != nil {
				t.Errorf("%s: a stack check at %#x, which objdump does not have", f.Name, s.Check.Addr())
			}
			continue
		}
		checked++
		before := within(jumps, f)
		last := slices.IndexFunc(before, func(l line) bool { return strings.HasPrefix(l.text, "b.ls") })
		if s.Check == nil || !s.CheckOnly || s.First == nil || s.Again == nil || last < 0 {
			t.Errorf("%s: %+v", f.Name, s)
			continue
		}
		if s.Check.Addr() != before[last].at || s.First.Addr() != before[0].at || len(again) != 1 || s.Again.Addr() != again[0].at {
			t.Errorf("%s: check at %#x, its first branch at %#x, morestack at %#x; objdump has %#x, %#x, %#x",
				f.Name, s.Check.Addr(), s.First.Addr(), s.Again.Addr(), before[last].at, before[0].at, again[0].at)
		}
		if !s.Check.Cost().Emulated || s.Check.Cond() != b.Processor().Passed() {
			t.Errorf("%s: the check's cost is %+v, its condition %d", f.Name, s.Check.Cost(), s.Check.Cond())
		}
	}
	t.Logf("%d functions with a check, %d without, %d of them single-stepped", checked, free, stepped)
	if checked < 500 || free < 100 {
		t.Errorf("%d functions with a check, %d without: too few to mean anything", checked, free)
	}
}
