package offsets

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// maxRefused is the share of a binary's functions that may fail to decode.
const maxRefused = 0.005

// TestLibrariesAgainstObjdump checks the installed libraries of C, C++ and gccgo, for both processors.
func TestLibrariesAgainstObjdump(t *testing.T) {
	for _, pattern := range []string{
		"/lib*/x86_64-linux-gnu/libc.so.6", "/lib*/x86_64-linux-gnu/libstdc++.so.6", "/lib*/x86_64-linux-gnu/libcrypto.so.3", "/lib*/x86_64-linux-gnu/libgo.so.21",
		"/lib64/libc.so.6", "/lib64/libstdc++.so.6", "/lib64/libcrypto.so.3",
		"/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libm.so.6", "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1", "/usr/aarch64-linux-gnu/lib/libasan.so.8",
	} {
		t.Run(pattern, func(t *testing.T) {
			paths, _ := filepath.Glob(pattern)
			if len(paths) == 0 {
				t.Skip("not installed")
			}
			if strings.Contains(pattern, "libgo") {
				fixture.NeedLong(t)
			}
			againstObjdump(t, paths[0], maxRefused)
		})
	}
}

// TestCAgainstObjdump checks a C program. Three of its few functions can't be decoded.
func TestCAgainstObjdump(t *testing.T) {
	builds := [][]string{{"-O0"}, {"-O0", "-fcf-protection=full"}, {"-Os"}, {"-O3", "-static"}}
	for _, flags := range optimized {
		builds = append(builds, flags)
	}
	for _, flags := range builds {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			againstObjdump(t, fixture.Compile(t, "gcc", "c/flow.c", flags...), 1)
		})
	}
}

// TestGoAgainstObjdump checks the go command, and a program with the assembly of the cryptographic packages, which uses
// VEX and EVEX instructions.
func TestGoAgainstObjdump(t *testing.T) {
	tool, err := exec.LookPath("go")
	fixture.NoError(t, err)
	t.Run("go command", func(t *testing.T) { againstObjdump(t, tool, maxRefused) })
	t.Run("crypto", func(t *testing.T) { againstObjdump(t, fixture.Build(t, "crypto"), maxRefused) })
}

// TestGccgoSites checks gccgo's programs: names of Go, the calling convention of C, and split stacks.
func TestGccgoSites(t *testing.T) {
	for _, flag := range []string{"-O0", "-O2"} {
		t.Run(flag, func(t *testing.T) {
			path := fixture.Compile(t, "gccgo", "gccgo/add.go", flag)
			b := openPath(t, path)
			if minor, v := b.GoVersion(); minor > 0 {
				t.Errorf("built with %q", v)
			}
			f := lookup(t, b, "main.add")
			if s, err := b.Sites(f); err != nil || len(s.Returns) == 0 || s.Entry.Addr() != f.Addr || f.ABI != SystemV {
				t.Errorf("%+v: %+v, %v", f, s, err)
			}
			if s, err := b.Sites(lookup(t, b, "main.main")); err != nil || !s.SplitStack {
				t.Errorf("main.main: %+v, %v; want a split stack", s, err)
			}
			// __morestack, which is called before it has a frame, and similar functions can't be decoded. Without
			// libgo they are more than maxRefused.
			againstObjdump(t, path, 0.05)
		})
	}
}

// TestArm64AgainstObjdump checks programs for arm64: a large one, a server, and one with C. Of older versions of Go it
// compares only where calls begin.
func TestArm64AgainstObjdump(t *testing.T) {
	for name, path := range map[string]string{
		"go command": fixture.GoCommandFor(t, "arm64"),
		"httpd":      fixture.BuildFor(t, "arm64", fixture.Current, "httpd"),
		"cgo":        fixture.BuildFor(t, "arm64", fixture.Current, "callback"),
		"PIE":        fixture.BuildFor(t, "arm64", fixture.Current, "exact", "-buildmode=pie"),
		"-N -l":      fixture.BuildFor(t, "arm64", fixture.Current, "exact", "-gcflags=all=-N -l"),
	} {
		t.Run(name, func(t *testing.T) {
			againstObjdump(t, path, maxRefused)
			checksAgainstObjdump(t, path)
		})
	}
	for _, version := range []string{"1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.22.12", "1.24.6"} {
		t.Run(version, func(t *testing.T) {
			fixture.NeedLong(t)
			checksAgainstObjdump(t, fixture.BuildFor(t, "arm64", version, "exact"))
			checksAgainstObjdump(t, fixture.BuildFor(t, "arm64", version, "exact", "-buildmode=pie"))
		})
	}
}

