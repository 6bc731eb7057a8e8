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

// mutantsVar makes the test process one that reads damaged files: "KIND OF FIRST LAST".
const mutantsVar = "FTGO_TEST_MUTANTS"

// The kinds of damaged files: those of a sound one, and what claims more than it holds, either made of a
// sound one or for a processor, from nothing.
const (
	mutants = "mutants"
	claims  = "claims"
	bloated = "bloated"
)

// TestHostile: of thousands of damaged binaries, and of those that claim more than they hold,
// none makes the reader panic, take more than two seconds of processor time or 256 MiB of
// memory, or return a site outside of the executable segments. FTGO_TEST_LONG=1 tries 200 of each,
// FTGO_TEST_LONG=all 2,000.
func TestHostile(t *testing.T) {
	total := 60
	if fixture.Long() {
		total = 2000
	}
	if fixture.All() {
		total = 20000
	}
	tryMutants(t, total, runtime.GOARCH, []seed{
		{"stripped", mutants, fixture.Current, []string{"-ldflags=-s -w"}},
		{"stripped pie", mutants, fixture.Current, []string{"-buildmode=pie", "-ldflags=-s -w"}},
		{"symbols", mutants, fixture.Current, []string{"-ldflags=-w"}},
		{"debug information", mutants, fixture.Current, []string{"-ldflags=-B 0x00c0ffee"}},
		{"plain debug information", mutants, fixture.Current, []string{"-ldflags=-compressdwarf=false -B 0x00c0ffee"}},
		{"linked by C", mutants, fixture.Current, []string{"-ldflags=-linkmode=external -compressdwarf=false"}},
		{"Go 1.12", mutants, "1.12.17", []string{"-ldflags=-s -w"}},
		{"Go 1.16", mutants, "1.16.15", []string{"-ldflags=-s -w"}},
		{"claims", claims, fixture.Current, []string{"-ldflags=-compressdwarf=false -B 0x00c0ffee"}},
		{"bloated", bloated, "", nil},
	})
}

// TestHostileArm64 does the same with programs for another processor. FTGO_TEST_LONG=all tries 1,000 of each.
func TestHostileArm64(t *testing.T) {
	total := 70
	if fixture.Long() {
		total = 700
	}
	if fixture.All() {
		total = 7000
	}
	tryMutants(t, total, "arm64", []seed{
		{"stripped", mutants, fixture.Current, []string{"-ldflags=-s -w"}},
		{"stripped pie", mutants, fixture.Current, []string{"-buildmode=pie", "-ldflags=-s -w"}},
		{"symbols", mutants, fixture.Current, []string{"-ldflags=-w"}},
		{"debug information", mutants, fixture.Current, []string{"-ldflags=-compressdwarf=false -B 0x00c0ffee"}},
		{"Go 1.17", mutants, "1.17.13", []string{"-ldflags=-w"}},
		{"claims", claims, fixture.Current, []string{"-ldflags=-compressdwarf=false -B 0x00c0ffee"}},
		{"bloated", bloated, "", nil},
	})
}

// seed is a program that damaged files are made of.
type seed struct {
	name, kind, version string
	flags               []string
}

// tryMutants reads mutants of seeds, total ones of all of them.
func tryMutants(t *testing.T, total int, goarch string, seeds []seed) {
	each := total / len(seeds)
	for _, seed := range seeds {
		t.Run(seed.name, func(t *testing.T) {
			path := goarch
			if seed.kind != bloated {
				path = fixture.BuildFor(t, goarch, seed.version, "inlined", seed.flags...)
			}
			var peak int64 // KiB
			for first := 0; first < each; {
				last := min(first+250, each)
				n, use, err := readInChild(seed.kind+" "+path, first, last)
				peak = max(peak, use)
				if err == nil {
					first = last
					continue
				}
				if errors.Is(err, errHangs) {
					// A virtual machine that is stopped for a second looks the same.
					t.Logf("mutant %d: %v, once more", n, err)
					_, _, err = readInChild(seed.kind+" "+path, n, n+1)
				}
				if err != nil {
					t.Errorf("mutant %d of %s: %v", n, path, err)
				}
				first = n + 1
			}
			t.Logf("%d mutants, %d MiB at most", each, peak>>10)
		})
	}
}

var errHangs = errors.New("over two seconds of processor time")

// readInChild reads mutants in a process of its own. It returns the one that the error
// is about, and the most memory that was used, in KiB.
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

// readMutants is what TestHostile's child process does.
func readMutants(job string) error {
	// Private writable mappings, which is what a Go heap is made of (getrlimit(2)).
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
	var deadline atomic.Int64 // of the process's CPU time, which other load does not use up
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
		runtime.GC() // what is left of the one before is not this one's
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

// readHostile asks a file all that there is to ask, of 200 of its functions.
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
		for _, site := range []*Site{s.Check, s.First, s.Again} {
			if site != nil {
				sites = append(sites, *site)
			}
		}
		for _, site := range sites {
			if quantum := uint64(b.File().Processor.Machine().Quantum); !executable(data, site) || site.Addr()%quantum != 0 || site.Offset()%quantum != 0 {
				return fmt.Errorf("%s: site at %#x, file offset %#x", f.Name, site.Addr(), site.Offset())
			}
		}
	}
	return nil
}

// describeHostile has a damaged file describe the one that it was made of, by its code or, without that, by the build
// ID. If it is taken, no function begins inside of one of the sound file.
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

// dropText makes a file one that has debug information alone, as objcopy --only-keep-debug does; not ok of files in
// which no section is .text.
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

// executable tells by the program headers whether a site is in an executable segment,
// and in the file.
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
