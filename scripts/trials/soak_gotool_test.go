package trials

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// workspace is a module and a toolchain that nobody else builds by, so that probes are hit by no other
// builds on this machine, and changes of the module meanwhile make no difference.
type workspace struct{ dir, goroot, module, seed string }

// goTool builds a program of this module by a go tool that has probes on all its functions, and by a
// compiler that has: both must make what they make without.
func (s *soak) goTool() {
	dir := s.TempDir()
	w := workspace{dir, filepath.Join(dir, "goroot"), filepath.Join(dir, "module"), filepath.Join(dir, "seed")}
	check(s, os.MkdirAll(filepath.Join(w.goroot, "pkg"), 0o755))
	for _, name := range []string{"src", "lib", "VERSION", "go.env", "pkg/include"} {
		check(s, os.Symlink(filepath.Join(goroot(s), name), filepath.Join(w.goroot, name)))
	}
	for _, name := range []string{"bin", "pkg/tool"} {
		check(s, os.CopyFS(filepath.Join(w.goroot, name), os.DirFS(filepath.Join(goroot(s), name))))
	}
	_, err := command(s, childLimit, "git", "clone", "-q", ".", w.module).run()
	check(s, err)
	// The standard library is built once, and without probes; what is built on it, each time.
	build := command(s, time.Hour, w.goCommand(), "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "std"), "./testdata/httpd")
	w.uses(build, w.seed)
	_, err = build.run()
	check(s, err)
	for _, c := range []struct{ mode, binary string }{
		{"probe", w.goCommand()}, {"count", filepath.Join(w.goroot, "pkg", "tool", "linux_amd64", "compile")},
	} {
		s.each(result{Package: "cmd/" + filepath.Base(c.binary), Mode: c.mode, Tests: 1}, func(s *soak, r *result) { s.building(r, w, c.binary) })
	}
}

func (w *workspace) goCommand() string { return filepath.Join(w.goroot, "bin", "go") }

// uses has a command build there, with a cache.
func (w *workspace) uses(c *child, cache string) {
	c.Dir = w.module
	c.Env = append(c.Environ(), "GOROOT="+w.goroot, "GOCACHE="+cache)
}

// building notes whether binary builds the same program with probes.
func (s *soak) building(r *result, w workspace, binary string) {
	const target = "./testdata/exact"
	out := filepath.Join(w.dir, "built")
	line := []string{w.goCommand(), "build", "-trimpath", "-buildvcs=false", "-o", out, target}
	cache := func(i int) string {
		name := filepath.Join(w.dir, fmt.Sprint(r.Mode, i))
		check(s, os.CopyFS(name, os.DirFS(w.seed)))
		return name
	}
	plain := command(s, time.Hour, line[0], line[1:]...)
	w.uses(plain, cache(0))
	o, err := plain.run()
	check(s, err)
	r.Without = o.ended.Sub(o.launched).Seconds()
	without, err := os.ReadFile(out)
	check(s, err)

	x := s.probing(r.Mode, binary, append([]string{"--"}, line...)...)
	w.uses(x.child, cache(1))
	check(s, x.begin())
	o, err = x.end()
	r.Seconds = o.ended.Sub(o.launched).Seconds()
	if err != nil {
		r.Crash = err.Error()
		return
	}
	with, err := os.ReadFile(out)
	check(s, err)
	r.add(x.summary)
	if bytes.Equal(without, with) {
		r.Same = 1
	} else {
		r.Differ = []difference{{Test: target, Without: "one program", With: "another"}}
	}
}