// TestArm64Static checks a static program, which includes all of glibc's assembly.
func TestArm64Static(t *testing.T) {
	fixture.NeedCompiler(t, "aarch64-linux-gnu-gcc")
	path := fixture.BuildFor(t, "arm64", fixture.Current, "callback", "-ldflags=-linkmode=external -extldflags=-static")
	// Glibc's functions that jump to a computed address after an epilogue are refused, too.
	againstObjdump(t, path, 2*maxRefused)
	checksAgainstObjdump(t, path)
}

// againstObjdump compares the returns of each function with objdump's. On x86-64 it also compares all instructions, and
// whether a function of Go checks its stack: it does so if it calls runtime.morestack. It fails if more than mayRefuse of the functions
// can't be decoded.
func againstObjdump(t *testing.T, path string, mayRefuse float64) {
	t.Helper()
	b := openPath(t, path)
	want, starts, calls := objdumpInstructions(t, b)
	variable := b.File().Processor.Machine().Quantum == 1 // the size of instructions
	total, returns := 0, 0
	var refused []string
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if strings.Contains(f.Name, ".cold") {
			continue // a part of a function
		}
		if total++; f.Size < uint64(b.File().Processor.Machine().Quantum) {
			t.Errorf("%s: %d bytes are less than an instruction", f.Name, f.Size)
		}
		s, err := b.Sites(f)
		if err != nil {
			refused = append(refused, f.Name+": "+err.Error())
			continue
		}
		for _, site := range slices.Concat(begins(s), s.Returns, s.Tails, s.CondTails) {
			off, err := b.File().FileOffset(site.Addr())
			if err != nil || off != site.Offset() || f.ABI != SystemV && site.Addr()-f.Addr >= f.Size {
				t.Errorf("%s: site %+v", f.Name, site)
			}
		}
		if variable {
			compareInstructions(t, b, f, starts)
		}
		if variable && f.ABI != SystemV && (s.Check != nil) != (len(between(calls, f.Addr, f.Size)) > 0) {
			t.Errorf("%s: stack check %+v, but objdump disagrees", f.Name, s.Check)
		}
		var got []uint64
		for _, r := range s.Returns {
			if _, isReturn := slices.BinarySearch(want, r.Addr()); !isReturn {
				t.Errorf("%s: no return at %#x", f.Name, r.Addr())
			}
			if r.Addr()-f.Addr < f.Size {
				got = append(got, r.Addr())
			}
		}
		if expect := between(want, f.Addr, f.Size); !slices.Equal(got, expect) {
			t.Errorf("%s: returns at %#x, objdump has %#x", f.Name, got, expect)
		}
		returns += len(s.Returns)
	}
	if float64(len(refused)) > mayRefuse*float64(total) {
		t.Errorf("%d of %d functions refused:\n%s", len(refused), total, strings.Join(refused, "\n"))
	}
	if returns == 0 {
		t.Error("no returns compared")
	}
}

// between returns the addresses in a range. The list is sorted.
func between(list []uint64, addr, size uint64) []uint64 {
	from, _ := slices.BinarySearch(list, addr)
	to, _ := slices.BinarySearch(list, addr+size)
	return list[from:to]
}

// compareInstructions compares the addresses of a function's instructions with those that objdump found.
func compareInstructions(t *testing.T, b *Binary, f *Func, starts []uint64) {
	c, err := b.decode(f)
	fixture.NoError(t, err)
	for _, p := range c.parts {
		want := between(starts, p.addr, uint64(len(p.code)))
		for at, begins := range p.boundary {
			addr := p.addr + uint64(at)
			has := len(want) > 0 && want[0] == addr
			if has {
				want = want[1:]
			}
			// objdump takes fwait for a part of the next instruction, and leaves out zeros.
			if begins != has && !(begins && (at > 0 && p.code[at-1] == 0x9b || p.code[at] == 0)) {
				t.Errorf("%s+%#x: instruction %v, objdump %v: % x", f.Name, at, begins, has, p.code[at:min(at+15, len(p.code))])
				return
			}
		}
	}
}

