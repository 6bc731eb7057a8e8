package trials

import (
	"cmp"
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

// What scripts/soak is told.
var (
	stateDir  = flag.String("state", "", "keep binaries and results in this directory (default ~/.cache/ftgo-soak)")
	budget    = flag.Duration("budget", 3*time.Minute, "let a package's tests run so long under probes; those that take longer are named")
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
		s.packages()
	}
}

// each does what makes a result, in a test of its own, unless that has been done.
func (s *soak) each(r result, do func(*soak, *result)) {
	if !*again && !*goFlag && s.done(&r) {
		return
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	check(s, err)
	r.Commit = strings.TrimSpace(string(commit))
	s.Run(r.Mode+" "+r.Package, func(t *testing.T) {
		fmt.Fprintf(os.Stderr, "%s %s %s\n", time.Now().Format(time.TimeOnly), r.Mode, r.Package)
		do(&soak{t, s.state, s.ftgo}, &r)
		check(t, interrupted.Err()) // what was interrupted is no result
		fmt.Fprintf(os.Stderr, "  %s\n", r.text())
		s.save(&r)
	})
}

func modes(all string) []string { return strings.Split(cmp.Or(*modesFlag, all), ",") }

// packages runs the tests of each package in each mode.
func (s *soak) packages() {
	packages := flag.Args()
	if len(packages) == 0 {
		packages = standard
	}
	for _, name := range packages {
		for _, mode := range modes("probe,count") {
			if mode != "probe" && mode != "count" {
				s.Fatalf("-mode %q: neither probe nor count", mode)
			}
			s.each(result{Package: name, Mode: mode, Run: *runFlag}, (*soak).compare)
		}
	}
}

// probing makes an ftgo with probes on all functions of a file, in whichever process.
func (s *soak) probing(mode, file string, more ...string) *tracer {
	args := []string{mode, "-t", "1"}
	if mode == "probe" {
		args = append(args, "--budget", "0")
	}
	return newTracer(s, 24*time.Hour, s.ftgo, append(append(args, file, "*"), more...)...)
}

// build compiles the tests of a package of the standard library.
func (s *soak) build(name string) *program {
	p := &program{dir: filepath.Join(goroot(s), "src", name), file: filepath.Join(s.state, strings.ReplaceAll(name, "/", "-")+".test")}
	if _, err := os.Stat(p.file); err != nil || *again {
		build := command(s, 15*time.Minute, "go", "test", "-c", "-o", p.file, name)
		build.Dir = p.dir
		_, err := build.run()
		check(s, err)
	}
	return p
}
