package amd64

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// function is one symbol of a binary with its bytes.
type function struct {
	name string
	addr uint64
	code []byte
}

// functions reads the functions of an ELF file in order of address, one for each
// address.
func functions(t testing.TB, path string) []function {
	t.Helper()
	f, err := elf.Open(path)
	fixture.NoError(t, err)
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		if syms, err = f.DynamicSymbols(); err != nil {
			t.Fatalf("read symbols of %s: %v", path, err)
		}
	}
	text := map[elf.SectionIndex][]byte{}
	byAddr := map[uint64]function{}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		if sec.Type != elf.SHT_PROGBITS || sec.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if text[s.Section] == nil {
			if text[s.Section], err = sec.Data(); err != nil {
				t.Fatal(err)
			}
		}
		from := s.Value - sec.Addr
		if from+s.Size > uint64(len(text[s.Section])) {
			continue
		}
		if old, ok := byAddr[s.Value]; ok && uint64(len(old.code)) >= s.Size {
			continue
		}
		byAddr[s.Value] = function{s.Name, s.Value, text[s.Section][from : from+s.Size]}
	}
	if len(byAddr) == 0 {
		t.Fatalf("no functions in %s", path)
	}
	fns := make([]function, 0, len(byAddr))
	for _, fn := range byAddr {
		fns = append(fns, fn)
	}
	sort.Slice(fns, func(i, j int) bool { return fns[i].addr < fns[j].addr })
	return fns
}

// goTool is the path of the go command that runs the tests.
func goTool(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("no go command in PATH: %v", err)
	}
	out, err := exec.Command(path, "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bin", "go")
}

// corpus is the real code the decoder is tried on; what the machine lacks is left
// out, but the go command itself is always there.
func corpus(t testing.TB) []string {
	t.Helper()
	tool := goTool(t)
	paths := []string{tool}
	compile, err := exec.Command(tool, "tool", "-n", "compile").Output()
	if err != nil {
		t.Fatalf("go tool -n compile: %v", err)
	}
	paths = append(paths, strings.TrimSpace(string(compile)))
	for _, lib := range []string{"libc.so.6", "libcrypto.so.3", "libstdc++.so.6"} {
		for _, dir := range []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"} {
			if path := filepath.Join(dir, lib); exists(path) {
				paths = append(paths, path)
				break
			}
		}
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
