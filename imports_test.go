package ftgo_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

const module = "github.com/ftgo/ftgo"

// arrow lists the packages that a package may import besides the standard library. "x/..." is x and all packages below
// it. Tests may import the whole module, too.
type arrow struct {
	from string // relative to the module
	to   []string
}

// arrows keep the flow one-way: binary → sites → definitions → lines → calls →
// statistics → text. A package that no arrow names is a mistake: draw its arrow.
var arrows = []arrow{
	{from: ".", to: []string{
		module + "/internal/engine", module + "/internal/printable", module + "/internal/procfs", module + "/internal/stats", module + "/internal/target",
		module + "/internal/trace", module + "/offsets", module + "/internal/gotype", module + "/internal/pairing", module + "/internal/recording",
		module + "/internal/tracefs", module + "/internal/uprobe", module + "/internal/capture"}},
	{from: "internal/procfs", to: []string{"golang.org/x/sys/unix"}},
	{from: "internal/target", to: []string{
		module + "/offsets", "golang.org/x/sys/unix", module + "/internal/arch", module + "/internal/procfs",
		module + "/internal/printable", module + "/internal/tracefs", module + "/internal/capture", module + "/internal/gotype", module + "/internal/symname",
		module + "/internal/uprobe"}},
	{from: "internal/printable", to: []string{"github.com/olekukonko/tablewriter/...", "github.com/hbollon/go-edlib"}},
	{from: "internal/doctor", to: []string{
		"golang.org/x/sys/unix", module + "/internal/procfs", module + "/internal/tracefs", module + "/internal/pairing", module + "/internal/trace", module + "/offsets",
		module + "/internal/uprobe", module + "/internal/capture"}},
	{from: "internal/arch/arm64", to: []string{module + "/internal/arch", module + "/internal/gotype"}},
	{from: "internal/arch/amd64", to: []string{module + "/internal/arch", module + "/internal/gotype", "golang.org/x/arch/x86/x86asm"}},
	{from: "internal/arch", to: []string{module + "/internal/gotype"}},
	{from: "internal/symname", to: []string{module + "/internal/printable", "github.com/ianlancetaylor/demangle"}},
	{from: "offsets/internal/image", to: []string{module + "/internal/arch", module + "/internal/arch/amd64", module + "/internal/arch/arm64", "golang.org/x/sys/unix"}},
	{from: "offsets/internal/debug", to: []string{module + "/internal/arch", module + "/internal/gotype", module + "/offsets/internal/image"}},
	{from: "offsets/internal/gotab", to: []string{module + "/internal/gotype", module + "/offsets/internal/image"}},
	{from: "internal/gotype", to: nil},
	{from: "offsets", to: []string{module + "/internal/arch", module + "/internal/gotype", module + "/internal/symname", module + "/offsets/internal/debug", module + "/offsets/internal/gotab", module + "/offsets/internal/image"}},
	{from: "internal/tracefs", to: []string{module + "/internal/printable", module + "/internal/procfs", "golang.org/x/sys/unix"}},
	{from: "tracefs", to: []string{module + "/internal/tracefs"}},
	{from: "internal/capture", to: []string{module + "/internal/arch", module + "/internal/printable", module + "/offsets", module + "/internal/gotype", module + "/internal/tracefs"}},
	{from: "internal/uprobe", to: []string{module + "/parse", module + "/offsets", module + "/internal/arch", module + "/internal/tracefs", module + "/internal/capture"}},
	{from: "internal/pairing", to: []string{module + "/internal/procfs", module + "/internal/uprobe", module + "/offsets", module + "/parse"}},
	{from: "parse", to: nil},
	{from: "internal/recording", to: []string{
		module + "/internal/printable", module + "/offsets", module + "/internal/arch", module + "/parse", module + "/internal/tracefs",
		module + "/internal/uprobe"}},
	{from: "internal/stats", to: []string{module + "/offsets"}},
	{from: "internal/metrics", to: []string{
		module + "/internal/stats", "github.com/prometheus/client_golang/prometheus/...", "github.com/prometheus/client_model/go", module + "/internal/pairing",
		module + "/internal/printable", "go.opentelemetry.io/proto/slim/otlp/...", "google.golang.org/protobuf/..."}},
	{from: "internal/budget", to: nil},
	{from: "internal/trace", to: []string{
		module + "/offsets", module + "/parse",
		module + "/internal/procfs", module + "/internal/pairing", module + "/internal/printable", module + "/internal/budget",
		module + "/internal/stats", module + "/internal/recording", module + "/internal/tracefs", module + "/internal/uprobe"}},
	{from: "internal/engine", to: []string{
		module + "/internal/capture", module + "/internal/gotype", module + "/internal/pairing", module + "/internal/procfs",
		module + "/internal/recording", module + "/internal/stats", module + "/internal/target", module + "/internal/trace", module + "/internal/tracefs",
		module + "/internal/uprobe", module + "/offsets"}},
	{from: "cmd/ftgo/internal/top", to: []string{module + "/cmd/ftgo/internal/render", module + "/internal/printable", "github.com/gdamore/tcell/v3"}},
	{from: "cmd/ftgo/internal/render", to: []string{
		module + "/internal/target", module + "/offsets", module + "/internal/pairing", module + "/parse",
		module + "/internal/stats", "github.com/google/pprof/profile", module + "/internal/gotype", module + "/internal/capture", module + "/internal/printable"}},
	{from: "cmd/ftgo/internal/cli", to: []string{
		module + "/cmd/ftgo/internal/render", module + "/internal/printable", module + "/internal/procfs", module + "/internal/target", "golang.org/x/sys/unix",
		module + "/offsets", module + "/internal/symname", module + "/internal/tracefs", module + "/internal/doctor", "github.com/spf13/pflag"}},
	{from: "cmd/ftgo/internal/where", to: []string{module + "/internal/printable", module + "/internal/gotype", module + "/internal/capture"}},
	{from: "cmd/ftgo/internal/compare", to: []string{module + "/internal/target", "golang.org/x/tools/cover", module + "/cmd/ftgo/internal/render", module + "/internal/printable", module + "/internal/stats"}},
	{from: "cmd/ftgo/internal/view", to: []string{
		module + "/internal/engine",
		module + "/cmd/ftgo/internal/compare", module + "/cmd/ftgo/internal/cli", module + "/cmd/ftgo/internal/render",
		module + "/cmd/ftgo/internal/top", module + "/cmd/ftgo/internal/where",
		module + "/internal/metrics", module + "/internal/printable", module + "/internal/stats", module + "/internal/target", module + "/internal/trace",
		module + "/offsets", module + "/internal/symname", module + "/internal/gotype", module + "/internal/pairing", module + "/internal/tracefs", module + "/internal/uprobe",
		module + "/internal/capture"}},
	{from: "cmd/ftgo/internal/session", to: []string{
		module + "/internal/engine",
		module + "/cmd/ftgo/internal/compare", module + "/cmd/ftgo/internal/top", module + "/cmd/ftgo/internal/cli",
		module + "/cmd/ftgo/internal/render", module + "/cmd/ftgo/internal/view",
		module + "/internal/printable", module + "/internal/procfs", module + "/internal/metrics", module + "/internal/stats", module + "/internal/target",
		module + "/internal/trace", module + "/offsets", module + "/internal/pairing", module + "/internal/recording", module + "/internal/tracefs", module + "/internal/doctor",
		module + "/internal/uprobe"}},
	{from: "cmd/ftgo", to: []string{module + "/...", "github.com/rogpeppe/go-internal/testscript", "github.com/rogpeppe/go-internal/txtar", "github.com/google/pprof/profile"}},
	{from: "scripts", to: []string{"go.yaml.in/yaml/v3"}},
	{from: "scripts/trials", to: []string{"golang.org/x/sys/unix"}},
}

