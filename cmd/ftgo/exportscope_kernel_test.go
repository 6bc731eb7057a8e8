package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelExportOverlays: calls of two containers of one image, whose file the kernel takes for one, count once each.
func TestKernelExportOverlays(t *testing.T) {
	tracetest.LongKernel(t)
	layer, name := t.TempDir(), fmt.Sprintf("layer%d", os.Getpid())
	copyFile(t, fixture.Build(t, "family"), filepath.Join(layer, name))
	e := export(t, "-p", name, "main.work")
	var members []*member
	for range 2 {
		members = append(members, family(t, filepath.Join(overlaid(t, layer), name), "stdin", "work=3"))
	}
	e.says(t, "probing 1 function")
	e.processes(t, 2)
	for _, m := range members {
		m.goOn(t)
	}
	e.settled(t, "main.work", 2*3)
	e.finish(t)
}

// settled waits until nothing runs what is probed, which is looked at less often than numbers are read, and tells what
// calls there were then.
func (e *exporting) settled(t *testing.T, function string, want float64) {
	t.Helper()
	e.comesTo(t, callsOf(function), want)
	e.processes(t, 0)
	if plans, calls := e.value(t, "ftgo_plans_total"), e.value(t, callsOf(function)); plans != 1 || calls != want {
		t.Errorf("%v plans, %v calls of %s, not %v", plans, calls, function, want)
	}
}

// TestKernelExportChanged: a file of overlayfs that gets another name is the one that is probed already, whatever time it has then.
func TestKernelExportChanged(t *testing.T) {
	tracetest.LongKernel(t)
	dir, name := t.TempDir(), fmt.Sprintf("changed%d", os.Getpid())
	for _, sub := range []string{"layer", "upper", "work", "root", "other"} {
		noError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	root, other := filepath.Join(dir, "root"), filepath.Join(dir, "other", name)
	if err := syscall.Mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/layer,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)); err != nil {
		t.Skipf("mount an overlay: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(root, syscall.MNT_DETACH) })
	path := filepath.Join(root, name)
	copyFile(t, fixture.Build(t, "family"), path)
	copyFile(t, path, other)
	first := family(t, path, "stdin", "work=3")
	e := export(t, "-p", name, "main.work")
	e.says(t, "probing 1 function")
	noError(t, os.Link(path, path+".old"))
	second := family(t, other, "stdin", "work=11")
	e.says(t, " in "+other+" at ") // so the first was looked at since
	first.goOn(t)
	second.goOn(t)
	e.comesTo(t, callsOf("main.work"), 3+11)
	if plans := e.value(t, "ftgo_plans_total"); plans != 2 {
		t.Errorf("%v plans of two files", plans)
	}
	e.finish(t)
}

// TestKernelExportNamedLater: a container may have run before its name is known, as the kubelet puts that down once it runs.
func TestKernelExportNamedLater(t *testing.T) {
	tracetest.LongKernel(t)
	mark := fmt.Sprintf("%08x", os.Getpid())
	c := calledSo{mark + strings.Repeat("6e", 28), mark + strings.Repeat("8d", 28), "web-" + mark, "shop-" + mark, ""}
	m, _ := containedAs(t, "shop", cgroup(t, "cgroup2", "ftgo-test/cri-containerd-"+c.server+".scope"), "work=3")
	e := export(t, "--container", c.pod, "-p", "shop", "main.work")
	e.says(t, "waiting for shop in --container")
	c.known(t)
	e.says(t, "probing 1 function")
	m.goOn(t)
	e.comesTo(t, callsOf("main.work"), 3)
	e.finish(t)
}

// processes waits until so many are known to run what is probed.
func (e *exporting) processes(t *testing.T, want int) {
	t.Helper()
	waitFor(t, fmt.Sprint(want, " processes"), func() bool {
		n := 0
		for line := range strings.Lines(e.metrics(t)) {
			if strings.HasPrefix(line, "ftgo_file_processes{") {
				text := strings.TrimSpace(line[strings.LastIndexByte(line, '}')+1:])
				file, err := strconv.Atoi(text)
				noError(t, err)
				n += file
			}
		}
		return n == want
	})
}
