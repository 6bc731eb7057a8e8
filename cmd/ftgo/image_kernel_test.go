package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// image is the root of what a Dockerfile makes: what its last stage copies from the first, which this machine builds
// and has.
func image(t *testing.T, file string) (root string) {
	t.Helper()
	root, out := t.TempDir(), t.TempDir()
	for line := range strings.Lines(readFile(t, filepath.Join(fixture.Root(), file))) {
		words := strings.Fields(line)
		if command, ok := strings.CutPrefix(line, "RUN CGO_ENABLED=0 go build "); ok {
			sh(t, fmt.Sprintf("cd %s; VERSION=unknown; CGO_ENABLED=0 go build %s", fixture.Root(), strings.Replace(command, "/out", out, 1)))
		} else if len(words) == 4 && words[0] == "COPY" && words[1] == "--from=build" {
			to := root + words[3]
			noError(t, os.MkdirAll(to[:strings.LastIndexByte(to, '/')], 0o755))
			sh(t, fmt.Sprintf("cp %s %s", strings.Replace(words[2], "/out", out, 1), to))
		}
	}
	return root
}

// docker runs the stand-in for it, which knows the image by the name ftgo.
func docker(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	images := t.TempDir()
	noError(t, os.Symlink(root, filepath.Join(images, "ftgo")))
	cmd := exec.Command(filepath.Join(withStandIns(t, nil), "docker"), args...)
	cmd.Env = append(os.Environ(), "IMAGES="+images)
	return cmd
}

// inImage starts ftgo in a container of its own, with a volume: root without capabilities but for what
// docs/containers.md grants, on a file system for reading only.
func inImage(t *testing.T, root, tracing, volume string, flags []string, args ...string) *child {
	t.Helper()
	run := []string{"run", "--read-only", "--cap-drop=ALL", "--cap-add=SYS_PTRACE", "--cap-add=DAC_READ_SEARCH", "--cap-add=LEASE",
		"--security-opt=no-new-privileges", "-v", tracing + ":/sys/kernel/tracing", "-v", volume + ":/volume"}
	return start(t, docker(t, root, slices.Concat(run, flags, []string{"ftgo"}, args)...))
}

// TestKernelImage: from a container of the image a process of another container is probed, and every call
// of it is seen: by the id of the container, with the host's processes; and by BINARY, with none but ftgo's own.
func TestKernelImage(t *testing.T) {
	f := tracetest.LongKernel(t)
	for _, tool := range []string{"unshare", "chroot", "mount", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	root := image(t, "scripts/packaging/Dockerfile")
	for name, want := range map[string]os.FileMode{"/usr/bin/ftgo": 0o755, "/etc/ssl/certs/ca-certificates.crt": 0o644} {
		if info, err := os.Stat(root + name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	volume := t.TempDir()
	target := volume + "/family"
	copyFile(t, fixture.Build(t, "family", "-tags", "osusergo,netgo"), target)
	doctor := inImage(t, root, f.Dir(), volume, []string{"--pid=host"}, "doctor")
	if code := doctor.end(t); code != 0 || !strings.Contains(doctor.out.String(), "mounted at /sys/kernel/tracing") {
		t.Errorf("doctor: status %d\n%s%s", code, doctor.out.String(), doctor.err.String())
	}
	t.Run("container", func(t *testing.T) {
		id := fmt.Sprintf("%08x", os.Getpid()) + strings.Repeat("e9", 28)
		group := cgroup(t, "cgroup2", "ftgo-test/docker-"+id+".scope")
		other := family(t, target, "stdin", "work=101")
		m, _ := contained(t, group, "work=3", "child=5", "thread", "work=11")
		p := inImage(t, root, f.Dir(), volume, []string{"--pid=host"}, "probe", "-o", "json", "--container", id[:12], "/current", "main.work")
		p.await(t)
		other.goOn(t)
		m.goOn(t)
		workCalls(t, p.result(t), 3+11)
		nothingOf(t, f, p.Process.Pid)
	})
	t.Run("file", func(t *testing.T) {
		other, _ := contained(t, cgroup(t, "cgroup2", "ftgo-test/other"), "work=101")
		jail := t.TempDir()
		m := family(t, "unshare", "-mpf", "--kill-child", "sh", "-c", `mount --bind "$1" "$0" && exec chroot "$0" /family stdin work=3 work=11`, jail, volume)
		p := inImage(t, root, f.Dir(), volume, nil, "probe", "-o", "json", "/volume/family", "main.work")
		p.await(t)
		other.goOn(t)
		m.goOn(t)
		noError(t, syscall.Kill(childOf(t, p.Process.Pid), syscall.SIGINT))
		workCalls(t, p.result(t), 3+11)
	})
}
