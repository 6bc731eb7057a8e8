package trials

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// guestVersions are those of Go that TestTrialToolchains tries: for arm64, code has changed
// between each and the next.
var guestVersions = []string{"1.17.13", "1.18.10", "1.20.14", "1.22.12", "1.24.6", "1.26.8", "1.27.4", fixture.Current}

// guestVariants are the ways to build that need no compiler of C for arm64.
var guestVariants = slices.DeleteFunc(slices.Clone(fixture.Variants), func(v fixture.Variant) bool { return strings.HasPrefix(v.Name, "cgo") })

// TestTrialToolchains writes docs/dev/toolchains-arm64.md: on each kernel that an argument names, in a
// guest, TestKernelToolchains with programs that were built here for arm64.
func TestTrialToolchains(t *testing.T) {
	logs := os.Getenv("FTGO_MATRIX_LOGS")
	if logs == "" {
		logs = t.TempDir()
	}
	t.Setenv(fixture.TargetsVar, filepath.Join(logs, "targets"))
	t.Setenv(fixture.LongVar, "all")
	t.Setenv("FTGO_TEST_KERNEL", "require")
	g := &guests{logs: logs, ftgo: filepath.Join(logs, "ftgo.test"), cells: make(map[cellKey]cell), releases: make(map[string]string)}
	build := exec.CommandContext(interrupted, "go", "test", "-c", "-o", g.ftgo, "./cmd/ftgo")
	build.Dir, build.Env = fixture.Root(), append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, version := range guestVersions {
		for _, v := range guestVariants {
			_, err := fixture.TryBuildFor(t, "arm64", version, "exact", v.Flags...)
			if err != nil {
				t.Logf("%s, %s: %v", version, v.Name, err)
				g.unbuilt = append(g.unbuilt, version+" "+v.Name)
			}
		}
	}
	// A guest keeps one CPU busy.
	var wg sync.WaitGroup
	turn := make(chan bool, runtime.NumCPU())
	for _, kernel := range flag.Args() {
		for _, version := range guestVersions {
			turn <- true
			wg.Go(func() {
				defer func() { <-turn }()
				if err := g.run(kernel, version); err != nil {
					t.Errorf("%s, Go %s: %v", kernel, version, err)
				}
			})
		}
	}
	wg.Wait()
	check(t, os.WriteFile(rooted(*page), []byte(g.page(flag.Args())), 0o644))
}

type cellKey struct{ kernel, version, variant string }

// cell is what became of a target's runs on a kernel, and what the last one that was exact had.
type cell struct {
	exact, failed int
	had           string
}

// guests is what runs in guests have said.
type guests struct {
	logs, ftgo string
	unbuilt    []string

	mu       sync.Mutex
	cells    map[cellKey]cell
	releases map[string]string
}

// run runs the targets of one version on a kernel, as often as its log lacks.
func (g *guests) run(kernel, version string) error {
	name := filepath.Join(g.logs, fmt.Sprintf("%s-%s.log", filepath.Base(kernel), version))
	log, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := g.read(kernel, log); err != nil {
		return err
	}
	lacks := cmp.Or(*runs, 5) - g.had(kernel, version)
	if lacks <= 0 {
		return nil
	}
	vm := exec.CommandContext(interrupted, filepath.Join(fixture.Root(), "scripts", "vm"), "--file", g.ftgo, "--file", filepath.Join(g.logs, "targets", "arm64"),
		"--file", filepath.Join(fixture.Root(), "docs"), "--timeout", "7000", kernel, "--", "sh", "-c", `echo "kernel: $(uname -r)"; exec "$@"`, "sh",
		g.ftgo, "-test.v", "-test.timeout=0", fmt.Sprintf("-test.count=%d", lacks), "-test.run=^TestKernelToolchains$/^"+regexp.QuoteMeta(version)+"$")
	vm.Cancel = func() error { return vm.Process.Signal(syscall.SIGTERM) } // the guest is to end, too
	vm.Dir = g.logs
	var stderr bytes.Buffer
	vm.Stderr = &stderr
	out, err := vm.Output()
	// A test that failed is in the log.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("%w\n%s%s", err, out, &stderr)
	}
	out = append(out, stderr.Bytes()...)
	if _, err := log.Write(out); err != nil {
		return err
	}
	return g.read(kernel, bytes.NewReader(out))
}

