package scripts

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// arm64Kernel is the kernel of the guest.
const arm64Kernel = "6.12-arm64"

// arm64Tests are the kernel tests that are tried there, and the parts of them that must pass.
var arm64Tests = map[string][]string{
	"Heap":   {"local", "local-ldflags-s_-w", "local-buildmode=pie-ldflags-s_-w"},
	"Values": {"current/default", "current/-N_-l"},
	// It needs no kernel of its own, but the stacks are those of the processor.
	"GoroutinesLikeADump": {"current/default", `current/-ldflags_"-s_-w"`, "current/-buildmode=pie"},
}

// arm64Scripts are scripts that are tried there.
var arm64Scripts = []string{
	"ShortScripts/exact.txt_FTGO_READER=pipe", "Scripts/shortlived.txt_FTGO_READER=pipe", "Scripts/callback.txt_FTGO_READER=pipe",
	"ShortScripts/schedprobe.txt", "ShortScripts/tree.txt", "ShortScripts/watch.txt_mode=exe", "ShortScripts/watch.txt_mode=pie",
	"Scripts/record.txt_sh=busybox", "Scripts/where.txt_FTGO_READER=pipe", "Scripts/where.txt_FTGO_READER=raw",
}

// arm64Targets are the programs in Go that they trace, with the flags that each is built with.
var arm64Targets = [][]string{
	{"exact"}, {"flood"}, {"flood", "-buildmode=pie"}, {"lookup"}, {"lookup", "-buildmode=pie"}, {"lookup", "-buildmode=exe"}, {"nest"}, {"sched"},
	{"callback"}, {"paced"}, {"heap"}, {"heap", "-ldflags", "-s -w"}, {"heap", "-buildmode=pie", "-ldflags", "-s -w"},
}

// TestKernelArm64 runs some kernel tests on an emulated arm64 kernel, with what is built here. It
// is skipped, and says so, where QEMU or a kernel can't be had, and where others test at the same time what goes
// by the clock: an emulated CPU keeps a real one busy for minutes. So .ci/run runs it by itself.
func TestKernelArm64(t *testing.T) {
	if !fixture.All() {
		t.Skipf("takes long, and a CPU: %s=all runs it", fixture.LongVar)
	}
	if _, err := exec.LookPath("qemu-system-aarch64"); err != nil {
		t.Skipf("no guest of arm64: apt-get install qemu-system-arm: %v", err)
	}
	vm := filepath.Join(fixture.Root(), "scripts", "vm")
	// It fetches the kernel, if it has none.
	if out, err := exec.CommandContext(t.Context(), vm, "--timeout", "300", arm64Kernel, "--", "uname", "-m").Output(); err != nil {
		t.Skipf("no guest of arm64: %s %s -- uname -m: %v\n%s", vm, arm64Kernel, err, out)
	} else if got := string(out); got != "aarch64\n" {
		t.Fatalf("uname -m says %q", got)
	}
	dir := t.TempDir()
	t.Setenv(fixture.TargetsVar, filepath.Join(dir, "targets"))
	t.Setenv("FTGO_TEST_KERNEL", "require")
	for _, target := range arm64Targets {
		fixture.BuildFor(t, "arm64", fixture.Local, target[0], target[1:]...)
	}
	for _, v := range fixture.Variants[:4] {
		fixture.BuildFor(t, "arm64", fixture.Current, "park", v.Flags...)
	}
	fixture.CommandFor(t, "arm64", "cmd/ftgo")
	for _, flags := range []string{"", "-N -l"} {
		fixture.BuildFor(t, "arm64", fixture.Current, "values", "-gcflags", flags)
	}
	test := filepath.Join(dir, "ftgo.test")
	build := exec.Command("go", "test", "-c", "-o", test, "./cmd/ftgo")
	build.Dir, build.Env = fixture.Root(), append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// An emulated CPU may have to share a slow one.
	guest := exec.CommandContext(t.Context(), vm, "--timeout", "1800", "--file", test, "--file", filepath.Join(dir, "targets", "arm64"),
		"--file", filepath.Join(fixture.Root(), "docs"), "--file", filepath.Join(fixture.Root(), "testdata"), arm64Kernel, "--",
		"sh", "-c", `for run; do "$0" -test.v -test.timeout=30m -test.run="$run" || exit; done`, test,
		"^TestKernel("+strings.Join(slices.Sorted(maps.Keys(arm64Tests)), "|")+")$", `^TestKernel(Short)?Scripts$/^(callback|exact|record|schedprobe|shortlived|tree|watch|where)\.txt`, "^TestGoroutinesLikeADump$")
	guest.Dir = filepath.Join(fixture.Root(), "cmd", "ftgo")
	var out bytes.Buffer
	guest.Stdout, guest.Stderr = &out, &out
	err := guest.Run()
	var passed []string
	for _, m := range regexp.MustCompile(`(?m)^ *--- PASS: Test(?:Kernel)?(\S+) `).FindAllStringSubmatch(out.String(), -1) {
		passed = append(passed, m[1])
	}
	// What had all of its parts skipped has passed, too.
	wanted := slices.Clone(arm64Scripts)
	for name, parts := range arm64Tests {
		wanted = append(wanted, name)
		for _, part := range parts {
			wanted = append(wanted, name+"/"+part)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(passed, name) {
			t.Errorf("TestKernel%s has not passed", name)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%s: %v\n%s", guest, err, &out)
	}
}
