// Package loader finds files by the names that people know them by, as the dynamic loader does.
package loader

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/processors"
	"github.com/ftgo/ftgo/offsets/arch"
)

// Find finds the file that BINARY means. A path, or a name that is a file,
// is taken at its word. Any other name is, with a process, the library that the
// process has mapped, under its name there or without its version ("libgo");
// otherwise the library that the dynamic loader would give a program, or a program
// in $PATH.
//
// What a process has mapped is open already: its path is what people are told, and may name
// another file. Any other file is nil.
func Find(name string, pid int) (path string, file *os.File, err error) {
	l := libraries{root: "/", path: os.Getenv("LD_LIBRARY_PATH")}
	// Of another processor no folder is known.
	if host := processors.Find(func(p arch.Processor) bool { return p.Machine().GOARCH == runtime.GOARCH }); host != nil {
		l.machine = *host.Machine()
	}
	return l.resolve(name, pid)
}

// libraries is where the files are that programs are linked with.
type libraries struct {
	root string // of the file system
	path string // LD_LIBRARY_PATH
	// machine has the folders of its own.
	machine arch.Machine
}

func (l libraries) resolve(name string, pid int) (path string, file *os.File, err error) {
	if strings.Contains(name, "/") {
		return name, nil, nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name, nil, nil
	}
	if pid > 0 {
		return memory{filepath.Join(l.root, "proc", fmt.Sprint(pid)), pid}.find(name)
	}
	path, err = l.installed(name)
	if path != "" || err != nil {
		return path, nil, err
	}
	path, err = exec.LookPath(name)
	if err != nil {
		return "", nil, fmt.Errorf("find %q: no such file here, no library that the loader knows, no program in $PATH", name)
	}
	return path, nil, nil
}

// systemDirs are the folders that the loader knows by itself.
func (l libraries) systemDirs() []string {
	return slices.Concat(l.machine.Libraries, []string{"lib", "usr/lib"})
}

// installed finds a library in the loader's order (ld.so(8)): LD_LIBRARY_PATH, the
// cache, the system's folders. What a program adds by DT_RUNPATH is not known here.
// It is "" if there is none.
func (l libraries) installed(name string) (string, error) {
	places := make([][]string, 0, 8)
	for _, dir := range filepath.SplitList(l.path) {
		places = append(places, sharedIn(filepath.Join(l.root, dir)))
	}
	places = append(places, l.cached())
	for _, dir := range l.systemDirs() {
		places = append(places, sharedIn(filepath.Join(l.root, dir)))
	}
	for _, paths := range places {
		if path, err := choose(name, paths, canonical); path != "" || err != nil {
			return path, err
		}
	}
	return "", nil
}

// sharedIn lists the files in a folder that look like libraries.
func sharedIn(dir string) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		// NAME.so may be a text for the linker.
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

// canonical is the name that all of a file's symbolic links lead to.
func canonical(path string) string {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return file
}

// match tells whether a file goes by a name, and what follows of its own: a version.
func match(name, path string) (version string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(path), name)
	versioned := strings.HasPrefix(rest, ".so") || strings.Contains(name, ".so") && strings.HasPrefix(rest, ".") ||
		strings.HasPrefix(rest, "-") && strings.Contains(rest, ".so")
	return rest, ok && (rest == "" || versioned)
}

// choose picks the file of that name, else the one whose name goes on with a version. It
// is "" if there is none, an error if there are several; identity is the same for paths of
// one file.
func choose(name string, paths []string, identity func(path string) string) (string, error) {
	var found [2][]string // by name, by name and version
	seen := make(map[string]bool)
	for _, path := range paths {
		version, ok := match(name, path)
		if !ok {
			continue
		}
		kind := min(len(version), 1)
		if key := fmt.Sprint(kind, identity(path)); !seen[key] {
			seen[key] = true
			found[kind] = append(found[kind], path)
		}
	}
	for _, paths := range found {
		switch len(paths) {
		case 0:
			continue
		case 1:
			return paths[0], nil
		}
		slices.Sort(paths)
		return "", fmt.Errorf("find %q: several libraries: %s", name, strings.Join(paths, ", "))
	}
	return "", nil
}
