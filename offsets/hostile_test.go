package offsets

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// mutantsVar, if set, makes the test binary read damaged files: "KIND PATH-OR-GOARCH FIRST LAST".
const mutantsVar = "FTGO_TEST_MUTANTS"

// These are the kinds of damaged files: mutants of a valid file, valid files that claim more than they contain, and
// files that are generated for a processor to claim more than they contain.
const (
	mutants = "mutants"
	claims  = "claims"
	bloated = "bloated"
)

// TestHostile checks that no damaged or malicious file makes the reader panic, use more than two seconds of CPU time or
// 256 MiB of memory, or return a site outside the executable segments. FTGO_TEST_LONG=1 tries 150 files of each seed,
// FTGO_TEST_LONG=all 1,500.
func TestHostile(t *testing.T) {
	each := 7
	if fixture.Long() {
		each = 150
	}
	if fixture.All() {
		each = 1500
	}
	const debugInfo = "-ldflags=-compressdwarf=false -B 0x00c0ffee"
	seeds := []seed{
		{runtime.GOARCH, "compressed debug information", mutants, fixture.Current, []string{"-ldflags=-B 0x00c0ffee"}},
		{runtime.GOARCH, "linked by C", mutants, fixture.Current, []string{"-ldflags=-linkmode=external -compressdwarf=false"}},
		{runtime.GOARCH, "Go 1.12", mutants, "1.12.17", []string{"-ldflags=-s -w"}},
		{runtime.GOARCH, "Go 1.16", mutants, "1.16.15", []string{"-ldflags=-s -w"}},
		{"arm64", "Go 1.17", mutants, "1.17.13", []string{"-ldflags=-w"}},
	}
	for _, goarch := range slices.Compact([]string{runtime.GOARCH, "arm64"}) {
		seeds = append(seeds,
			seed{goarch, "stripped", mutants, fixture.Current, []string{"-ldflags=-s -w"}},
			seed{goarch, "stripped pie", mutants, fixture.Current, []string{"-buildmode=pie", "-ldflags=-s -w"}},
			seed{goarch, "symbols", mutants, fixture.Current, []string{"-ldflags=-w"}},
			seed{goarch, "debug information", mutants, fixture.Current, []string{debugInfo}},
			seed{goarch, "claims", claims, fixture.Current, []string{debugInfo}},
			seed{goarch, "bloated", bloated, "", nil},
		)
	}
	for _, seed := range seeds {
		t.Run(seed.goarch+" "+seed.name, func(t *testing.T) { seed.try(t, each) })
	}
}

// seed describes the program from which damaged files are made.
type seed struct {
	goarch, name, kind, version string
	flags                       []string
}

// try reads n files that are made from the seed.
func (s *seed) try(t *testing.T, n int) {
	path := s.goarch
	if s.kind != bloated {
		path = fixture.BuildFor(t, s.goarch, s.version, "inlined", s.flags...)
	}
	var peak int64 // KiB
	for first := 0; first < n; {
		last := min(first+250, n)
		mutant, use, err := readInChild(s.kind+" "+path, first, last)
		peak = max(peak, use)
		if err == nil {
			first = last
			continue
		}
		if errors.Is(err, errHangs) {
			// Retry, because a virtual machine that is paused for a second looks the same.
			t.Logf("mutant %d: %v, retrying", mutant, err)
			_, _, err = readInChild(s.kind+" "+path, mutant, mutant+1)
		}
		if err != nil {
			t.Errorf("mutant %d of %s: %v", mutant, path, err)
		}
		first = mutant + 1
	}
	t.Logf("%d mutants, %d MiB at most", n, peak>>10)
}

var errHangs = errors.New("over two seconds of processor time")

// readInChild reads mutants in a child process. It returns the mutant that the error is about, and the peak memory in
// KiB.
func readInChild(of string, first, last int) (mutant int, peak int64, err error) {
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", mutantsVar, of, first, last), "GOTRACEBACK=all")
	out, err := child.CombinedOutput()
	if child.ProcessState == nil {
		return first, 0, err
	}
	if use, ok := child.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = use.Maxrss
	}
	if err == nil {
		return last, peak, nil
	}
	out = out[bytes.LastIndexByte(out, '\r')+1:]
	mutant = first
	fmt.Sscanf(string(out), "mutant %d ", &mutant)
	if bytes.Contains(out, []byte("panic: "+errHangs.Error())) {
		return mutant, peak, errHangs
	}
	return mutant, peak, fmt.Errorf("%w\n%s", err, out[:min(len(out), 1<<14)])
}

