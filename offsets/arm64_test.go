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

// TestArm64Static compares where calls begin and end in a static program, with all that glibc has for any processor.
func TestArm64Static(t *testing.T) {
	fixture.NeedCompiler(t, "aarch64-linux-gnu-gcc")
	path := fixture.BuildFor(t, "arm64", fixture.Current, "callback", "-ldflags=-linkmode=external -extldflags=-static")
	againstObjdump(t, path, maxRefused)
	checksAgainstObjdump(t, path)
	b := openPath(t, path)
	// It ends with a jump to .fini, of which no symbol and no unwind information tells the size.
	f, ok := b.Lookup("call_fini")
	if !ok {
		t.Skip("another C library than glibc 2.34 or later")
	}
	if s, err := b.Sites(f); err != nil || len(s.Tails) != 1 || len(s.Returns) > 0 {
		t.Errorf("call_fini: %+v, %v", s, err)
	}
}

// TestArm64Epilogues: a jump to what was computed is a call's end behind an epilogue; without one, nothing tells.
func TestArm64Epilogues(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-Os"}, {"-O2", "-mbranch-protection=standard"}, {"-O3", "-fno-asynchronous-unwind-tables"}} {
		b := openPath(t, fixture.Compile(t, "aarch64-linux-gnu-gcc", "c/epilogue.c", flags...))
		for _, name := range []string{"sum", "mangled", "leaf"} {
			f, ok := b.Lookup(name)
			if !ok {
				t.Fatalf("%s: no such function", name)
			}
			s, err := b.Sites(f)
			if name == "leaf" {
				if err == nil {
					t.Errorf("%v, %s: %+v, want an error", flags, name, s)
				}
			} else if err != nil || len(s.Tails) != 1 || len(s.Returns) > 0 {
				t.Errorf("%v, %s: %+v, %v", flags, name, s, err)
			}
		}
	}
}

// TestArm64Bytes: what Go's linker marks with a symbol of one byte is no function, for want of an instruction.
func TestArm64Bytes(t *testing.T) {
	b := openPath(t, fixture.GoCommandFor(t, "arm64"))
	for i := range b.Funcs() {
		if f := &b.Funcs()[i]; f.Size < 4 {
			t.Errorf("%s: %d bytes", f.Name, f.Size)
		}
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
	passedOver     = regexp.MustCompile(`[\t ]x27\b|^(adrp|msr)\t`) // what Go's assembler makes several instructions of, and what takes no probe
)

func checksAgainstObjdump(t *testing.T, path string) {
	b := openPath(t, path)
	type line struct {
		at   uint64
		text string
	}
	var jumps, calls, passed []line
	objdumpLines(t, b, func(at uint64, text string) {
		if branches.MatchString(text) {
			jumps = append(jumps, line{at, text})
		} else if callsMorestack.MatchString(text) {
			calls = append(calls, line{at, text})
		} else if passedOver.MatchString(text) {
			passed = append(passed, line{at, text})
		}
	})
	within := func(lines []line, f *Func) []line {
		from, _ := slices.BinarySearchFunc(lines, f.Addr, func(l line, addr uint64) int { return int(int64(l.at - addr)) })
		until, _ := slices.BinarySearchFunc(lines, f.Addr+f.Size, func(l line, addr uint64) int { return int(int64(l.at - addr)) })
		return lines[from:until]
	}
	checked, free, stepped, behind := 0, 0, 0, 0
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
			if s.Entry.Addr() != f.Addr {
				behind++
				if !slices.ContainsFunc(within(passed, f), func(l line) bool { return l.at == s.Entry.Addr()-4 }) {
					t.Errorf("%s: entry at +%#x, for no reason that objdump knows", f.Name, s.Entry.Addr()-f.Addr)
				}
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
		if s.Entry.Addr() != before[last].at+4 {
			t.Errorf("%s: entry at %#x, the check at %#x", f.Name, s.Entry.Addr(), before[last].at)
		}
		if !s.Check.Cost().Emulated || s.Check.Cost().Cond != b.File().Processor.Passed() {
			t.Errorf("%s: the check's cost is %+v, its condition %d", f.Name, s.Check.Cost(), s.Check.Cost().Cond)
		}
	}
	t.Logf("%d functions with a check, %d without, %d of them single-stepped, %d begin later", checked, free, stepped, behind)
	if checked < 500 || free < 100 {
		t.Errorf("%d functions with a check, %d without: too few to mean anything", checked, free)
	}
}
