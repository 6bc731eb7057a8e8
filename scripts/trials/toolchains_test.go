package trials

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// guestVersions are those of Go that TestTrialToolchains tries: for arm64, code has changed
// between each and the next.
var guestVersions = []string{"1.17.13", "1.18.10", "1.20.14", "1.22.12", "1.24.6", "1.26.8", "1.27.4", fixture.Current}

// guestVariants are the ways to build that need no compiler of C for arm64.
var guestVariants = slices.DeleteFunc(slices.Clone(fixture.Variants), func(v fixture.Variant) bool { return strings.HasPrefix(v.Name, "cgo") })

// guestRun is the output of TestKernelToolchains with a version on a kernel, which says at its beginning which it is.
type guestRun struct{ kernel, version, output string }

var guestKernel = regexp.MustCompile(`(?m)^kernel: (.*)$`)

// TestTrialToolchains writes docs/dev/toolchains-arm64.md: on each kernel that an argument names, in a
// guest, TestKernelToolchains with programs that were built here for arm64.
func TestTrialToolchains(t *testing.T) {
	dir := t.TempDir()
	targets, ftgo := filepath.Join(dir, "targets"), filepath.Join(dir, "ftgo.test")
	t.Setenv(fixture.TargetsVar, targets)
	t.Setenv(fixture.LongVar, "all")
	t.Setenv("FTGO_TEST_KERNEL", "require")
	build := command(t, 15*time.Minute, "go", "test", "-c", "-o", ftgo, "./cmd/ftgo")
	build.Env = append(build.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	_, err := build.run()
	check(t, err)
	for _, version := range guestVersions {
		for _, v := range guestVariants {
			if _, err := fixture.TryBuildFor(t, "arm64", version, "exact", v.Flags...); err != nil {
				t.Logf("%s, %s: %v", version, v.Name, err)
			}
		}
	}
	var done []guestRun
	var mu sync.Mutex // for done
	var wg sync.WaitGroup
	turn := make(chan bool, runtime.NumCPU()) // a guest keeps one CPU busy
	for _, kernel := range flag.Args() {
		for _, version := range guestVersions {
			turn <- true
			wg.Go(func() {
				defer func() { <-turn }()
				vm := command(t, 2*time.Hour, filepath.Join(fixture.Root(), "scripts", "vm"), "--file", ftgo, "--file", filepath.Join(targets, "arm64"),
					"--file", filepath.Join(fixture.Root(), "docs"), "--timeout", "7000", kernel, "--", "sh", "-c", `echo "kernel: $(uname -r)"; exec "$@"`, "sh",
					ftgo, "-test.v", "-test.timeout=0", fmt.Sprintf("-test.count=%d", cmp.Or(*runs, 5)), "-test.run=^TestKernelToolchains$/^"+regexp.QuoteMeta(version)+"$")
				vm.Dir = dir // without a testdata
				o, err := vm.run()
				// A test that failed is in the table.
				if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
					t.Errorf("%s, Go %s: %v\n%s", kernel, version, err, o.stdout)
				}
				mu.Lock()
				defer mu.Unlock()
				done = append(done, guestRun{kernel, version, o.stdout})
			})
		}
	}
	wg.Wait()
	check(t, interrupted.Err())
	check(t, os.WriteFile(rooted(*page), []byte(guestPage(proseOf(t, "toolchains-arm64.md"), flag.Args(), done)), 0o644))
}

// guestPage is the prose of the present page, with today's date, and a new table.
func guestPage(prose string, kernels []string, done []guestRun) string {
	var b strings.Builder
	prose = regexp.MustCompile("toolchain-matrix .*` wrote this page on .*\\.").ReplaceAllString(prose,
		fmt.Sprintf("toolchain-matrix %s` wrote this page on %s.", strings.Join(kernels, " "), time.Now().UTC().Format(time.DateOnly)))
	fmt.Fprintf(&b, "%s\n| Go | built | a run has |", prose)
	for _, kernel := range kernels {
		i := slices.IndexFunc(done, func(r guestRun) bool { return r.kernel == kernel })
		if m := guestKernel.FindStringSubmatch(done[i].output); m != nil {
			kernel = m[1]
		}
		fmt.Fprintf(&b, " %s |", kernel)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(kernels)) + "\n")
	for _, version := range guestVersions {
		for _, v := range guestVariants {
			had := "–"
			cells := ""
			// A subtest is named by its version and variant, and logs "exact: ..." when it has compared.
			name := regexp.QuoteMeta("TestKernelToolchains/" + version + "/" + strings.ReplaceAll(v.Name, " ", "_"))
			exact := regexp.MustCompile(`(?m)^=== RUN +` + name + `\n(?:[^=].*\n)*? +[a-z_]+\.go:\d+: exact: (.*)$`)
			ended := regexp.MustCompile(`(?m)^ *--- (PASS|FAIL): ` + name + ` \(`)
			for _, kernel := range kernels {
				i := slices.IndexFunc(done, func(r guestRun) bool { return r.kernel == kernel && r.version == version })
				if m := exact.FindStringSubmatch(done[i].output); m != nil {
					had = m[1]
				}
				all := ended.FindAllStringSubmatch(done[i].output, -1)
				passed := len(slices.DeleteFunc(slices.Clone(all), func(m []string) bool { return m[1] == "FAIL" }))
				switch text := fmt.Sprintf("%d of %d", passed, len(all)); {
				case len(all) == 0:
					cells += " not tried |"
				case passed < len(all):
					cells += " **" + text + "** |"
				default:
					cells += " " + text + " |"
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s |%s\n", version, v.Name, had, cells)
		}
	}
	b.WriteString(`
In a stripped program of Go 1.18 to 1.20, all instances of a generic function have the same name (` + "`main.f[...]`" + `). The comparison of
that row leaves them out.
`)
	return b.String()
}
