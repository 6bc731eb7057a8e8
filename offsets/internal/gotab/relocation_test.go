package gotab

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestRelocationsNotApplied: where the linker leaves the words that the loader writes
// 0, as LLVM's does, types are the same.
func TestRelocationsNotApplied(t *testing.T) {
	for _, version := range []string{"1.20.14", "1.24.6", "1.26.8", "1.27.4", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			path := buildTypes(t, version, "-buildmode=pie")
			applied := openPath(t, path)
			data, err := os.ReadFile(path)
			fixture.NoError(t, err)
			count := 0
			for _, of := range applied.image.ELF.Sections {
				if of.Type != elf.SHT_RELA {
					continue
				}
				list, err := of.Data()
				fixture.NoError(t, err)
				for ; len(list) >= 24; list = list[24:] {
					addr := binary.LittleEndian.Uint64(list)
					for _, p := range applied.image.ELF.Progs {
						if at := addr - p.Vaddr; addr >= p.Vaddr && at < p.Filesz && list[8] == byte(elf.R_X86_64_RELATIVE) {
							binary.LittleEndian.PutUint64(data[p.Off+at:], 0)
							count++
						}
					}
				}
			}
			if count < 1000 {
				t.Fatalf("only %d relocations", count)
			}
			zeros := filepath.Join(t.TempDir(), "zeros")
			fixture.NoError(t, os.WriteFile(zeros, data, 0o755))
			out, err := exec.Command(zeros).Output()
			fixture.NoError(t, err)
			if n := compareReflect(t, openPath(t, zeros), string(out)); n["field"] < 60 {
				t.Errorf("compared only %v", n)
			}
		})
	}
}

// TestPluginRelocations: a plugin's words refer to its symbols.
func TestPluginRelocations(t *testing.T) {
	b := openPath(t, buildTypes(t, fixture.Current, "-buildmode=plugin"))
	types, err := b.types()
	fixture.NoError(t, err)
	for addr := types.start; addr < types.end; addr += 8 {
		typ, err := b.RuntimeType(addr)
		if err != nil || typ.Name != "*net.OpError" {
			continue
		}
		var got strings.Builder
		for _, f := range typ.Elem().Fields {
			got.WriteString(f.Name + " " + f.Type.Name + "; ")
		}
		if want := "Op string; Net string; Source net.Addr; Addr net.Addr; Err error; "; got.String() != want {
			t.Errorf("fields %s, want %s", got.String(), want)
		}
		return
	}
	t.Error("no type *net.OpError")
}