// readMutants runs in the child process of TestHostile.
func readMutants(job string) error {
	// The limit is for private writable mappings, which include the Go heap (getrlimit(2)).
	limit := syscall.Rlimit{Cur: 256 << 20, Max: 256 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	args := strings.Fields(job)
	kind, of := args[0], args[1]
	first, err1 := strconv.Atoi(args[2])
	last, err2 := strconv.Atoi(args[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	file := func(n int) hostile.File {
		_, f := hostile.Bloated(of, n)
		return f
	}
	if kind != bloated {
		seed, err := os.ReadFile(of)
		if err != nil {
			return err
		}
		m, err := hostile.NewMutator(seed)
		if err != nil {
			return err
		}
		if file = m.Bloated; kind == mutants {
			file = func(n int) hostile.File { return hostile.File{Data: m.Mutant(n)} }
		}
	}
	dir, err := os.MkdirTemp("", "ftgo-mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var deadline atomic.Int64 // in CPU time of the process, which does not depend on the load of the machine
	deadline.Store(int64(time.Minute))
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			if cpuTime() > time.Duration(deadline.Load()) {
				panic(errHangs.Error())
			}
		}
	}()
	for n := first; n < last; n++ {
		f := file(n)
		path := filepath.Join(dir, "mutant")
		if err := f.Write(path); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\rmutant %d ", n)
		runtime.GC() // frees the memory of the previous mutant
		deadline.Store(int64(cpuTime() + 2*time.Second))
		if err := readHostile(path, f.Data); err != nil {
			return err
		}
		if kind != mutants {
			continue
		}
		deadline.Store(int64(cpuTime() + 2*time.Second))
		if err := describeHostile(of, path, f.Data, n%2 == 1); err != nil {
			return err
		}
	}
	return nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// readHostile calls all methods of Binary, for about 200 functions of the file.
func readHostile(path string, data []byte) error {
	b, err := Open(path)
	if err != nil {
		if !strings.HasPrefix(err.Error(), path+": ") {
			return fmt.Errorf("error %q does not begin with the path", err)
		}
		return nil
	}
	defer b.Close()
	b.Internals().Layout()
	b.Inlined()
	b.Internals().LineAddrs("main.go", 10)
	b.Internals().TypeNamed("time.Time")
	b.Internals().RuntimeTypeNamed("*time.Time")
	b.Internals().Constant("time.Second", "")
	b.Internals().StaticVariable("main.none")
	b.File().BuildID()
	funcs := b.Funcs()
	for i := 0; i < len(funcs); i += 1 + len(funcs)/200 {
		f := &funcs[i]
		b.Position(f.Addr)
		b.Internals().Frames(f.Addr + f.Size/2)
		b.Internals().LinkAt(f.Addr + f.Size/2)
		if sig, err := b.Signature(f); err == nil {
			for _, v := range slices.Concat(sig.Params, sig.Results, sig.Captured) {
				v.Type.Elem()
			}
		}
		s, err := b.Sites(f)
		if err != nil {
			continue
		}
		sites := slices.Concat(begins(s), s.Returns, s.Tails, s.CondTails)
		if s.Check != nil {
			sites = append(sites, *s.Check)
		}
		for _, site := range sites {
			if quantum := uint64(b.File().Processor.Machine().Quantum); !executable(data, site) || site.Addr()%quantum != 0 || site.Offset()%quantum != 0 {
				return fmt.Errorf("%s: site at %#x, file offset %#x", f.Name, site.Addr(), site.Offset())
			}
		}
	}
	return nil
}

// describeHostile calls Describe of a valid file with a mutant of it. With codeless, it removes the mutant's code, so
// that only the build ID is compared. If Describe accepts the mutant, no function may begin inside a function of the
// valid file.
func describeHostile(seed, path string, data []byte, codeless bool) error {
	b, err := Open(seed)
	if err != nil {
		return err
	}
	defer b.Close()
	if codeless && !dropText(data) {
		return nil
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	sound := slices.Clone(b.Funcs())
	if err := b.Internals().Describe(f, path); err != nil {
		if !strings.HasPrefix(err.Error(), path+": ") {
			return fmt.Errorf("error %q does not begin with the path", err)
		}
		if len(b.Funcs()) != len(sound) {
			return errors.New("functions are lost to a file that was refused")
		}
		return nil
	}
	b.Internals().TypeNamed("time.Time")
	b.Internals().StaticVariable("main.none")
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		at, exact := slices.BinarySearchFunc(sound, f.Addr, func(s Func, addr uint64) int { return cmp.Compare(s.Addr, addr) })
		if !exact && at > 0 && f.Addr < sound[at-1].Addr+sound[at-1].Size {
			return fmt.Errorf("%s begins at %s+%#x", f.Name, sound[at-1].Name, f.Addr-sound[at-1].Addr)
		}
		if i%(1+len(b.Funcs())/200) != 0 {
			continue
		}
		b.Signature(f)
		if _, err := b.Sites(f); err == nil && !b.File().IsCode(f.Addr, f.Addr+f.Size) {
			return fmt.Errorf("%s: %#x+%d is no code", f.Name, f.Addr, f.Size)
		}
	}
	return nil
}

// dropText changes .text to a section without contents, as objcopy --only-keep-debug does. It returns false if the file
// has no such section.
func dropText(data []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return false
	}
	i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".text" })
	if i < 0 {
		return false
	}
	const typeOf, header = 4, 64 // Elf64_Shdr
	table := binary.LittleEndian.Uint64(data[0x28:])
	binary.LittleEndian.PutUint32(data[table+uint64(i)*header+typeOf:], uint32(elf.SHT_NOBITS))
	return true
}

// executable reports whether the program headers put a site into an executable segment that is in the file.
func executable(data []byte, s Site) bool {
	le := binary.LittleEndian
	headers := data[le.Uint64(data[32:]):]
	for range le.Uint16(data[56:]) {
		kind, flags := le.Uint32(headers), le.Uint32(headers[4:])
		off, addr, size := le.Uint64(headers[8:]), le.Uint64(headers[16:]), le.Uint64(headers[32:])
		if kind == 1 && flags&1 != 0 && s.Addr() >= addr && s.Addr()-addr < size && s.Offset() == s.Addr()-addr+off {
			return s.Offset() < uint64(len(data))
		}
		headers = headers[56:]
	}
	return false
}
