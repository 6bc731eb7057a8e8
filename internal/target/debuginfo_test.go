package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

const testID = "00c0ffee"

// build builds a program with the build ID testID.
func build(t *testing.T, name, ldflags string) string {
	return fixture.Build(t, name, "-ldflags="+ldflags+" -B 0x"+testID)
}

// described searches for debug information of a stripped program, and checks whether it was found. said is a part of the only
// message, or "" if there must be none, besides the message that debuginfod-find runs.
func described(t *testing.T, what, path, root string, limit time.Duration, found bool, said string) {
	t.Helper()
	b := binaries.Open(t, path)
	var text strings.Builder
	say := func(format string, args ...any) {
		if !strings.HasPrefix(format, "running debuginfod-find ") {
			fmt.Fprintf(&text, format+"\n", args...)
		}
	}
	findDebugInfo(b, say, root, limit)
	f, _ := b.Lookup("main.lookup")
	sig, err := b.Signature(f)
	isFound := err == nil && len(sig.Params) == 2 && sig.Params[0].Name == "key"
	if isFound != found || strings.Count(text.String(), "\n") != min(len(said), 1) || !strings.Contains(text.String(), said) {
		t.Errorf("%s: found %v\n%swant %v, %q", what, isFound, text.String(), found, said)
	}
}

// noServers removes the servers from the environment.
func noServers(t *testing.T) { t.Setenv("DEBUGINFOD_URLS", "") }

// TestBuildID checks that a file in /usr/lib/debug is found by the build ID, and reported if it is of another build.
func TestBuildID(t *testing.T) {
	noServers(t)
	stripped, root := build(t, "lookup", "-s -w"), t.TempDir()
	described(t, "nothing is there", stripped, root, time.Minute, false, "")
	dir := filepath.Join(root, "usr/lib/debug/.build-id/00")
	fixture.NoError(t, os.MkdirAll(dir, 0o755))
	place := func(path string) {
		t.Helper()
		at := filepath.Join(dir, "c0ffee.debug")
		os.Remove(at)
		fixture.NoError(t, os.Symlink(path, at))
	}
	place(build(t, "lookup", ""))
	described(t, "the right one", stripped, root, time.Minute, true, "")
	place(build(t, "greet", ""))
	described(t, "another program's", stripped, root, time.Minute, false, " differs: ")
}

// TestDebugLink checks the places of a linked file, and that it must be of the same build.
func TestDebugLink(t *testing.T) {
	noServers(t)
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
		described(t, at, bin, root, time.Minute, true, "")
	}
	fixture.NoError(t, os.Truncate(debug, 1<<42))
	described(t, "a file of holes", bin, root, time.Minute, true, "")
	run("--only-keep-debug", fixture.Build(t, "lookup", "-ldflags=-B 0x00c0ffef"), debug)
	described(t, "another build's", bin, root, time.Minute, false, `its build ID "00c0ffef" is not`)
}

// fakeFind puts a shell script called debuginfod-find into $PATH, which appends its arguments to the file notes.
func fakeFind(t *testing.T, script string) (notes string) {
	t.Helper()
	dir := t.TempDir()
	notes = filepath.Join(dir, "notes")
	text := "#!/bin/sh\necho \"$0 $* $DEBUGINFOD_MAXSIZE\" >>" + notes + "\n" + script + "\n"
	fixture.NoError(t, os.WriteFile(filepath.Join(dir, "debuginfod-find"), []byte(text), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return notes
}

// TestDebugFile checks that debuginfod-find runs only if the user named a server.
func TestDebugFile(t *testing.T) {
	noServers(t)
	stripped, full := build(t, "lookup", "-s -w"), build(t, "lookup", "")
	notes := fakeFind(t, "echo "+full)
	check := func(what string, want bool, times int) {
		t.Helper()
		described(t, what, stripped, t.TempDir(), time.Minute, want, "")
		text, _ := os.ReadFile(notes)
		line := filepath.Join(filepath.Dir(notes), "debuginfod-find") + " debuginfo " + testID + " 2147483648\n"
		if string(text) != strings.Repeat(line, times) {
			t.Errorf("%s: %s", what, text)
		}
	}
	check("no server", false, 0)
	t.Setenv("DEBUGINFOD_URLS", " \t\n")
	check("blanks", false, 0)
	t.Setenv("DEBUGINFOD_URLS", "http://localhost")
	check("a server", true, 1)
	t.Setenv("PATH", t.TempDir())
	check("debuginfod-find is not installed", false, 1)
}

// TestFindFails checks that a failure of debuginfod-find causes at most one message.
func TestFindFails(t *testing.T) {
	stripped, full, other := build(t, "lookup", "-s -w"), build(t, "lookup", ""), build(t, "greet", "")
	text, err := os.ReadFile(full)
	fixture.NoError(t, err)
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		fixture.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	for _, test := range []struct{ name, script, want string }{
		{"no server has it", "echo Server query failed: No such file or directory >&2; exit 1", ""},
		{"no server answers", "echo Server query failed: Connection refused >&2; exit 1", `exit status 1: "Server query failed: Connection refused"`},
		{"escapes", "printf '\\033[2J\\nx' >&2; exit 2", `exit status 2: "\x1b[2J\nx"`},
		{"it hangs", "exec sleep 60", "killed after 100ms"},
		{"its child hangs", "sleep 3", "killed after 100ms"},
		{"it prints nothing", "", `prints "", not a path`},
		{"it prints no path", "echo x; echo y", `prints "x\ny", not a path`},
		{"no file", "echo /no/such/file", ""},
		{"a page", "echo " + file("page", []byte("<html>Sign in</html>")), "not an ELF file"},
		{"another program's", "echo " + other, " differs: "},
		{"stripped, too", "echo " + stripped, "no debug information"},
		{"half a file", "echo " + file("half", text[:len(text)/2]), ": "},
	} {
		t.Run(test.name, func(t *testing.T) {
			noServers(t)
			t.Setenv("DEBUGINFOD_URLS", "http://localhost")
			fakeFind(t, test.script)
			limit := time.Minute
			if strings.Contains(test.name, "hangs") {
				limit = 100 * time.Millisecond
			}
			described(t, test.name, stripped, t.TempDir(), limit, false, test.want)
		})
	}
	t.Setenv("DEBUGINFOD_URLS", "http://localhost")
	t.Setenv("PATH", filepath.Dir(file("debuginfod-find", nil)))
	os.Chmod(filepath.Join(dir, "debuginfod-find"), 0o755)
	described(t, "no program", stripped, t.TempDir(), time.Minute, false, "exec format error")
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