// networked packages may use a network, for --listen or --otlp of ftgo export. network has the packages that do so.
var networked = []string{module + "/internal/metrics", module + "/cmd/ftgo/internal/session"}

var network = []string{"net", "net/http", "net/rpc", "net/smtp", "crypto/tls"}

// testOnly packages import testing. Only tests may import them.
var testOnly = []string{module + "/testdata/binaries", module + "/testdata/madeup", module + "/testdata/setclock", module + "/testdata/tracetest"}

// listed is the output of go list for a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImports(t *testing.T) {
	// -e lists packages that do not build, too.
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == module+"/offsets" }) {
		t.Fatalf("go list does not see %s/offsets among %d packages", module, len(packages))
	}
	for _, p := range packages {
		i := slices.IndexFunc(arrows, func(a arrow) bool {
			return covers(strings.TrimSuffix(module+"/"+a.from, "/."), p.ImportPath)
		})
		if i < 0 {
			t.Errorf("%s has no arrow", p.ImportPath)
			continue
		}
		allowed := arrows[i].to
		for _, path := range p.Imports {
			if !mayImport(allowed, path) || slices.Contains(testOnly, path) || slices.Contains(network, path) && !slices.Contains(networked, p.ImportPath) {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
		allowed = append([]string{module + "/..."}, allowed...)
		for _, path := range append(slices.Clone(p.TestImports), p.XTestImports...) {
			if !mayImport(allowed, path) {
				t.Errorf("%s imports %s in its tests", p.ImportPath, path)
			}
		}
	}
}

// TestProcFiles checks that only internal/procfs reads /proc/PID, so that its formats are parsed in one place.
func TestProcFiles(t *testing.T) {
	// The beginning of paths such as "/proc/" + pid and "/proc/%d/stat".
	ofProcess := regexp.MustCompile(`"/proc/("|%|\[)`)
	for _, dir := range []string{"cmd", "internal", "offsets", "tracefs"} {
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || filepath.Dir(name) == "internal/procfs" {
				return err
			}
			text, err := os.ReadFile(name)
			if found := ofProcess.FindIndex(text); found != nil {
				line, _, _ := strings.Cut(string(text[found[0]:]), "\n")
				t.Errorf("%s reads %s: that is for internal/procfs", name, line)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func mayImport(allowed []string, path string) bool {
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") && path != "C" {
		return true // the standard library; cgo is not part of it
	}
	return slices.ContainsFunc(allowed, func(a string) bool { return covers(a, path) })
}

// covers reports whether pattern, a path or "path/...", covers path.
func covers(pattern, path string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}

// TestArchitecture checks that docs/dev/architecture.md has a row for each package with an arrow, and no other rows.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("docs/dev/architecture.md")
	fixture.NoError(t, err)
	rooms := make(map[string]bool)
	for line := range strings.Lines(string(page)) {
		cell, isRow := strings.CutPrefix(line, "| `")
		if !isRow {
			continue
		}
		cell, _, _ = strings.Cut(cell, " | ")
		for name := range strings.SplitSeq("`"+cell, ", ") {
			rooms[strings.Trim(name, "`")] = true
		}
	}
	for _, a := range arrows {
		name := strings.TrimSuffix(a.from, "/...")
		if name == "." {
			name = "ftgo"
		}
		if !rooms[name] {
			t.Errorf("docs/dev/architecture.md has no row for %s", name)
		}
	}
	for name := range rooms {
		if _, err := os.Stat(name); err != nil && name != "ftgo" {
			t.Errorf("docs/dev/architecture.md has a row for %s: %v", name, err)
		}
	}
}
