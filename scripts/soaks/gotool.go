package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// goTool builds a program of this module by a go tool that has probes on all its functions, and by a
// compiler that has: both must make what they make without.
func (s *soak) goTool(ctx context.Context) error {
	dir, err := os.MkdirTemp(s.state, "go-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	goroot := filepath.Join(dir, "goroot")
	if err := ownGoroot(ctx, goroot); err != nil {
		return err
	}
	// The module is a copy: changes of this one's files, meanwhile, make no difference.
	if err := command(ctx, "git", "clone", "-q", ".", moduleOf(goroot)).Run(); err != nil {
		return fmt.Errorf("clone module: %w", err)
	}
	// The standard library is built once, and without probes; what is built on it, each time.
	seed := filepath.Join(dir, "seed")
	if err := building(ctx, goroot, seed, nil, filepath.Join(dir, "std"), "./testdata/httpd"); err != nil {
		return err
	}
	for _, c := range []struct{ mode, binary, target string }{
		{"probe", filepath.Join(goroot, "bin", "go"), "./testdata/exact"},
		{"count", filepath.Join(goroot, "pkg", "tool", "linux_amd64", "compile"), "./testdata/exact"},
	} {
		r := result{Package: "cmd/" + filepath.Base(c.binary), Mode: c.mode, Commit: s.commit, Tests: 1}
		fmt.Fprintf(os.Stderr, "%s %s %s\n", time.Now().Format(time.TimeOnly), c.mode, r.Package)
		if err := s.building(ctx, &r, goroot, seed, c.binary, c.target); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "  %s\n", r.text())
		if err := s.save(&r); err != nil {
			return err
		}
	}
	return nil
}

func moduleOf(goroot string) string { return filepath.Join(filepath.Dir(goroot), "module") }

// ownGoroot makes a GOROOT with a go tool and a compiler of its own, so that probes on them are not
// hit by other builds on this machine.
func ownGoroot(ctx context.Context, dir string) error {
	goroot, err := goEnv(ctx, "GOROOT")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "pkg"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"src", "lib", "VERSION", "go.env", "pkg/include"} {
		if err := os.Symlink(filepath.Join(goroot, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"bin", "pkg/tool"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(goroot, name))); err != nil {
			return err
		}
	}
	return nil
}

// building notes whether binary builds the same target with probes.
func (s *soak) building(ctx context.Context, r *result, goroot, seed, binary, target string) error {
	dir := filepath.Dir(goroot)
	var built [2][]byte
	data := filepath.Join(dir, "data.json")
	flags := append([]string{s.ftgo}, append(everything(r.Mode), "-w", data)...)
	for i, under := range [][]string{nil, append(flags, binary, "*", "--")} {
		cache := filepath.Join(dir, fmt.Sprint(r.Mode, i))
		if err := os.CopyFS(cache, os.DirFS(seed)); err != nil {
			return err
		}
		out := filepath.Join(dir, "built")
		begin := time.Now()
		if err := building(ctx, goroot, cache, under, out, target); err != nil && i == 0 {
			return err
		} else if ctx.Err() != nil {
			return ctx.Err() // what was interrupted is no result
		} else if err != nil {
			r.Crash = err.Error()
			return nil
		}
		if r.Seconds = time.Since(begin).Seconds(); i == 0 {
			r.Without = r.Seconds
		}
		var err error
		if built[i], err = os.ReadFile(out); err != nil {
			return err
		}
	}
	sum, err := readSummary(data)
	if err != nil {
		return err
	}
	r.add(&sum)
	if bytes.Equal(built[0], built[1]) {
		r.Same = 1
	} else {
		r.Differ = []difference{{Test: target, Without: "one program", With: "another"}}
	}
	return nil
}

// building runs go build, by the command under if there is one.
func building(ctx context.Context, goroot, cache string, under []string, out, target string) error {
	var said bytes.Buffer
	args := append(under[:len(under):len(under)], filepath.Join(goroot, "bin", "go"), "build", "-trimpath", "-buildvcs=false", "-o", out, target)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = moduleOf(goroot)
	cmd.Env = append(os.Environ(), "GOROOT="+goroot, "GOCACHE="+cache)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", target, err, said.String())
	}
	return nil
}
