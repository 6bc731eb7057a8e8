package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

type listLine struct {
	Type, Function, Address, Offset, ABI, Entry, Position, Note string
	Size                                                        uint64
	Returns                                                     int
	Inlined                                                     []struct {
		Function, File string
		Line           int
	}
}

// listed runs list -o json and returns its lines in order.
func listed(t *testing.T, args ...string) []listLine {
	t.Helper()
	return decoded[listLine](t, ran(t, append([]string{"list", "-o", "json"}, args...)...).stdout)
}

func names(lines []listLine) []string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Function)
	}
	return all
}

// moved is a stripped program of a Go that does not exist yet, which has a field of runtime.moduledata more.
func moved(t *testing.T, name string) string {
	t.Helper()
	path := fixture.BuildWith(t, fixture.Current, name, "-ldflags=-s -w")
	data := []byte(readFile(t, path))
	f, err := elf.Open(path)
	noError(t, err)
	defer f.Close()
	const types = 37 // words before runtime.types, since Go 1.26
	module := data[f.Section(".go.module").Offset:][8*types:][:8*10]
	copy(module[8:], module[:8*9])
	release := fixture.Release(fixture.Current)
	data = bytes.ReplaceAll(data, []byte(release), []byte("go1.28."+strings.Repeat("0", len(release)-len("go1.28."))))
	to := filepath.Join(t.TempDir(), name)
	noError(t, os.WriteFile(to, data, 0o755))
	return to
}

// TestListUnknownGo: of a program of a Go that does not exist yet it is told once what ftgo does not know, and
// functions are listed.
func TestListUnknownGo(t *testing.T) {
	bin := moved(t, "greet")
	r := ftgo(t, "list", bin, "main.*", "fmt.Fprintln")
	if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "does not know where go1.28.0") || !strings.Contains(r.stdout, "main.main") {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := ftgo(t, "list", fixture.Build(t, "greet", "-ldflags=-s -w"), "main.*"); r.code != 0 || r.stderr != "" {
		t.Errorf("status %d of a release that is known\n%s", r.code, r.stderr)
	}
}

func TestListInlined(t *testing.T) {
	store := filepath.Join(fixture.Root(), "testdata", "lines", "store.go")
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			bin := fixture.Build(t, "lines", flags...)
			lines := listed(t, bin, "main.*store*", "main.double")
			want := []string{"main.double", "main.(*store).put", "main.(*store).fill", "main.(*store).frame", "main.(*store).at"}
			if got := names(lines); !slices.Equal(got, want) {
				t.Fatalf("functions %q, want %q", got, want)
			}
			double, put, at := lines[0], lines[1], lines[4]

			if want := fmt.Sprintf("%s:%d", store, fixture.Marks(t, "store.go")["double"]); double.Position != want {
				t.Errorf("main.double is at %q, want %q", double.Position, want)
			}
			if len(double.Inlined) != 2 || !strings.HasPrefix(double.Note, "calls not seen: also inlined at 2 places: main.(*store).put store.go:") {
				t.Errorf("main.double: %+v, note %q", double.Inlined, double.Note)
			}
			if len(put.Inlined) != 0 || put.Note != "" || put.Address == "" {
				t.Errorf("main.(*store).put: %+v", put)
			}
			if at.Address != "" || at.Offset != "" || at.Size != 0 || at.Entry != "none" || at.Position != "" ||
				!strings.HasPrefix(at.Note, "no code of its own: inlined at 2 places: main.(*store).fill store.go:") {
				t.Errorf("main.(*store).at: %+v", at)
			}
			if len(at.Inlined) != 2 || at.Inlined[0].Function != "main.(*store).fill" || at.Inlined[0].File != store || at.Inlined[0].Line != fixture.Marks(t, "store.go")["fill at"] {
				t.Errorf("main.(*store).at is inlined at %+v", at.Inlined)
			}

			if only := listed(t, bin, "main.store.at"); len(only) != 1 || only[0].Function != "main.(*store).at" {
				t.Errorf("main.store.at: %+v", only)
			}
			if rest := names(listed(t, bin, "main.store.*", "-x", "*.at")); slices.Contains(rest, "main.(*store).at") || len(rest) != 3 {
				t.Errorf("without *.at: %q", rest)
			}
		})
	}
}

func TestListPlaces(t *testing.T) {
	bin := fixture.Build(t, "lines")
	start := fixture.Marks(t, "store.go")["frame start"]
	lines := listed(t, bin, "main.once", fmt.Sprintf("store.go:%d", start), "main.store.frame+0")
	want := []string{"main.once", fmt.Sprintf("store.go:%d", start), "main.(*store).frame+0x0"}
	if got := names(lines); !slices.Equal(got, want) {
		t.Fatalf("listed %q, want %q", got, want)
	}
	line, offset := lines[1], lines[2]
	if line.Entry != "instruction" || line.Address == "" || line.Size != 0 || !strings.HasPrefix(line.Note, "is main.(*store).frame+0x") ||
		!strings.HasSuffix(line.Position, fmt.Sprintf("/store.go:%d", start)) {
		t.Errorf("line: %+v", line)
	}
	if offset.Address == line.Address || offset.Note != "executed again after a failed stack check" {
		t.Errorf("offset: %+v", offset)
	}
}

// TestOfProcess: list and script take BINARY from a process, as what probes does.
func TestOfProcess(t *testing.T) {
	bin, pid := startedPath(t)
	of := ftgo(t, "list", "-o", "tsv", bin, "main.main")
	if r := ftgo(t, "list", "-o", "tsv", "-p", pid, "main.main"); r.code != 0 || r.stdout != of.stdout || !strings.Contains(r.stdout, "main.main") {
		t.Errorf("list: status %d\n%s%s, want\n%s", r.code, r.stdout, r.stderr, of.stdout)
	}
	if r := ftgo(t, "script", "-p", pid, "main.main"); r.code != 0 || !strings.Contains(r.stdout, "\nbinary='"+bin+"'\n") {
		t.Errorf("script: status %d, not of %s: %s", r.code, bin, r.stderr)
	}
}

// startedPath starts a program that does nothing until the test ends.
func startedPath(t *testing.T) (path, pid string) {
	t.Helper()
	path = fixture.Build(t, "spawn")
	cmd := exec.Command(path, "-n", "1", "-sleep", "10m", "-slow", "1")
	noError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return path, fmt.Sprint(cmd.Process.Pid)
}
