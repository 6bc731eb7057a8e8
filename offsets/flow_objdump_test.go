package offsets

import (
	"bufio"
	"cmp"
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

// maxRefused is the part of a binary's functions that may be refused.
const maxRefused = 0.005

// TestLibrariesAgainstObjdump compares, function by function, the returns of what
// this machine has of C, C++ and gccgo with those that binutils' disassembler finds.
func TestLibrariesAgainstObjdump(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libstdc++.so.6", "libcrypto.so.3", "libgo.so.21"} {
		t.Run(name, func(t *testing.T) {
			path := findLibrary(name)
			if path == "" {
				t.Skipf("%s is not installed", name)
			}
			if name == "libgo.so.21" {
				fixture.NeedLong(t)
			}
			againstObjdump(t, path, maxRefused)
		})
	}
}

// TestCAgainstObjdump does the same for a program of C.
func TestCAgainstObjdump(t *testing.T) {
	unoptimized := [][]string{{"-O0"}, {"-O0", "-fcf-protection=full"}, {"-Os"}, {"-O3", "-static"}}
	for _, flags := range optimized {
		unoptimized = append(unoptimized, flags)
	}
	for _, flags := range unoptimized {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			path := fixture.Compile(t, "gcc", "c/flow.c", flags...)
			// Three of its few functions are there to be refused.
			againstObjdump(t, path, 1)
		})
	}
}

// TestGoAgainstObjdump does the same for Go: its own tool, and a program with the
// assembly of the cryptographic packages, which uses VEX and EVEX instructions.
func TestGoAgainstObjdump(t *testing.T) {
	tool, err := exec.LookPath("go")
	fixture.NoError(t, err)
	t.Run("go tool", func(t *testing.T) { againstObjdump(t, tool, maxRefused) })
	t.Run("crypto", func(t *testing.T) { againstObjdump(t, fixture.Build(t, "crypto"), maxRefused) })
}

func findLibrary(name string) string {
	for _, pattern := range []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"} {
		if paths, _ := filepath.Glob(filepath.Join(pattern, name)); len(paths) > 0 {
			return paths[0]
		}
	}
	return ""
}

var addressInReason = regexp.MustCompile(`[-+]?0x[0-9a-f]+|(middle of|to|around) \S+`)

// againstObjdump fails for a function whose returns are not those that objdump
// finds, and if more than a part of them are refused.
func againstObjdump(t *testing.T, path string, mayRefuse float64) {
	t.Helper()
	b, err := Open(path)
	fixture.NoError(t, err)
	defer b.Close()
	want := objdumpReturns(t, b)
	reasons := make(map[string]int)
	example := make(map[string]string)
	total, refused, returns, elsewhere, tails, condTails := 0, 0, 0, 0, 0, 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if strings.Contains(f.Name, ".cold") {
			continue // no function
		}
		total++
		s, err := b.Sites(f)
		if err != nil {
			refused++
			r := addressInReason.ReplaceAllString(err.Error(), "…")
			reasons[r]++
			example[r] = f.Name + ": " + err.Error()
			continue
		}
		var got []uint64
		for _, r := range s.Returns {
			if _, isReturn := slices.BinarySearch(want, r.Addr()); !isReturn {
				t.Errorf("%s: no return at %#x", f.Name, r.Addr())
			}
			if r.Addr()-f.Addr < f.Size {
				got = append(got, r.Addr())
			} else {
				elsewhere++
			}
		}
		from, _ := slices.BinarySearch(want, f.Addr)
		to, _ := slices.BinarySearch(want, f.Addr+f.Size)
		if !slices.Equal(got, want[from:to]) {
			t.Errorf("%s: returns at %#x, objdump has %#x", f.Name, got, want[from:to])
		}
		returns += len(s.Returns)
		tails += len(s.Tails)
		condTails += len(s.CondTails)
	}
	t.Logf("%d functions, %d refused (%.3f%%); %d returns, %d of them in other parts; %d tail jumps, %d conditional ones",
		total, refused, 100*float64(refused)/float64(total), returns, elsewhere, tails, condTails)
	var names []string
	for r := range reasons {
		names = append(names, r)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(reasons[y], reasons[x]) })
	for _, r := range names {
		t.Logf("%6d %s (%s)", reasons[r], r, example[r])
	}
	if float64(refused) > mayRefuse*float64(total) {
		t.Errorf("more than %.1f%% of the functions refused", 100*mayRefuse)
	}
	if returns == 0 {
		t.Error("no returns compared")
	}
}

// objdumpReturns returns the addresses of all returns in a file, sorted.
func objdumpReturns(t *testing.T, b *Binary) (returns []uint64) {
	t.Helper()
	objdumpLines(t, b, func(at uint64, text string) {
		if returnText.MatchString(text) {
			returns = append(returns, at)
		}
	})
	slices.Sort(returns)
	return returns
}

// objdumpLines hands over the address and the text of each instruction of a file.
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
