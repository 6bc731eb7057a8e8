package target

import (
	"debug/elf"
	"fmt"
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
		places = append(places, filesIn(root, dir))
	}
	cache, _ := os.ReadFile(filepath.Join(root, "etc/ld.so.cache")) // empty without a cache
	places = append(places, cachedPaths(root, cache))
	for _, dir := range slices.Concat(machine.Libraries, []string{"lib", "usr/lib"}) {
		places = append(places, filesIn(root, dir))
	}
	canonical := func(path string) string {
		file, err := filepath.EvalSymlinks(path)
		if err != nil || !strings.Contains(filepath.Base(path), ".so") || !isFor(machine, path) {
			return ""
		}
		return file
	}
	for _, paths := range places {
		if path, err = chooseLibrary(name, paths, canonical); path != "" || err != nil {
			break
		}
	}
	return path, err
}

// filesIn lists the files in a folder.
func filesIn(root, dir string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Join(root, dir)) // a missing folder has no libraries
	for _, e := range entries {
		paths = append(paths, filepath.Join(root, dir, e.Name()))
	}
	return paths
}

// cachedPaths lists the paths in the loader's cache, in which each string ends with a zero.
func cachedPaths(root string, cache []byte) (paths []string) {
	for text := range strings.SplitSeq(string(cache), "\x00") {
		if at := strings.IndexByte(text, '/'); at >= 0 { // a number may precede the first string
			paths = append(paths, filepath.Join(root, text[at:]))
		}
	}
	return paths
}

// isFor reports whether a file is an ELF file for a machine. NAME.so may also be a linker script.
func isFor(machine *arch.Machine, path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Machine == machine.ELF && f.Class == elf.ELFCLASS64
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
// same text for all paths that lead to the same file, and "" for a path to ignore.
func chooseLibrary(name string, paths []string, identity func(path string) string) (string, error) {
	for _, exact := range []bool{true, false} {
		found := make(map[string]string) // the path of each identity
		for _, path := range paths {
			version, ok := match(name, path)
			if !ok || exact != (version == "") {
				continue
			}
			if id := identity(path); id != "" && found[id] == "" {
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