// objdumpInstructions returns the sorted addresses of all returns, all instructions, and all calls of runtime.morestack.
func objdumpInstructions(t *testing.T, b *Binary) (returns, all, morestack []uint64) {
	t.Helper()
	objdumpLines(t, b, func(at uint64, text string) {
		all = append(all, at)
		if returnText.MatchString(text) {
			returns = append(returns, at)
		}
		if callsMorestack.MatchString(text) {
			morestack = append(morestack, at)
		}
	})
	slices.Sort(returns)
	slices.Sort(all)
	slices.Sort(morestack)
	return returns, all, morestack
}

// objdumpLines calls line with the address and the text of each instruction of a file.
func objdumpLines(t *testing.T, b *Binary, line func(at uint64, text string)) {
	t.Helper()
	name := "objdump"
	if b.File().Processor.Machine().GOARCH == "arm64" && runtime.GOARCH != "arm64" {
		name = "aarch64-linux-gnu-objdump"
	}
	objdump, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s (binutils) is not installed: sites are not cross-checked", name)
	}
	cmd := exec.Command(objdump, "-d", "-w", "--no-show-raw-insn", b.image.Path())
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.StdoutPipe()
	fixture.NoError(t, err)
	fixture.NoError(t, cmd.Start())
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		addr, text, ok := strings.Cut(sc.Text(), ":\t")
		if at, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); ok && err == nil {
			line(at, text)
		}
	}
	fixture.NoError(t, sc.Err())
	fixture.NoError(t, cmd.Wait())
}

var returnText = regexp.MustCompile(`^((bnd|repz|rep|notrack|cs|ds|es|ss|fs|gs|data16|rex\.\w+) )*(l?ret[qwl]?|i?retq?)(\s|$)`)

// These match the texts of instructions as objdump writes them.
var (
	callsMorestack = regexp.MustCompile(`^(bl|call)\s+[0-9a-f]+ <runtime\.morestack(_noctxt|c)?(\.abi0)?>`)
	branches       = regexp.MustCompile(`^(b\.[a-z]+)\t`)
	passedOver     = regexp.MustCompile(`[\t ]x27\b|^(adrp|msr)\t`) // instructions that a preemption repeats, or that can't be probed
)

// checksAgainstObjdump compares where the calls of arm64 functions begin: a function that calls runtime.morestack
// begins after the B.LS before that call, any other function at its first instruction.
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
	checked, free := 0, 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		s, err := b.Sites(f)
		if err != nil || f.ABI == SystemV {
			continue
		}
		again := within(calls, f)
		if len(again) == 0 {
			free++
			if s.Check != nil {
				t.Errorf("%s: a stack check at %#x, which objdump does not have", f.Name, s.Check.Addr())
			}
			if s.Entry.Addr() != f.Addr && !slices.ContainsFunc(within(passed, f), func(l line) bool { return l.at == s.Entry.Addr()-4 }) {
				t.Errorf("%s: entry at +%#x, for no reason that objdump knows", f.Name, s.Entry.Addr()-f.Addr)
			}
			continue
		}
		checked++
		before := within(jumps, f)
		last := slices.IndexFunc(before, func(l line) bool { return strings.HasPrefix(l.text, "b.ls") })
		if s.Check == nil || !s.CheckOnly || last < 0 {
			t.Errorf("%s: %+v", f.Name, s)
			continue
		}
		if s.Check.Addr() != before[last].at || len(again) != 1 {
			t.Errorf("%s: check at %#x, %d calls of morestack; objdump has the check at %#x", f.Name, s.Check.Addr(), len(again), before[last].at)
		}
		if s.Entry.Addr() != before[last].at+4 {
			t.Errorf("%s: entry at %#x, the check at %#x", f.Name, s.Entry.Addr(), before[last].at)
		}
		if !s.Check.Cost().Emulated || s.Check.Cost().Cond != b.File().Processor.Machine().Passed {
			t.Errorf("%s: the check's cost is %+v, its condition %d", f.Name, s.Check.Cost(), s.Check.Cost().Cond)
		}
	}
	if checked < 500 || free < 100 {
		t.Errorf("%d functions with a check, %d without: too few to mean anything", checked, free)
	}
}
