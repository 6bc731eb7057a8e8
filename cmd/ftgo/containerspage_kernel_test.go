package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// calledSo are how programs of containers are told from others in commands of docs/containers.md.
type calledSo struct{ web, server, name, pod, service string } // the first two are ids

// named replaces the names of the page by those of a test, and a function that is not there.
func (c calledSo) named(command string) string {
	name, server := c.name, c.pod+"/server"
	if _, err := os.Stat("/proc/1/root/home"); err != nil && !strings.HasPrefix(command, "ftgo ") {
		name, server = c.web, c.server // where names can't be looked up from within a container
	}
	return strings.NewReplacer("4f2a6f", c.web[:12], "--container web", "--container "+name, "shop-7f/server", server, "shop.service", c.service, "main.pay", "main.work").Replace(command)
}

// known puts down the names of two containers where Podman and the kubelet do.
func (c calledSo) known(t *testing.T) {
	t.Helper()
	home := "/home/" + c.name
	t.Cleanup(func() { os.RemoveAll(home) })
	fixture.Write(t, home+"/.local/share/containers/storage/overlay-containers/containers.json", fmt.Sprintf(`[{"id": %q, "names": [%q]}]`, c.web, c.name))
	logs := "/var/log/containers"
	if os.Mkdir(logs, 0o755) == nil {
		t.Cleanup(func() { os.Remove(logs) })
	}
	file := fmt.Sprintf("%s/%s_default_server-%s.log", logs, c.pod, c.server)
	t.Cleanup(func() { os.Remove(file) })
	fixture.Write(t, file, "")
}

// TestKernelContainersPage runs each command of docs/containers.md beside containers as it has them.
func TestKernelContainersPage(t *testing.T) {
	fixture.NeedLong(t)
	page, f := t, tracetest.Kernel(t)
	tracetest.Needs(t, f.Features().Append, "many places of an event (Linux 5.4)")
	for _, tool := range []string{"unshare", "chroot", "mount", "setpriv", "tmux"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	text := readFile(t, filepath.Join(fixture.Root(), "docs/containers.md"))
	_, commands := blocksIn(text)
	if len(commands) < 10 {
		t.Fatalf("the page has %q", commands)
	}
	mark := fmt.Sprintf("%08x", os.Getpid())
	c := calledSo{mark + strings.Repeat("5e", 28), mark + strings.Repeat("9d", 28), "web-" + mark, "shop-" + mark, "shop-" + mark + ".service"}
	c.known(t)
	t.Setenv("IMAGES", t.TempDir())
	t.Setenv("PATH", withStandIns(t, nil)+":"+os.Getenv("PATH"))
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			words := strings.Fields(command)
			switch {
			case words[0] == "docker" && words[1] == "build":
				if words[2] != "-f" || words[4] != "-t" || words[6] != "." {
					t.Fatalf("this test does not know %q", command)
				}
				noError(t, os.Symlink(image(page, words[3]), filepath.Join(os.Getenv("IMAGES"), words[5])))
			case strings.HasPrefix(command, "kubectl apply -f "):
				applied(t, f, words[3])
			default:
				web, _ := containedAs(t, "shop", cgroup(t, "cgroup2", "ftgo-test/docker-"+c.web+".scope"), "work=3", "child=5", "work=11")
				pod, _ := containedAs(t, "shop", cgroup(t, "cgroup2", "ftgo-test/cri-containerd-"+c.server+".scope"), "work=7", "child=5", "work=13")
				service, _ := containedAs(t, "shop", cgroup(t, "cgroup2", "system.slice/"+c.service), "work=17", "child=5", "work=19")
				seen, want := web, "14"
				switch {
				case strings.Contains(command, "shop-7f"):
					seen, want = pod, "20"
				case strings.Contains(command, "--cgroup"):
					seen, want = service, "36"
				}
				switch {
				case strings.Contains(command, "--fork"):
					want = "25"
				}
				goOn := func() {
					for _, m := range []*member{web, pod, service} {
						if m != seen {
							m.goOn(t)
						}
					}
					seen.goOn(t)
				}
				if strings.Contains(command, "ftgo top ") {
					onScreen(t, f, c.named(command), goOn, want)
				} else {
					inTable(t, f, c.named(command), goOn, want)
				}
			}
		})
	}
}

// inTable runs a command that writes lines, and a program's calls of main.work: they are in the table, or a line each.
func inTable(t *testing.T, f *tracefs.FS, command string, calls func(), want string) {
	t.Helper()
	p := start(t, exec.Command("sh", "-c", "exec "+command))
	p.await(t)
	calls()
	p.endsWell(t)
	got := fmt.Sprint(strings.Count(p.out.String(), "main.work("))
	for line := range strings.Lines(p.out.String()) {
		if columns := strings.Fields(line); columns[0] == "main.work" {
			got = columns[1]
		}
	}
	if got != want {
		t.Errorf("%s calls of main.work, want %s\n%s%s", got, want, p.out.String(), p.err.String())
	}
	nothingOf(t, f, p.Process.Pid)
}

// onScreen is inTable for ftgo top.
func onScreen(t *testing.T, f *tracefs.FS, command string, calls func(), want string) {
	t.Helper()
	m := newTmux(t)
	m.run(command)
	m.wait("ftgo top  shop", "timed")
	pid := m.child()
	calls()
	m.until("main.work with "+want+" calls", func(screen string) bool {
		for line := range strings.Lines(screen) {
			if columns := strings.Fields(line); slices.Contains(columns, "main.work") && slices.Contains(columns, want) {
				return true
			}
		}
		return false
	})
	m.keys("q")
	m.prompt("q")
	nothingOf(t, f, pid)
}

// applied runs what a manifest has a node run, with a program of a name that is not everybody's: its calls
// are served, whichever container it runs in.
func applied(t *testing.T, f *tracefs.FS, name string) {
	t.Helper()
	parts, lists := fixture.Manifests(t, "scripts/packaging/"+name), t.TempDir()
	for name, text := range parts["ConfigMap"].Data {
		text = strings.ReplaceAll(text, "net/http.serverHandler.ServeHTTP", "main.work") // of a program that serves nothing
		fixture.Write(t, filepath.Join(lists, name), text)
	}
	pod := parts["DaemonSet"].Spec.Template.Spec
	c := pod.Containers[0]
	args := []string{"run", "--security-opt=no-new-privileges"}
	if pod.HostPID {
		args = append(args, "--pid=host")
	}
	if c.Context.ReadOnly {
		args = append(args, "--read-only")
	}
	for _, name := range c.Context.Capabilities.Drop {
		args = append(args, "--cap-drop="+name)
	}
	for _, name := range c.Context.Capabilities.Add {
		args = append(args, "--cap-add="+name)
	}
	from := make(map[string]string)
	for _, v := range pod.Volumes {
		from[v.Name] = cmp.Or(v.HostPath.Path, lists)
	}
	for _, m := range c.Mounts {
		args = append(args, "-v", from[m.Name]+":"+m.Path)
	}
	program := fmt.Sprintf("shop-%d", os.Getpid())
	own := strings.NewReplacer(":8780", "127.0.0.1:0", "shop", program)
	args = append(args, "ftgo")
	for _, arg := range c.Args {
		args = append(args, own.Replace(arg))
	}
	m, _ := containedAs(t, program, cgroup(t, "cgroup2", "ftgo-test/pod"), "work=3", "child=5", "work=11")
	e := serving(t, start(t, exec.Command("docker", args...)))
	e.comesTo(t, callsOf("main.work"), 0)
	m.goOn(t)
	e.comesTo(t, callsOf("main.work"), 3+5+11)
	e.finish(t)
}
