package loader

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeRoot is a file system with a process 7 and a cache of the loader.
func fakeRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"opt/app/libapp.so.1", "opt/app/libc.so.6",
		"lib64/libold.so.2", "lib64/libscript.so", "lib64/libtwo.so.1", "lib64/libtwo.so.2",
		"usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libgo.so.21.0.0",
		"srv/libssl.so.1.1", "srv/libssl.so.3",
		"srv/libhw.so.1", "srv/hwcaps/libhw.so.1",
	} {
		text := "\x7fELF of " + name
		if strings.Contains(name, "script") {
			text = "/* GNU ld script */"
		}
		write(t, filepath.Join(root, name), text)
	}
	if err := os.Symlink("libgo.so.21.0.0", filepath.Join(root, "usr/lib/x86_64-linux-gnu/libgo.so.21")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "etc/ld.so.cache"), string(loaderCache(
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libgo.so.21", "/srv/libssl.so.1.1", "/srv/libssl.so.3",
		"/srv/hwcaps/libhw.so.1", "/srv/libhw.so.1")))
	lib := filepath.Join(root, "proc/7/root/usr/lib/x86_64-linux-gnu")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("libc-2.31.so", filepath.Join(lib, "libc.so.6")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "proc/7/maps"), strings.Join([]string{
		"55d0-55d1 r--p 00000000 fe:00 11 /srv/my app/server",
		"55d1-55d2 r-xp 00001000 fe:00 11 /srv/my app/server",
		"7f00-7f01 r-xp 00022000 fe:00 12 /usr/lib/x86_64-linux-gnu/libc-2.31.so",
		"7f10-7f11 r-xp 00022000 fe:00 13 /usr/lib/x86_64-linux-gnu/libgo.so.21.0.0",
		"7f12-7f13 r-xp 00042000 fe:00 13 /usr/lib/x86_64-linux-gnu/libgo.so.21.0.0",
		"7f20-7f21 r-xp 00022000 fe:00 14 /usr/lib/libgone.so.1 (deleted)",
		"7f30-7f31 r-xp 00022000 fe:00 15 /a/libtwice.so.1",
		"7f40-7f41 r-xp 00022000 fe:00 16 /b/libtwice.so.2",
		"7f50-7f51 r--p 00022000 fe:00 17 /b/libdata.so.2",
		"7ffe-7fff r-xp 00000000 00:00 0 [vdso]",
		"",
	}, "\n"))
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loaderCache is an /etc/ld.so.cache with these libraries, and one for 32 bits.
func loaderCache(paths ...string) []byte {
	paths = append(paths, "/usr/lib32/libonly32.so.1")
	le := binary.LittleEndian
	cache := append([]byte("glibc-ld.so.cache1.1"), make([]byte, 28)...)
	le.PutUint32(cache[20:], uint32(len(paths)))
	var strs []byte
	at := len(cache) + 24*len(paths)
	for _, p := range paths {
		flags := uint32(0x0303)
		if strings.Contains(p, "32") {
			flags = 0x0003
		}
		entry := make([]byte, 24)
		le.PutUint32(entry, flags)
		le.PutUint32(entry[4:], uint32(at+len(strs)+strings.LastIndex(p, "/")+1))
		le.PutUint32(entry[8:], uint32(at+len(strs)))
		cache = append(cache, entry...)
		strs = append(append(strs, p...), 0)
	}
	return append(cache, strs...)
}

func TestFind(t *testing.T) {
	root := fakeRoot(t)
	t.Chdir(t.TempDir())
	write(t, "here", "\x7fELF")
	write(t, "bin/program", "#!/bin/sh\n")
	if err := os.Chmod("bin/program", 0o755); err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for _, c := range []struct {
		scenario, name, path string
		pid                  int
		want, err            string // want is below the root, unless it is the name
	}{
		{scenario: "path", name: "./nothing", want: "./nothing"},
		{scenario: "path with a process", name: "/lib/libc.so.6", pid: 7, want: "/lib/libc.so.6"},
		{scenario: "file here", name: "here", want: "here"},
		{scenario: "in the cache", name: "libc.so.6", want: "usr/lib/x86_64-linux-gnu/libc.so.6"},
		{scenario: "without version", name: "libc", want: "usr/lib/x86_64-linux-gnu/libc.so.6"},
		{scenario: "with half a version", name: "libgo.so", want: "usr/lib/x86_64-linux-gnu/libgo.so.21"},
		{scenario: "without lib", name: "c", err: "no such file here"},
		{scenario: "beginning of a name", name: "lib", err: "no such file here"},
		{scenario: "several versions", name: "libssl", err: "/srv/libssl.so.3"},
		{scenario: "one of several versions", name: "libssl.so.3", want: "srv/libssl.so.3"},
		{scenario: "several for different processors", name: "libhw.so.1", err: "several libraries"},
		{scenario: "for 32 bits only", name: "libonly32.so.1", err: "no such file here"},
		{scenario: "not in the cache", name: "libold", want: "lib64/libold.so.2"},
		{scenario: "several in a folder", name: "libtwo", err: "lib64/libtwo.so.2"},
		{scenario: "linker script", name: "libscript.so", err: "no such file here"},
		{scenario: "LD_LIBRARY_PATH", name: "libapp", path: "/none:/opt/app", want: "opt/app/libapp.so.1"},
		{scenario: "LD_LIBRARY_PATH comes first", name: "libc.so.6", path: "/opt/app", want: "opt/app/libc.so.6"},
		{scenario: "program", name: "program", want: bin + "/program"},
		{scenario: "mapped", name: "libgo.so.21.0.0", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0"},
		{scenario: "mapped, without version", name: "libgo", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0"},
		{scenario: "mapped, version behind a hyphen", name: "libc", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libc-2.31.so"},
		{scenario: "mapped, by the beginning of its version", name: "libgo.so.21", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libgo.so.21.0.0"},
		{scenario: "mapped, by a link to it", name: "libc.so.6", pid: 7, want: "proc/7/root/usr/lib/x86_64-linux-gnu/libc-2.31.so"},
		{scenario: "mapped, then deleted", name: "libgone", pid: 7, want: "proc/7/map_files/7f20-7f21"},
		{scenario: "mapped executable", name: "server", pid: 7, want: "proc/7/root/srv/my app/server"},
		{scenario: "mapped twice", name: "libtwice", pid: 7, err: "/a/libtwice.so.1, /b/libtwice.so.2"},
		{scenario: "mapped without code", name: "libdata", pid: 7, err: "process 7 has no such file mapped"},
		{scenario: "not mapped", name: "libold", pid: 7, err: "process 7 has no such file mapped"},
		{scenario: "no process", name: "libc", pid: 8, err: "process 8"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			got, err := libraries{root: root, path: c.path}.resolve(c.name, c.pid)
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

// TestFindHere asks for the C library of this very machine.
func TestFindHere(t *testing.T) {
	t.Chdir(t.TempDir())
	path, err := Find("libc.so.6", 0)
	if err != nil {
		t.Skipf("no glibc: %v", err)
	}
	if !isELF(path) {
		t.Errorf("%s is no ELF file", path)
	}
}

func FuzzLoaderCache(f *testing.F) {
	f.Add(loaderCache("/lib/libc.so.6", "/lib/libm.so.6"))
	f.Add([]byte("glibc-ld.so.cache1.1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range parseLoaderCache(data) {
			if p == "" || strings.Contains(p, "\x00") {
				t.Errorf("path %q", p)
			}
		}
	})
}