// had is how often all targets of a version have run on a kernel.
func (g *guests) had(kernel, version string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	least := math.MaxInt
	for _, v := range guestVariants {
		c := g.cells[cellKey{kernel, version, spelled(v.Name)}]
		least = min(least, c.exact+c.failed)
	}
	return least
}

// spelled is how the names of subtests have a variant's.
func spelled(variant string) string { return strings.ReplaceAll(variant, " ", "_") }

// What a subtest prints, with its version and variant: as it begins, when it has compared, and as
// it ends.
var (
	guestBegan = regexp.MustCompile(`^=== RUN +TestKernelToolchains/([^/]+)/(.+)$`)
	guestExact = regexp.MustCompile(`^ +[a-z_]+\.go:\d+: exact: (.*)$`)
	guestEnded = regexp.MustCompile(`^ *--- (PASS|FAIL): TestKernelToolchains/([^/]+)/(.+) \(`)
)

func (g *guests) read(kernel string, log io.Reader) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var began cellKey
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "kernel: "); ok {
			g.releases[kernel] = text
		} else if m := guestBegan.FindStringSubmatch(lines.Text()); m != nil {
			began = cellKey{kernel, m[1], m[2]}
		} else if m := guestExact.FindStringSubmatch(lines.Text()); m != nil {
			c := g.cells[began]
			c.had = m[1]
			g.cells[began] = c
		} else if m := guestEnded.FindStringSubmatch(lines.Text()); m != nil {
			key := cellKey{kernel, m[2], m[3]}
			c := g.cells[key]
			if m[1] == "PASS" {
				c.exact++
			} else {
				c.failed++
			}
			g.cells[key] = c
		}
	}
	return lines.Err()
}

// page is docs/dev/toolchains-arm64.md.
func (g *guests) page(kernels []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Toolchains for arm64

This page compares the counts of `+"`ftgo probe`"+` on arm64 with the counts of a program that counts its own calls (`+"`testdata/exact`"+`), built by
several versions of Go in several ways. A cell counts the exact runs; [toolchains.md](toolchains.md) explains "exact". The programs
were cross-compiled, and ran on Debian's kernels **under QEMU only**, on an x86-64 machine: two emulated CPUs, which take turns. Nothing
was tried on arm64 hardware. `+"`scripts/toolchain-matrix %s`"+` wrote this page on %s.

| Go | built | a run has |`, strings.Join(kernels, " "), time.Now().UTC().Format(time.DateOnly))
	for _, kernel := range kernels {
		fmt.Fprintf(&b, " %s |", g.releases[kernel])
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(kernels)) + "\n")
	for _, version := range guestVersions {
		for _, v := range guestVariants {
			b.WriteString(g.row(kernels, version, v.Name))
		}
	}
	b.WriteString(`
In a stripped program of Go 1.18 to 1.20, all instances of a generic function have the same name (` + "`main.f[...]`" + `). The comparison of
that row leaves them out.
`)
	return b.String()
}

func (g *guests) row(kernels []string, version, variant string) string {
	had := "–"
	var cells []string
	for _, kernel := range kernels {
		c := g.cells[cellKey{kernel, version, spelled(variant)}]
		text := fmt.Sprintf("%d of %d", c.exact, c.exact+c.failed)
		switch {
		case c.failed > 0:
			text = "**" + text + "**"
		case c.exact == 0:
			text = "not tried"
		}
		if c.had != "" {
			had = c.had
		}
		cells = append(cells, text)
	}
	for _, name := range g.unbuilt {
		if name == version+" "+variant {
			had = "can't be built by this machine"
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", version, variant, had, strings.Join(cells, " | "))
}
