package scripts

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// run runs a command and returns its standard output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, errs.String())
	}
	return string(out)
}

// TestKernelRelease makes a release twice, at different places, and runs what is in it.
func TestKernelRelease(t *testing.T) {
	tracetest.LongKernel(t) // it builds all packages, twice
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	var sums [2]string
	for i, place := range []string{"here", "some/where/else"} {
		clone := filepath.Join(dir, place)
		run(t, dir, "git", "clone", "--quiet", fixture.Root(), clone)
		sums[i] = run(t, clone, "scripts/release", "-o", clone+".out", "v1.2.3")
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "ftgo-1.2.3-linux-amd64.") != 3 || strings.Count(sums[0], "ftgo-1.2.3-linux-arm64.") != 3 {
		t.Errorf("sums\n%sand of the same sources elsewhere\n%s", sums[0], sums[1])
	}
	out := filepath.Join(dir, "here.out")
	run(t, out, "sha256sum", "--quiet", "-c", "SHA256SUMS")
	run(t, out, "tar", "-xzf", "ftgo-1.2.3-linux-amd64.tar.gz")
	run(t, out, "dpkg-deb", "-x", "ftgo-1.2.3-linux-amd64.deb", "deb")
	other(t, out)
	for _, ftgo := range []string{"ftgo-1.2.3-linux-amd64/bin/ftgo", "deb/usr/bin/ftgo"} {
		try(t, filepath.Join(out, ftgo))
		recipes := filepath.Join(out, filepath.Dir(ftgo), "..", "share", "ftgo", "recipes")
		if got := run(t, "/", filepath.Join(recipes, "gohttpd"), "-h"); !strings.HasPrefix(got, "usage: gohttpd ") {
			t.Errorf("%s: gohttpd -h says %q", recipes, got)
		}
	}
	if os.Getenv("CI") == "" {
		return // it is not for a test to install what nobody asked for
	}
	if _, err := os.Stat("/usr/bin/ftgo"); err == nil {
		t.Skip("an ftgo is installed")
	}
	t.Cleanup(func() { run(t, dir, "dpkg", "-r", "ftgo") })
	run(t, out, "dpkg", "-i", "ftgo-1.2.3-linux-amd64.deb")
	try(t, "/usr/bin/ftgo")
}

// other looks at what is for arm64: the packages say so, and what they have is one static program
// for it, beside the same files as for x86-64.
func other(t *testing.T, out string) {
	t.Helper()
	run(t, out, "tar", "-xzf", "ftgo-1.2.3-linux-arm64.tar.gz")
	run(t, out, "dpkg-deb", "-x", "ftgo-1.2.3-linux-arm64.deb", "deb-arm64")
	for _, goarch := range []string{"amd64", "arm64"} {
		if got := run(t, out, "dpkg-deb", "-f", "ftgo-1.2.3-linux-"+goarch+".deb", "Architecture"); got != goarch+"\n" {
			t.Errorf("the .deb for %s is for %q", goarch, got)
		}
	}
	for _, ftgo := range []string{"ftgo-1.2.3-linux-arm64/bin/ftgo", "deb-arm64/usr/bin/ftgo"} {
		f, err := elf.Open(filepath.Join(out, ftgo))
		fixture.NoError(t, err)
		if libraries, err := f.ImportedLibraries(); f.Machine != elf.EM_AARCH64 || len(libraries) > 0 || err != nil {
			t.Errorf("%s is for %v, and needs %q: %v", ftgo, f.Machine, libraries, err)
		}
		f.Close()
	}
	files := func(name string) string { return run(t, filepath.Join(out, name), "find", ".", "-type", "f") }
	if x, y := files("ftgo-1.2.3-linux-amd64"), files("ftgo-1.2.3-linux-arm64"); x == "" || len(x) != len(y) {
		t.Errorf("files for x86-64\n%sfor arm64\n%s", x, y)
	}
}

// try runs an ftgo.
func try(t *testing.T, path string) {
	t.Helper()
	if got := run(t, "/", path, "version"); !strings.HasPrefix(got, "ftgo 1.2.3 (go") {
		t.Errorf("%s: version %q", path, got)
	}
	if got := run(t, "/", path, "demo"); !regexp.MustCompile(`main\.fib +1395 `).MatchString(got) {
		t.Errorf("%s: demo\n%s", path, got)
	}
}
