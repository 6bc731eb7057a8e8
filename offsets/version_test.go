package offsets

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestGoVersion: the version is found with symbols, without, and without section
// headers. No release before 1.13 has build information.
func TestGoVersion(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			want := fixture.Release(version)
			stripped := fixture.BuildWith(t, version, "exact", "-ldflags=-s -w")
			for name, path := range map[string]string{
				"as built":                fixture.BuildWith(t, version, "exact"),
				"stripped":                stripped,
				"without section headers": fixture.Headless(t, stripped),
			} {
				if minor, v := openPath(t, path).GoVersion(); minor == 0 || v != want {
					t.Errorf("%s: %d, %q; want %s", name, minor, v, want)
				}
			}
		})
	}
}

// TestGoVersionAmongTexts: of two texts that look like a version, the one that a
// variable has for its value counts.
func TestGoVersionAmongTexts(t *testing.T) {
	data, err := os.ReadFile(fixture.BuildWith(t, "1.12.17", "exact", "-ldflags=-s -w"))
	fixture.NoError(t, err)
	said, other := []byte("index out of range"), []byte("go1.9.1 is too old")
	if len(said) != len(other) || !bytes.Contains(data, said) {
		t.Fatalf("no %q to replace", said)
	}
	path := filepath.Join(t.TempDir(), "old")
	fixture.NoError(t, os.WriteFile(path, bytes.ReplaceAll(data, said, other), 0o755))
	if minor, v := openPath(t, path).GoVersion(); minor != 12 || v != "go1.12.17" {
		t.Errorf("%d, %q", minor, v)
	}
}

// TestNotGo: C is not taken for Go, even if it says "go1.12.17".
func TestNotGo(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "c.c")
	text := `char *runtime_buildVersion = "go1.12.17"; int main(void) { return runtime_buildVersion[0]; }`
	fixture.NoError(t, os.WriteFile(source, []byte(text), 0o644))
	path := filepath.Join(dir, "c")
	if out, err := exec.Command("gcc", "-o", path, source).CombinedOutput(); err != nil {
		t.Skipf("no C compiler: %v\n%s", err, out)
	}
	b := openPath(t, path)
	if minor, v := b.GoVersion(); minor > 0 {
		t.Errorf("a C program was built with %+v", v)
	}
	f, ok := b.Lookup("main")
	if !ok || f.ABI != SystemV {
		t.Errorf("main of a C program: %+v", f)
	}
}

// TestGccgo: another compiler's Go has neither g in a register nor its layout.
func TestGccgo(t *testing.T) {
	if _, err := exec.LookPath("gccgo"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	fixture.NoError(t, os.WriteFile(source, []byte("package main\nfunc main() { println(1) }\n"), 0o644))
	path := filepath.Join(dir, "main")
	if out, err := exec.Command("gccgo", "-static-libgo", "-o", path, source).CombinedOutput(); err != nil {
		t.Skipf("gccgo links nothing: %v\n%s", err, out)
	}
	b := openPath(t, path)
	if minor, v := b.GoVersion(); minor > 0 {
		t.Errorf("gccgo's program was built with %+v", v)
	}
	if f, ok := b.Lookup("main.main"); !ok || f.ABI != SystemV {
		t.Errorf("main.main of gccgo: %+v", f)
	}
}
