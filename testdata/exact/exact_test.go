package main

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// build makes the program in a fresh folder.
func build(t *testing.T, flags ...string) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "exact")
	output(t, exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), ".")...))
	return exe
}

// output runs a command that has to succeed.
func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %q: %v\n%s", cmd.Args, err, &stderr)
	}
	return out
}

func decode(t *testing.T, text []byte) *ledger {
	t.Helper()
	b := new(ledger)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		t.Fatalf("decode books: %v\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("decode books: more than one object:\n%s", text)
	}
	return b
}

// canonical spells books alike for all versions of Go.
func canonical(b *ledger, rounds int64) string {
	respell := strings.NewReplacer("(main.move)", "move", "_0]", "]")
	lines := []string{}
	for name, f := range b.Functions {
		open, unwound := f.Open/rounds, f.Unwound/rounds
		calls, completed := f.Calls/rounds, f.Completed/rounds
		if name == "main.main" {
			calls, completed = f.Calls, f.Completed
		}
		lines = append(lines, fmt.Sprintf("%s: %d calls, %d completed, %d unwound, %d open\n",
			respell.Replace(name), calls, completed, unwound, open))
	}
	slices.Sort(lines)
	return strings.Join(lines, "") + fmt.Sprintf("checksum: %d\n", b.Checksum/uint64(rounds))
}

// compare holds books against those known for programs with or without
// generics. FTGO_UPDATE=1 takes them over instead.
func compare(t *testing.T, b *ledger, rounds int64) {
	t.Helper()
	file := filepath.Join("testdata", "generics.golden")
	if !slices.ContainsFunc(slices.Collect(maps.Keys(b.Functions)), func(name string) bool {
		return strings.Contains(name, "[")
	}) {
		file = filepath.Join("testdata", "plain.golden")
	}
	got := canonical(b, rounds)
	if os.Getenv("FTGO_UPDATE") == "1" {
		fixture.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	fixture.NoError(t, err)
	if got != string(want) {
		t.Errorf("books differ from %s:\n--- got\n%s--- want\n%s", file, got, want)
	}
}

// consistent checks what holds for any books.
func consistent(t *testing.T, b *ledger, rounds int64) {
	t.Helper()
	total := int64(0)
	for name, f := range b.Functions {
		if f.Calls <= 0 || f.Calls != f.Completed+f.Unwound+f.Open {
			t.Errorf("%s: %+v does not add up", name, *f)
		}
		total += f.Calls
		if name != "main.main" && f.Calls%rounds+f.Completed%rounds+f.Unwound%rounds+f.Open%rounds != 0 {
			t.Errorf("%s: %+v is not the same in each of %d rounds", name, *f, rounds)
		}
	}
	if b.Checksum%uint64(rounds) != 0 {
		t.Errorf("checksum %d is not the same in each of %d rounds", b.Checksum, rounds)
	}
	// A traced call costs tens of microseconds.
	if total > 200000*rounds {
		t.Errorf("%d calls are too many to be traced in a few seconds", total)
	}
	for _, name := range []string{"main.sleep5", "main.busy"} {
		d := b.Durations[name]
		if d == nil || d.Calls != b.Functions[name].Calls {
			t.Fatalf("%s: durations %+v, calls %+v", name, d, b.Functions[name])
		}
		for _, s := range []spread{d.spread, d.Outer} {
			if s.Min <= 0 || s.Min > s.P50 || s.P50 > s.Max || s.Mean < s.Min || s.Mean > s.Max {
				t.Errorf("%s: spread %+v is out of order", name, s)
			}
		}
		if d.Min > d.Outer.Min || d.P50 > d.Outer.P50 || d.Mean > d.Outer.Mean || d.Max > d.Outer.Max {
			t.Errorf("%s: body %+v takes longer than the call %+v", name, d.spread, d.Outer)
		}
	}
	if slept := b.Durations["main.sleep5"].Min; slept < 5e6 {
		t.Errorf("main.sleep5 slept for %d ns only", slept)
	}
	for name, n := range b.Moved {
		if n != b.Functions[name].Calls {
			t.Errorf("%s: stack moved in %d of %d calls", name, n, b.Functions[name].Calls)
		}
	}
}

// spelled checks that all names are symbols of the file.
func spelled(t *testing.T, exe string, b *ledger) {
	t.Helper()
	f, err := elf.Open(exe)
	fixture.NoError(t, err)
	defer f.Close()
	symbols, err := f.Symbols()
	fixture.NoError(t, err)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(b.Functions)), b.Unbooked) {
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
			return s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0
		}) {
			t.Errorf("%s is no symbol of the program", name)
		}
	}
}

