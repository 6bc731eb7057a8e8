package main

import (
	"encoding/json"
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

// stage is one of a Dockerfile.
type stage struct {
	root, dir  string
	scratch    bool // else it is built with this machine's tools and Go
	env        []string
	entrypoint []string
}

// image carries out the steps of a Dockerfile, and returns the last stage.
func image(t *testing.T, file string) *stage {
	t.Helper()
	text := readFile(t, filepath.Join(fixture.Root(), file))
	named := make(map[string]*stage)
	var s *stage
	var err error
	for line := range strings.Lines(text) {
		step, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch step {
		case "", "#", "USER", "CMD":
		case "FROM":
			s = &stage{root: t.TempDir(), dir: "/", scratch: words[0] == "scratch"}
			if len(words) == 3 {
				named[words[2]] = s
			}
		case "ARG":
			s.env = append(s.env, rest)
		case "WORKDIR":
			s.dir = rest
			err = os.MkdirAll(s.root+rest, 0o755)
		case "COPY":
			s.copy(t, named, words)
		case "RUN":
			s.run(t, rest)
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &s.entrypoint)
		default:
			t.Fatalf("this test does not know the step %q", step)
		}
		if err != nil {
			t.Fatalf("%s%v", line, err)
		}
	}
	return s
}

// copy copies files into a stage: of another one, or of the repository.
func (s *stage) copy(t *testing.T, named map[string]*stage, words []string) {
	t.Helper()
	to := words[len(words)-1]
	if !filepath.IsAbs(to) {
		to = filepath.Join(s.dir, to) + "/"
	}
	to = s.root + to
	noError(t, os.MkdirAll(to[:strings.LastIndexByte(to, '/')], 0o755))
	name, ok := strings.CutPrefix(words[0], "--from=")
	if !ok {
		for _, from := range words[:len(words)-1] {
			sh(t, fmt.Sprintf("cd %s; git ls-files -z -co --exclude-standard -- %s ':!docs' | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -xf - -C %s", fixture.Root(), from, to))
		}
		return
	}
	from := named[name].root + words[1]
	if _, err := os.Stat(from); err != nil && !named[name].scratch { // what its base has
		from = words[1]
	}
	sh(t, fmt.Sprintf("cp %s %s", from, to))
}

// run runs a command in a stage, with the tools of this machine.
func (s *stage) run(t *testing.T, command string) {
	t.Helper()
	folders := strings.Fields("/bin /sbin /lib /lib64 /usr /etc /dev /proc")
	env := append(os.Environ(), s.env...)
	for _, name := range []string{"GOROOT", "GOMODCACHE", "GOCACHE"} {
		dir, err := exec.Command("go", "env", name).Output()
		noError(t, err)
		folders = append(folders, strings.TrimSpace(string(dir)))
		env = append(env, name+"="+strings.TrimSpace(string(dir)))
	}
	script := `root=$1 dir=$2 command=$3; shift 3
mkdir -p "$root"/tmp
for f; do
	if [ -d "$f" ]; then mkdir -p "$root$f"; mount --rbind "$f" "$root$f"; fi
done
PATH=$GOROOT/bin:$PATH TMPDIR=/tmp exec chroot "$root" /bin/sh -ec "cd $dir; $command"`
	cmd := exec.Command("unshare", slices.Concat([]string{"-m", "sh", "-ec", script, "sh", s.root, s.dir, command}, folders)...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("RUN %s: %v\n%s", command, err, out)
	}
}

// docker runs the stand-in for it, which knows the image by the name ftgo.
func docker(t *testing.T, s *stage, args ...string) *exec.Cmd {
	t.Helper()
	images := t.TempDir()
	noError(t, os.Symlink(s.root, filepath.Join(images, "ftgo")))
	cmd := exec.Command(filepath.Join(withStandIns(t, nil), "docker"), args...)
	cmd.Env = append(os.Environ(), "IMAGES="+images)
	return cmd
}

// inImage starts ftgo in a container of its own, with a volume: root without capabilities but for what
// docs/containers.md grants, on a file system for reading only.
func inImage(t *testing.T, s *stage, tracing, volume string, flags []string, args ...string) *child {
	t.Helper()
	run := []string{"run", "--read-only", "--cap-drop=ALL", "--cap-add=SYS_PTRACE", "--cap-add=DAC_READ_SEARCH", "--cap-add=LEASE",
		"--security-opt=no-new-privileges", "-v", tracing + ":/sys/kernel/tracing", "-v", volume + ":/volume"}
	return start(t, docker(t, s, slices.Concat(run, flags, []string{"ftgo"}, args)...))
}

// TestKernelImage: from a container of the image a process of another container is probed, and every call
// of it is seen: by the id of the container, with the host's processes; and by BINARY, with none but ftgo's own.
func TestKernelImage(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	for _, tool := range []string{"unshare", "chroot", "mount", "setpriv", "tar", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	s := image(t, "scripts/packaging/Dockerfile")
	for name, want := range map[string]os.FileMode{"/usr/bin/ftgo": 0o755, "/etc/ssl/certs/ca-certificates.crt": 0o644} {
		if info, err := os.Stat(s.root + name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	volume := t.TempDir()
	target := volume + "/family"
	copyFile(t, fixture.Build(t, "family", "-tags", "osusergo,netgo"), target)
	doctor := inImage(t, s, f.Dir(), volume, []string{"--pid=host"}, "doctor")
	if code := doctor.end(t); code != 0 || !strings.Contains(doctor.out.String(), "mounted at /sys/kernel/tracing") {
		t.Errorf("doctor: status %d\n%s%s", code, doctor.out.String(), doctor.err.String())
	}
	t.Run("container", func(t *testing.T) {
		id := fmt.Sprintf("%08x", os.Getpid()) + strings.Repeat("e9", 28)
		group := cgroup(t, "cgroup2", "ftgo-test/docker-"+id+".scope")
		other := family(t, target, "stdin", "work=101")
		m, _ := contained(t, group, "work=3", "child=5", "thread", "work=11")
		p := inImage(t, s, f.Dir(), volume, []string{"--pid=host"}, "probe", "-o", "json", "--container", id[:12], "/current", "main.work")
		p.await(t)
		other.goOn(t)
		m.goOn(t)
		workCalls(t, p.result(t), 3+11)
		nothingOf(t, f, p.Process.Pid)
	})
	t.Run("file", func(t *testing.T) {
		other, _ := contained(t, cgroup(t, "cgroup2", "ftgo-test/other"), "work=101")
		root := t.TempDir()
		m := family(t, "unshare", "-mpf", "--kill-child", "sh", "-c", `mount --bind "$1" "$0" && exec chroot "$0" /family stdin work=3 work=11`, root, volume)
		p := inImage(t, s, f.Dir(), volume, nil, "probe", "-o", "json", "/volume/family", "main.work")
		p.await(t)
		other.goOn(t)
		m.goOn(t)
		noError(t, syscall.Kill(childOf(t, p.Process.Pid), syscall.SIGINT))
		workCalls(t, p.result(t), 3+11)
	})
}
