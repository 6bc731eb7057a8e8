package procfs

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParseCgroups(t *testing.T) {
	const text = "12:cpu,cpuacct:/docker/0123\n1:name=systemd:/user.slice/a:b\n0::/../web (deleted)\nnonsense\n"
	want := []Cgroup{{"cpu,cpuacct", "/docker/0123"}, {"name=systemd", "/user.slice/a:b"}, {"", "/../web"}}
	if got := parseCgroups(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// mountinfo is from a machine with both versions of control groups, and from a container that has mounted a hierarchy
// from its own group on.
const mountinfo = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
42 31 0:32 /docker/0123 /inner/memory ro,relatime - cgroup cgroup rw,memory
43 31 0:38 /../.. /host\134x2d\040groups rw,relatime - cgroup2 cgroup2 rw
`

func TestCgroupNamed(t *testing.T) {
	mounts := ParseMounts(mountinfo)
	cpu, memory, v2 := "cpu,cpuacct", "memory", ""
	for _, c := range []struct {
		name  string
		group Cgroup
		want  bool
	}{
		{"system.slice/web.service", Cgroup{v2, "/system.slice/web.service"}, true},
		{"/system.slice/web", Cgroup{v2, "/system.slice/web.service"}, false},
		{"/", Cgroup{v2, "/any"}, true},
		{"/../web", Cgroup{v2, "/../web/a"}, true},
		{"/sys/fs/cgroup/unified/web", Cgroup{v2, "/web/a"}, true},
		{"/sys/fs/cgroup/unified/web", Cgroup{cpu, "/web/a"}, false},
		{"/sys/fs/cgroup/cpu,cpuacct/web", Cgroup{cpu, "/web"}, true},
		{"/sys/fs/cgroup/cpu,cpuacct/web", Cgroup{v2, "/web"}, false},
		{"/sys/fs/cgroup/systemd", Cgroup{"name=systemd", "/web"}, true},
		{"/inner/memory", Cgroup{memory, "/docker/0123/x"}, true},
		{"/inner/memory/x", Cgroup{memory, "/docker/0123/y"}, false},
		{`/host\x2d groups/web`, Cgroup{v2, "/../../web/a"}, true},
		{`/host\x2d groups`, Cgroup{v2, "/../a"}, true},
		{`/host\x2d groups`, Cgroup{v2, "/../.."}, true},
		{"/..", Cgroup{v2, "/../../web"}, false},
		{"/..", Cgroup{v2, "/a"}, true},
		{"/sys/fs/cgroup/none", Cgroup{v2, "/none"}, false},
	} {
		if got := cgroupTree(c.name, mounts)(c.group); got != c.want {
			t.Errorf("%q holds %+v: %t", c.name, c.group, got)
		}
	}
}

// inCgroup returns the processes in a control group or below it.
func inCgroup(name string) ([]int, error) {
	has, err := CgroupNamed(name)
	if err != nil {
		return nil, err
	}
	return Matching(has)
}

// TestMatching finds a child process in the control groups of this process, but not any more when it has ended, even before
// its parent has waited for it.
func TestMatching(t *testing.T) {
	child := exec.Command("sleep", "600")
	fixture.NoError(t, child.Start())
	defer child.Wait()
	defer child.Process.Kill()
	groups, err := Cgroups(Self)
	if err != nil || len(groups) == 0 {
		t.Skipf("no control groups: %v", err)
	}
	check := func(group string, want bool) {
		t.Helper()
		pids, err := inCgroup(group)
		if err != nil || slices.Contains(pids, child.Process.Pid) != want || slices.Contains(pids, os.Getpid()) {
			t.Errorf("%s: %v, %v; %d among them: want %v", group, pids, err, child.Process.Pid, want)
		}
	}
	for _, g := range groups {
		check(g.Path, true)
	}
	check("/no/such/group", false)
	child.Process.Kill()
	for Alive(child.Process.Pid) {
		runtime.Gosched()
	}
	for _, g := range groups {
		check(g.Path, false)
	}
}

// FuzzCgroups checks that each parsed group is in the tree of its own path.
func FuzzCgroups(f *testing.F) {
	f.Add("4:memory:/a\n0::/b:c (deleted)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range parseCgroups(text) {
			if g.Path == "/"+strings.Trim(g.Path, "/") && !cgroupTree(g.Path, nil)(g) {
				t.Errorf("%+v is not in itself", g)
			}
		}
		ParseMounts(text)
	})
}
