package target

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
)

// Find finds the file that BINARY refers to. A name with a slash, or the name of a file in the current folder, is the
// path of the file. If pid is not 0, any other name is a library that the process has mapped. The name is the library's
// full name, or the name without the version ("libgo"). If pid is 0, any other name is the library that the dynamic
// loader would load, or a program in $PATH.
//
// Find returns a mapped library open, because the path of a mapped library may lead to another file by now. Such a path is
// only for messages. For other files, Find returns a nil file.
func Find(name string, pid int) (path string, file *os.File, err error) {
	machine := new(arch.Machine) // on other processors, it is not known in which folders the loader searches
	if host := arch.Here(); host != nil {
		machine = host.Machine()
	}
	return findBelow("/", machine, name, pid)
}

// findBelow is Find with another root of the file system, and for another machine.
func findBelow(root string, machine *arch.Machine, name string, pid int) (path string, file *os.File, err error) {
	if strings.Contains(name, "/") {
		return name, nil, nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name, nil, nil
	}
	if pid > 0 {
		return findMapped(name, pid, filepath.Join(root, "proc", fmt.Sprint(pid)))
	}
	path, err = installed(root, machine, name)
	if path != "" || err != nil {
		return path, nil, err
	}
	path, err = exec.LookPath(name)
	if err != nil {
		return "", nil, fmt.Errorf("find %q: no such file here, no library that the loader knows, no program in $PATH", name)
	}
	return path, nil, nil
}

// installed finds a library. It searches in the order of the loader (ld.so(8)): LD_LIBRARY_PATH, the cache, the system's
// folders. It does not know the DT_RUNPATH of a program. It returns "" if it does not find the library.
func installed(root string, machine *arch.Machine, name string) (path string, err error) {
	var places [][]string
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		places = append(places, sharedIn(root, dir))
	}
	places = append(places, cached(root, machine))
	for _, dir := range slices.Concat(machine.Libraries, []string{"lib", "usr/lib"}) {
		places = append(places, sharedIn(root, dir))
	}
	canonical := func(path string) string {
		file, _ := filepath.EvalSymlinks(path)
		return cmp.Or(file, path)
	}
	for _, paths := range places {
		if path, err = chooseLibrary(name, paths, canonical); path != "" || err != nil {
			break
		}
	}
	return path, err
}

// sharedIn lists the files in a folder that look like libraries.
func sharedIn(root, dir string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Join(root, dir)) // a missing folder has no libraries
	for _, e := range entries {
		path := filepath.Join(root, dir, e.Name())
		// NAME.so may be a linker script.
		if e.Type()&^fs.ModeSymlink == 0 && strings.Contains(e.Name(), ".so") && isELF(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.Read(magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}

// match reports whether the last element of path is name, or name and an ending like .so, .so.6 or -2.31.so. A name with .so
// may also have an ending like .6. It returns the ending as version.
func match(name, path string) (version string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(path), name)
	versioned := strings.HasPrefix(rest, ".so") || strings.Contains(name, ".so") && strings.HasPrefix(rest, ".") ||
		strings.HasPrefix(rest, "-") && strings.Contains(rest, ".so")
	return rest, ok && (rest == "" || versioned)
}

// chooseLibrary returns the path of the file with the name. Without such a file, it returns the path of the file with the
// name and a version. It returns "" if no file matches, and an error if several files match. identity returns the
// same text for all paths that lead to the same file.
func chooseLibrary(name string, paths []string, identity func(path string) string) (string, error) {
	for _, exact := range []bool{true, false} {
		found := make(map[string]string) // the path of each identity
		for _, path := range paths {
			version, ok := match(name, path)
			if !ok || exact != (version == "") {
				continue
			}
			if id := identity(path); found[id] == "" {
				found[id] = path
			}
		}
		switch paths := slices.Sorted(maps.Values(found)); len(paths) {
		case 0:
			continue
		case 1:
			return paths[0], nil
		default:
			return "", fmt.Errorf("find %q: several libraries: %s", name, strings.Join(paths, ", "))
		}
	}
	return "", nil
}

// cached lists the libraries in the loader's cache.
func cached(root string, machine *arch.Machine) []string {
	data, err := os.ReadFile(filepath.Join(root, "etc/ld.so.cache"))
	if err != nil {
		return nil
	}
	paths := parseLoaderCache(data, machine.LibraryFlags)
	for i := range paths {
		paths[i] = filepath.Join(root, paths[i])
	}
	return paths
}

// parseLoaderCache parses /etc/ld.so.cache. It returns the paths of the libraries with the flags, in the order of the
// file. The format is the format of glibc 2.2 and later (struct cache_file_new in sysdeps/generic/dl-cache.h): a header of
// 48 bytes, 24 bytes for each library, strings. Up to glibc 2.31, ldconfig wrote data in an older format before the header.
func parseLoaderCache(data []byte, flags uint32) (paths []string) {
	const headerLen, countAt = 48, 20
	start := bytes.Index(data, []byte("glibc-ld.so.cache1.1"))
	if start < 0 || len(data)-start < headerLen {
		return nil
	}
	data = data[start:]
	type entry struct {
		Flags, Key, Path, OSVersion uint32
		HWCap                       uint64
	}
	n := binary.LittleEndian.Uint32(data[countAt:])
	if uint64(n) > uint64(len(data)-headerLen)/uint64(binary.Size(entry{})) {
		return nil
	}
	entries := make([]entry, n)
	_, _ = binary.Decode(data[headerLen:], binary.LittleEndian, entries) // the length was checked
	for _, e := range entries {
		if e.Flags != flags || uint64(e.Path) >= uint64(len(data)) {
			continue
		}
		if path, _, ended := bytes.Cut(data[e.Path:], []byte{0}); ended && len(path) > 0 {
			paths = append(paths, string(path))
		}
	}
	return paths
}