func TestBooks(t *testing.T) {
	cgo := strings.TrimSpace(string(output(t, exec.Command("go", "env", "CGO_ENABLED")))) == "1"
	for _, test := range []struct {
		name   string
		flags  []string
		rounds int64
	}{
		{"default", nil, 1},
		{"three rounds", nil, 3},
		{"position independent", []string{"-buildmode=pie"}, 1},
		{"without optimisation", []string{"-gcflags=-N -l"}, 1},
		{"race detector", []string{"-race"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "race detector" && !cgo {
				t.Skip("-race needs cgo, which this environment has switched off")
			}
			exe := build(t, test.flags...)
			b := decode(t, output(t, exec.Command(exe, fmt.Sprint(test.rounds))))
			if b.Go != runtime.Version() {
				t.Errorf("program says %q, is built with %q", b.Go, runtime.Version())
			}
			consistent(t, b, test.rounds)
			spelled(t, exe, b)
			compare(t, b, test.rounds)
		})
	}
}

func TestStart(t *testing.T) {
	exe := build(t)
	t.Run("waits for standard input", func(t *testing.T) {
		cmd := exec.Command(exe, "-stdin")
		stdin, err := cmd.StdinPipe()
		fixture.NoError(t, err)
		stderr, err := cmd.StderrPipe()
		fixture.NoError(t, err)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		fixture.NoError(t, cmd.Start())
		line, err := bufio.NewReader(stderr).ReadString('\n')
		if want := fmt.Sprintf("ready %d\n", cmd.Process.Pid); err != nil || line != want {
			t.Errorf("standard error is %q, %v, want %q", line, err, want)
		}
		stdin.Close()
		fixture.NoError(t, cmd.Wait())
		compare(t, decode(t, stdout.Bytes()), 1)
	})
	for name, args := range map[string][]string{
		"refuses no rounds":      {"0"},
		"refuses a word":         {"many"},
		"refuses a second count": {"1", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(exe, args...).Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(out) > 0 {
				t.Errorf("printed %q and ended with %v, want status 2", out, err)
			}
		})
	}
}

// TestToolchains runs the program as built by the other versions of Go that
// the module cache holds; `GOTOOLCHAIN=go1.16.15 go version` brings one there.
func TestToolchains(t *testing.T) {
	if fixture.Long() {
		fixture.Toolchain(t, "1.26.8")
		fixture.Toolchain(t, "1.27.4")
	}
	cache := strings.TrimSpace(string(output(t, exec.Command("go", "env", "GOMODCACHE"))))
	roots, err := filepath.Glob(filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go*."+runtime.GOOS+"-"+runtime.GOARCH))
	fixture.NoError(t, err)
	if testing.Short() || len(roots) == 0 {
		t.Skipf("%d other toolchains in %s, short=%v", len(roots), cache, testing.Short())
	}
	gopath := t.TempDir()
	folder := filepath.Join(gopath, "src", "exact")
	fixture.NoError(t, os.MkdirAll(folder, 0o777))
	sources, err := filepath.Glob("*.go")
	fixture.NoError(t, err)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		fixture.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fixture.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	}
	for _, root := range roots {
		_, version, _ := strings.Cut(filepath.Base(root), "-")
		version = strings.TrimSuffix(version, "."+runtime.GOOS+"-"+runtime.GOARCH)
		t.Run(version, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "exact")
			cmd := exec.Command(filepath.Join(root, "bin", "go"), "build", "-o", exe)
			cmd.Dir = folder
			cmd.Env = append(os.Environ(), "GOROOT="+root, "GOPATH="+gopath, "GO111MODULE=off",
				"GOTOOLCHAIN=local", "GOENV=off", "GOFLAGS=", "PWD="+folder)
			output(t, cmd)
			b := decode(t, output(t, exec.Command(exe)))
			if b.Go != version {
				t.Errorf("program says %q, is built with %q", b.Go, version)
			}
			consistent(t, b, 1)
			spelled(t, exe, b)
			compare(t, b, 1)
		})
	}
}
