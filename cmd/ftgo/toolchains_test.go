package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// matrixVar is the environment variable that names the file to write the table to.
const matrixVar = "FTGO_MATRIX"

// someVersions have between them every way in which Go has passed arguments, found
// its goroutine, checked its stack and stored its symbols; allVersions are one of each
// release that changed something here.
var (
	someVersions = []string{"1.5.4", "1.12.17", "1.16.15", "1.17.13", "1.20.14", "1.24.6", "1.26.8", "1.27.4", fixture.Current}
	allVersions  = []string{
		"1.5.4", "1.9.7", "1.12.17", "1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.21.13", "1.22.12", "1.23.12", "1.24.6", "1.25.0", "1.26.8", "1.27.4", fixture.Current,
	}
)

// TestKernelToolchains counts the exactness target built by many toolchains in many
// ways. With FTGO_TEST_LONG=all it takes all of them, and with FTGO_MATRIX=FILE it
// writes the table of docs/dev/toolchains.md.
func TestKernelToolchains(t *testing.T) {
	tracetest.LongKernel(t)
	versions := someVersions
	if fixture.All() {
		versions = allVersions
	}
	cells := make(map[string]string)
	for _, version := range versions {
		for i, v := range fixture.Variants {
			// The old are slow to build and to trace: short runs take every variant
			// with some version, not with each.
			if len(versions) != len(allVersions) && i > 0 && version != "1.12.17" && version != "1.20.14" && version != fixture.Current && i != len(version)%len(fixture.Variants) {
				continue
			}
			t.Run(version+"/"+v.Name, func(t *testing.T) {
				cells[version+v.Name] = "**failed**"
				cells[version+v.Name] = observeToolchain(t, version, v)
			})
		}
	}
	if file := os.Getenv(matrixVar); file != "" && !t.Failed() {
		page := readFile(t, filepath.Join(fixture.Root(), "docs/dev/toolchains.md"))
		fixture.Write(t, file, matrixIn.ReplaceAllLiteralString(page, matrix(versions, cells)))
	}
}

// observeToolchain returns the text of a cell of the table.
func observeToolchain(t *testing.T, version string, v fixture.Variant) string {
	if v.Cgo {
		t.Setenv("CGO_ENABLED", "1")
		t.Setenv("CC", oldCC(t, version))
	}
	target, err := fixture.TryBuildWith(t, version, "exact", v.Flags...)
	if err != nil {
		// Go 1.5 knows no PIE on amd64; that is the only hole there may be.
		if version == "1.5.4" && v.Name == "-buildmode=pie" && strings.Contains(err.Error(), "not supported") {
			return "not in this version"
		}
		t.Fatal(err)
	}
	// Enough for all events: where one CPU does the work of two, nobody reads while the program works.
	o, b, r := observeTarget(t, nil, "probe", target, []string{"--buffer", "64M", "main.*"})
	r.succeeded(t)
	if strings.Contains(v.Name, "-s -w") {
		sameStripped(t, version, o, b)
	} else {
		same(t, o, b)
	}
	if o.summary.Lost != 0 {
		t.Errorf("%d events lost", o.summary.Lost)
	}
	var calls uint64
	for _, f := range b.Functions {
		calls += f.Calls
	}
	cell := fmt.Sprintf("exact: %d functions, %d calls", len(b.Functions), calls)
	if !t.Failed() {
		t.Log(cell) // scripts/trials reads it
	}
	return cell
}

// sameStripped is same for programs whose names come from pclntab, which prints the
// type arguments of Go 1.18 to 1.20 as [...]: all instances have one name there, and
// only the last of them is seen by it.
func sameStripped(t *testing.T, version string, o observed, b books) {
	t.Helper()
	if strings.HasPrefix(version, "1.18.") || strings.HasPrefix(version, "1.20.") {
		for name := range b.Functions {
			if strings.Contains(name, "[") {
				delete(b.Functions, name)
			}
		}
	}
	same(t, o, b)
}

// oldCC is a C compiler for cgo of any version: Go 1.5 combines object files in a way
// that today's gcc, which makes position-independent executables, takes badly.
func oldCC(t *testing.T, version string) string {
	if version != "1.5.4" {
		return "gcc"
	}
	path := filepath.Join(fixture.Dir(t), "cc")
	script := "#!/bin/sh\nfor a; do [ \"$a\" = -Wl,-r ] && exec gcc -r \"$@\"; done\nexec gcc -no-pie \"$@\"\n"
	noError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

// matrixIn is where docs/dev/toolchains.md has the table.
var matrixIn = regexp.MustCompile(`(?m)^(\|.*\n)+`)

// matrix is the table of docs/dev/toolchains.md.
func matrix(versions []string, cells map[string]string) string {
	var b strings.Builder
	b.WriteString("| Go |")
	for _, v := range fixture.Variants {
		b.WriteString(" " + v.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(fixture.Variants)) + "\n")
	for _, version := range versions {
		b.WriteString("| " + version + " |")
		for _, v := range fixture.Variants {
			b.WriteString(" " + cells[version+v.Name] + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
