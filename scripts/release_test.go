package scripts

import (
	"bytes"
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
	tracetest.Kernel(t)
	fixture.NeedLong(t) // it builds all packages, twice
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
	if sums[0] != sums[1] || strings.Count(sums[0], "ftgo-1.2.3-linux-amd64.") != 3 {
		t.Errorf("sums\n%sand of the same sources elsewhere\n%s", sums[0], sums[1])
	}
	out := filepath.Join(dir, "here.out")
	run(t, out, "sha256sum", "--quiet", "-c", "SHA256SUMS")
	run(t, out, "tar", "-xzf", "ftgo-1.2.3-linux-amd64.tar.gz")
	run(t, out, "dpkg-deb", "-x", "ftgo-1.2.3-linux-amd64.deb", "deb")
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
