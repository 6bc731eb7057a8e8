package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

const testID = "00c0ffee"

// build builds a program with the build ID testID.
func build(t *testing.T, name, ldflags string) string {
	return fixture.Build(t, name, "-ldflags="+ldflags+" -B 0x"+testID)
}

// described searches for debug information of a stripped program, and checks whether it was found. said is a part of the only
// message, or "" if there must be none.
func described(t *testing.T, what, path, root string, found bool, said string) {
	t.Helper()
	b := binaries.Open(t, path)
	var text strings.Builder
	findDebugInfo(b, func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }, root)
	f, _ := b.Lookup("main.lookup")
	sig, err := b.Signature(f)
	isFound := err == nil && len(sig.Params) == 2 && sig.Params[0].Name == "key"
	if isFound != found || strings.Count(text.String(), "\n") != min(len(said), 1) || !strings.Contains(text.String(), said) {
		t.Errorf("%s: found %v\n%swant %v, %q", what, isFound, text.String(), found, said)
	}
}

// TestBuildID checks that a file in /usr/lib/debug is found by the build ID, and reported if it is of another build.
func TestBuildID(t *testing.T) {
	stripped, root := build(t, "lookup", "-s -w"), t.TempDir()
	described(t, "nothing is there", stripped, root, false, "")
	dir := filepath.Join(root, "usr/lib/debug/.build-id/00")
	fixture.NoError(t, os.MkdirAll(dir, 0o755))
	place := func(path string) {
		t.Helper()
		at := filepath.Join(dir, "c0ffee.debug")
		os.Remove(at)
		fixture.NoError(t, os.Symlink(path, at))
	}
	place(build(t, "lookup", ""))
	described(t, "the right one", stripped, root, true, "")
	place(build(t, "greet", ""))
	described(t, "another program's", stripped, root, false, " differs: ")
	place(stripped)
	described(t, "stripped, too", stripped, root, false, "no debug information")
	text, err := os.ReadFile(build(t, "lookup", ""))
	fixture.NoError(t, err)
	other := filepath.Join(root, "other")
	place(other)
	for want, text := range map[string][]byte{"not an ELF file": []byte("<html>Sign in</html>"), ": ": text[:len(text)/2]} {
		fixture.NoError(t, os.WriteFile(other, text, 0o600))
		described(t, "a damaged file", stripped, root, false, want)
	}
}

// TestDebugLink checks the places of a linked file, and that it must be of the same build.
func TestDebugLink(t *testing.T) {
	objcopy, err := exec.LookPath("objcopy")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	debug, bin := filepath.Join(dir, "x.debug"), filepath.Join(dir, "x")
	run("--only-keep-debug", build(t, "lookup", ""), debug)
	run("--strip-all", "--add-gnu-debuglink="+debug, build(t, "lookup", ""), bin)
	root := t.TempDir()
	for _, at := range []string{debug, filepath.Join(dir, ".debug/x.debug"), filepath.Join(root, "usr/lib/debug", dir, "x.debug")} {
		fixture.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		fixture.NoError(t, os.Rename(debug, at))
		debug = at
		described(t, at, bin, root, true, "")
	}
	fixture.NoError(t, os.Truncate(debug, 1<<42))
	described(t, "a file of holes", bin, root, true, "")
	run("--only-keep-debug", fixture.Build(t, "lookup", "-ldflags=-B 0x00c0ffef"), debug)
	described(t, "another build's", bin, root, false, `its build ID "00c0ffef" is not`)
}

// TestBuildIDText checks that only valid build IDs become arguments and parts of paths.
func TestBuildIDText(t *testing.T) {
	for text, want := range map[string]bool{
		testID: true, strings.Repeat("0f", 64): true, strings.Repeat("0f", 65): false, "": false, "00": false, "-v00": false, "../../x": false, "00c0\n": false,
	} {
		if buildID.MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
