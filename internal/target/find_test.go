package target

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// fakeRoot returns the root of a file system with a process 7 and a cache of the loader.
func fakeRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"opt/app/libapp.so.1", "opt/app/libc.so.6",
		"lib64/libold.so.2", "lib64/libscript.so", "lib64/libtwo.so.1", "lib64/libtwo.so.2",
		"usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libgo.so.21.0.0",
		"srv/libssl.so.1.1", "srv/libssl.so.3",
		"srv/libhw.so.1", "srv/hwcaps/libhw.so.1", "srv/libforeign.so.1",
	} {
		text := header(elf.EM_X86_64)
		switch {
		case strings.Contains(name, "script"):
			text = "/* GNU ld script */"
		case strings.Contains(name, "foreign"):
			text = header(elf.EM_AARCH64)
		}
		fixture.Write(t, filepath.Join(root, name), text)
	}
	fixture.NoError(t, os.Symlink("libgo.so.21.0.0", filepath.Join(root, "usr/lib/x86_64-linux-gnu/libgo.so.21")))
	fixture.Write(t, filepath.Join(root, "etc/ld.so.cache"), string(loaderCache(
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libgo.so.21", "/srv/libssl.so.1.1", "/srv/libssl.so.3",
		"/srv/hwcaps/libhw.so.1", "/srv/libhw.so.1", "/srv/libforeign.so.1")))
	mapped := processes{t, root}
	mapped.executes("0055d1-0055d2", "11", "/srv/my app/server")
	mapped.executes("7f00-7f01", "12", "/usr/lib/x86_64-linux-gnu/libc-2.31.so")
	mapped.executes("7f10-7f11", "13", "/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0")
	mapped.executes("7f12-7f13", "13", "/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0")
	mapped.executes("7f20-7f21", "14", "/usr/lib/libgone.so.1 (deleted)")
	mapped.executes("7f30-7f31", "15", "/a/libtwice.so.1")
	mapped.executes("7f40-7f41", "16", "/b/libtwice.so.2")
	mapped.executes("7f60-7f61", "18", "/evil/libline.so.\n1")
	mapped.line("7f50-7f51 r--p 00022000 fe:00 17 /b/libdata.so.2")
	mapped.line("7ffe-7fff r-xp 00000000 00:00 0 [vdso]")
	// The path that the kernel's spelling of the newline names.
	fixture.Write(t, filepath.Join(root, `proc/7/root/evil/libline.so.\0121`), "another file")
	return root
}

// processes adds mappings to process 7.
type processes struct {
	t    *testing.T
	root string
}

// executes adds a file and its link in map_files.
func (p processes) executes(span, inode, path string) {
	p.t.Helper()
	file := filepath.Join(p.root, "proc/7/root", path)
	fixture.Write(p.t, file, path)
	link := filepath.Join(p.root, "proc/7/map_files", strings.ReplaceAll(strings.TrimLeft(span, "0"), "-00", "-"))
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(file, link)); err != nil {
		p.t.Fatal(err)
	}
	p.line(fmt.Sprintf("%s r-xp 00001000 fe:00 %s %s", span, inode, strings.ReplaceAll(path, "\n", `\012`)))
}

func (p processes) line(text string) {
	p.t.Helper()
	maps, err := os.OpenFile(filepath.Join(p.root, "proc/7/maps"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	defer maps.Close()
	if _, err := fmt.Fprintln(maps, text); err != nil {
		p.t.Fatal(err)
	}
}

// header returns the ELF header of a file for a processor.
func header(machine elf.Machine) string {
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT)}
	copy(h.Ident[:], append([]byte(elf.ELFMAG), byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)))
	text, _ := binary.Append(nil, binary.LittleEndian, h)
	return string(text)
}

// loaderCache returns an /etc/ld.so.cache with these libraries.
func loaderCache(paths ...string) []byte {
	return []byte("glibc-ld.so.cache1.1\x02\x00\x00/\x00\x03\x03\x00" + strings.Join(paths, "\x00") + "\x00")
}

