package trials

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/tracetest"
)

// The flags of scripts/soak.
var (
	stateDir  = flag.String("state", "", "keep binaries and results in this directory (default ~/.cache/ftgo-soak)")
	budget    = flag.Duration("budget", 3*time.Minute, "let a package's tests run so long with probes; those that take longer are named")
	again     = flag.Bool("again", false, "run what has been run before, too")
	modesFlag = flag.String("mode", "", "run in these `MODES`, divided by commas: probe (entries and returns), count (entries); with -long probe, trace, trace --slow 500ms, export (default all)")
	runFlag   = flag.String("run", "", "of a package's tests only those that `REGEXP` matches")
	goFlag    = flag.Bool("go", false, "probe the go tool and the compiler instead")
	files     = flag.Int("hostile", 0, "have ftgo read so many damaged and bloated files instead")
	long      = flag.Duration("long", 0, "probe a program that calls as fast as it can for so long instead")
)

// soak is one invocation.
type soak struct {
	*testing.T
	state string // directory: binaries, results
	ftgo  string // built from this repository
}

// TestTrialSoak runs programs with probes on all their functions and compares what they do with what
// they do without.
func TestTrialSoak(t *testing.T) {
	tracetest.Kernel(t)
	cache, err := os.UserCacheDir()
	check(t, err)
	s := soak{T: t, state: rooted(cmp.Or(*stateDir, filepath.Join(cache, "ftgo-soak")))}
	check(t, os.MkdirAll(s.state, 0o755))
	s.ftgo = filepath.Join(s.state, "ftgo")
	build := command(t, childLimit, "go", "build", "-o", s.ftgo, "./cmd/ftgo")
	build.Env = append(build.Environ(), "CGO_ENABLED=0") // as scripts/release does
	_, err = build.run()
	check(t, err)
	file := cmp.Or(*page, "docs/dev/soak.md")
	t.Cleanup(func() {
		if bad := s.writePage(rooted(file)); bad > 0 {
			t.Errorf("%d results differ: see %s", bad, file)
		}
	})
	switch {
	case *goFlag:
		s.goTool()
	case *files > 0:
		s.hostile(*files)
	case *long > 0:
		s.long(*long)
	default:
		s.packages(flag.Args())
	}
}

// each makes a result, in a test of its own, unless there is one.
func (s *soak) each(r result, do func(*soak, *result)) {
	if kept, err := os.ReadFile(s.file(&r)); err == nil && !*again && !*goFlag && json.Valid(kept) {
		return
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	check(s, err)
	r.Commit = strings.TrimSpace(string(commit))
	s.Run(r.Mode+" "+r.Package, func(t *testing.T) {
		fmt.Fprintf(os.Stderr, "%s %s %s\n", time.Now().Format(time.TimeOnly), r.Mode, r.Package)
		do(&soak{t, s.state, s.ftgo}, &r)
		check(t, interrupted.Err()) // what was interrupted is no result
		text, err := json.MarshalIndent(r, "", "\t")
		check(t, err)
		fmt.Fprintf(os.Stderr, "%s\n", text)
		check(t, os.WriteFile(s.file(&r), append(text, '\n'), 0o644))
	})
}

func modes(all string) []string { return strings.Split(cmp.Or(*modesFlag, all), ",") }

// probing makes an ftgo with probes on all functions of a file, in whichever process.
func (s *soak) probing(mode, file string, more ...string) *tracer {
	args := []string{mode, "-t", "1"}
	if mode == "probe" {
		args = append(args, "--budget", "0")
	}
	return newTracer(s, 24*time.Hour, s.ftgo, append(append(args, file, "*"), more...)...)
}

// goTool builds a program of this module by a go tool that has probes on all its functions, and by a
// compiler that has: both must make what they make without. The module and the toolchain are copies, so that no
// other build on this machine hits the probes.
func (s *soak) goTool() {
	dir := s.TempDir()
	root, module, seed := filepath.Join(dir, "goroot"), filepath.Join(dir, "module"), filepath.Join(dir, "seed")
	check(s, os.CopyFS(root, os.DirFS(goroot(s))))
	_, err := command(s, childLimit, "git", "clone", "-q", ".", module).run()
	check(s, err)
	goCommand := filepath.Join(root, "bin", "go")
	within := func(c *child, cache string) *child {
		c.Dir = module
		c.Env = append(c.Environ(), "GOROOT="+root, "GOCACHE="+cache)
		return c
	}
	// The standard library is built once, and without probes; what is built on it, each time.
	_, err = within(command(s, time.Hour, goCommand, "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "std"), "./testdata/httpd"), seed).run()
	check(s, err)
	for mode, binary := range map[string]string{"probe": goCommand, "count": filepath.Join(root, "pkg", "tool", "linux_amd64", "compile")} {
		s.each(result{Package: "cmd/" + filepath.Base(binary), Mode: mode, Tests: 1}, func(s *soak, r *result) {
			out := filepath.Join(dir, "built")
			line := []string{goCommand, "build", "-trimpath", "-buildvcs=false", "-o", out, "./testdata/exact"}
			built := func(cache string, c *child, run func() (outcome, error)) (took float64, program []byte, err error) {
				cache = filepath.Join(dir, mode+cache)
				check(s, os.CopyFS(cache, os.DirFS(seed)))
				within(c, cache)
				o, err := run()
				if err != nil {
					return 0, nil, err
				}
				program, err = os.ReadFile(out)
				return o.ended.Sub(o.launched).Seconds(), program, err
			}
			plain := command(s, time.Hour, line[0], line[1:]...)
			var without, with []byte
			r.Without, without, err = built("plain", plain, plain.run)
			check(s, err)
			x := s.probing(mode, binary, append([]string{"--"}, line...)...)
			r.Seconds, with, err = built("probed", x.child, func() (outcome, error) {
				check(s, x.begin())
				return x.end()
			})
			if err != nil {
				r.Crash = err.Error()
				return
			}
			r.add(x.summary)
			if bytes.Equal(without, with) {
				r.Same = 1
			} else {
				r.Differ = []difference{{Test: "./testdata/exact", Without: "one program", With: "another"}}
			}
		})
	}
}
