// Package loader finds files by the names that people know them by, as the dynamic loader does.
package loader

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Find finds the file that BINARY means. A path, or a name that is a file,
// is taken at its word. Any other name is, with a process, the library that the
// process has mapped, under its name there or without its version ("libgo");
// otherwise the library that the dynamic loader would give a program, or a program
// in $PATH.
func Find(name string, pid int) (string, error) {
	return libraries{root: "/", path: os.Getenv("LD_LIBRARY_PATH")}.resolve(name, pid)
}

// libraries is where the files are that programs are linked with.
type libraries struct {
	root string // of the file system
	path string // LD_LIBRARY_PATH
}

func (l libraries) resolve(name string, pid int) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name, nil
	}
	if pid > 0 {
		return l.mapped(name, pid)
	}
	path, err := l.installed(name)
	if path != "" || err != nil {
		return path, err
	}
	path, err = exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find %q: no such file here, no library that the loader knows, no program in $PATH", name)
	}
	return path, nil
}

// mapped finds the file among those that a process executes.
func (l libraries) mapped(name string, pid int) (string, error) {
	proc := filepath.Join(l.root, "proc", fmt.Sprint(pid))
	maps, err := os.ReadFile(filepath.Join(proc, "maps"))
	if err != nil {
		return "", fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	where := make(map[string]string) // by path as the process sees it
	for line := range strings.Lines(string(maps)) {
		// START-END PERM OFFSET DEV INODE PATH (proc_pid_maps(5)).
		at := strings.IndexByte(line, '/')
		if f := strings.Fields(line); at < 0 || len(f) < 6 || !strings.Contains(f[1], "x") {
			continue
		}
		path := strings.TrimSuffix(line[at:], "\n")
		if kept, deleted := strings.CutSuffix(path, " (deleted)"); deleted {
			// The file has been replaced; the process has the old one.
			span, _, _ := strings.Cut(line, " ")
			where[kept] = filepath.Join(proc, "map_files", span)
		} else {
			where[path] = filepath.Join(proc, "root", path)
		}
	}
	var paths []string
	for path := range where {
		paths = append(paths, path)
	}
	path, err := choose(name, paths)
	if err != nil {
		return "", err
	}
	if path != "" {
		return where[path], nil
	}
	// Its name may be a link to the file: libc.so.6 to libc-2.31.so.
	for path, file := range where {
		link := filepath.Join(proc, "root", filepath.Dir(path), name)
		if to, err := os.Readlink(link); err == nil && filepath.Base(to) == filepath.Base(path) {
			return file, nil
		}
	}
	return "", fmt.Errorf("find %q: process %d has no such file mapped", name, pid)
}

// systemDirs are the folders that the loader knows by itself, Debian's first.
var systemDirs = []string{
	"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib",
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
	for _, dir := range systemDirs {
		places = append(places, sharedIn(filepath.Join(l.root, dir)))
	}
	for _, paths := range places {
		if path, err := choose(name, paths); path != "" || err != nil {
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

// choose picks the file of that name, else the one whose name goes on with a version. It
// is "" if there is none, an error if there are several.
func choose(name string, paths []string) (string, error) {
	var found [2][]string // by name, by name and version
	seen := make(map[string]bool)
	for _, path := range paths {
		rest, ok := strings.CutPrefix(filepath.Base(path), name)
		versioned := strings.HasPrefix(rest, ".so") || strings.Contains(name, ".so") && strings.HasPrefix(rest, ".") ||
			strings.HasPrefix(rest, "-") && strings.Contains(rest, ".so")
		if !ok || rest != "" && !versioned {
			continue
		}
		file, err := filepath.EvalSymlinks(path)
		if err != nil {
			file = path
		}
		kind := min(len(rest), 1)
		if key := fmt.Sprint(kind, file); !seen[key] {
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