func TestFind(t *testing.T) {
	root := fakeRoot(t)
	t.Chdir(t.TempDir())
	fixture.Write(t, "here", "\x7fELF")
	fixture.Write(t, "bin/program", "#!/bin/sh\n")
	fixture.NoError(t, os.Chmod("bin/program", 0o755))
	bin, err := filepath.Abs("bin")
	fixture.NoError(t, err)
	t.Setenv("PATH", bin)
	for _, c := range []struct {
		scenario, name, path string
		pid                  int
		want, err            string // want is below the root, unless it is the name
	}{
		{scenario: "path", name: "./nothing", want: "./nothing"},
		{scenario: "file here", name: "here", want: "here"},
		{scenario: "in the cache", name: "libc.so.6", want: "usr/lib/x86_64-linux-gnu/libc.so.6"},
		{scenario: "without version", name: "libc", want: "usr/lib/x86_64-linux-gnu/libc.so.6"},
		{scenario: "without lib", name: "c", err: "no such file here"},
		{scenario: "several versions", name: "libssl", err: "/srv/libssl.so.3"},
		{scenario: "several for different processors", name: "libhw.so.1", err: "several libraries"},
		{scenario: "for another processor", name: "libforeign.so.1", err: "no such file here"},
		{scenario: "not in the cache", name: "libold", want: "lib64/libold.so.2"},
		{scenario: "linker script", name: "libscript.so", err: "no such file here"},
		{scenario: "LD_LIBRARY_PATH", name: "libapp", path: "/none:/opt/app", want: "opt/app/libapp.so.1"},
		{scenario: "LD_LIBRARY_PATH comes first", name: "libc.so.6", path: "/opt/app", want: "opt/app/libc.so.6"},
		{scenario: "program", name: "program", want: bin + "/program"},
		{scenario: "mapped", name: "libgo.so.21.0.0", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0"},
		{scenario: "mapped, version behind a hyphen", name: "libc", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libc-2.31.so"},
		{scenario: "mapped, by the beginning of its version", name: "libgo.so.21", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0"},
		{scenario: "mapped, then deleted", name: "libgone", pid: 7, want: "proc/7/map_files/7f20-7f21"},
		{scenario: "mapped, with a newline", name: "libline", pid: 7, want: "proc/7/root/evil/libline.so.\n1"},
		{scenario: "mapped executable", name: "server", pid: 7, want: "proc/7/root/srv/my app/server"},
		{scenario: "mapped twice", name: "libtwice", pid: 7, err: "/b/libtwice.so.2"},
		{scenario: "mapped without code", name: "libdata", pid: 7, err: "process 7 has no such file mapped"},
		{scenario: "not mapped", name: "libold", pid: 7, err: "process 7 has no such file mapped"},
		{scenario: "no process", name: "libc", pid: 8, err: "process 8"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			t.Setenv("LD_LIBRARY_PATH", c.path)
			got, file, err := findBelow(root, amd64.Processor.Machine(), c.name, c.pid)
			defer file.Close() // may be nil
			if mapped := c.pid > 0 && c.err == "" && !strings.Contains(c.name, "/"); mapped != (file != nil) {
				t.Fatalf("file %v", file)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %q, error %v, want one with %q", got, err, c.err)
				}
				return
			}
			want := c.want
			if want != c.name && !filepath.IsAbs(want) {
				want = filepath.Join(root, want)
			}
			if err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

// TestMappedWithoutLink checks that, without a link in map_files, the file is opened by its path below the process's root,
// and only if it is the mapped file.
func TestMappedWithoutLink(t *testing.T) {
	root := t.TempDir()
	p := processes{t, root}
	inside := filepath.Join(root, "proc/7/root")
	fixture.Write(t, filepath.Join(inside, "lib/libreal.so"), "the mapped one")
	fixture.Write(t, filepath.Join(inside, "lib/libother.so"), "another one")
	// An absolute link of a container, which leads nowhere on the outside.
	fixture.NoError(t, os.Symlink("/lib", filepath.Join(inside, "usr")))
	f, err := os.Open(filepath.Join(inside, "lib/libreal.so"))
	fixture.NoError(t, err)
	defer f.Close()
	id := identity(f)
	for i, path := range []string{"/lib/libreal.so", "/usr/libreal.so", "/lib/libother.so", "/lib/libnone.so"} {
		fixture.NoError(t, os.RemoveAll(filepath.Join(root, "proc/7/maps")))
		p.line("7f00-7f01 r-xp 00000000 " + id + " " + path)
		_, file, err := findBelow(root, amd64.Processor.Machine(), filepath.Base(path), 7)
		if right := i < 2; right != (err == nil) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil && identity(file) != id {
			t.Errorf("%s: another file was opened", path)
		}
		file.Close() // may be nil
	}
}

func FuzzLoaderCache(f *testing.F) {
	f.Add(loaderCache("/lib/libc.so.6", "/lib/libm.so.6"))
	f.Add([]byte("glibc-ld.so.cache1.1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range cachedPaths("/", data) {
			if p == "" || strings.Contains(p, "\x00") {
				t.Errorf("path %q", p)
			}
		}
	})
}
