package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/tracetest"
)

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
