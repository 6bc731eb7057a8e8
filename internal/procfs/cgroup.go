package procfs

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"
)

// Cgroup is a control group. Each process is in one of each hierarchy: of version 1 there are several, of
// version 2 one, and machines may have both.
type Cgroup struct {
	// Controllers are the controllers of a hierarchy of version 1, "" for version 2.
	Controllers string
	// Path begins at the root of this process's cgroup namespace. Other groups may be outside of it: "/../x".
	Path string
}

// Cgroups returns the control groups of a process. A thread that ends is in the root of each hierarchy of version 1
// (proc_cgroup_show in kernel/cgroup/cgroup.c, Linux 6.12), and so is its process, see [Ending], unless another thread can be read.
func Cgroups(pid int) ([]Cgroup, error) {
	text, err := os.ReadFile(folder(Executing(pid)) + "/cgroup")
	return parseCgroups(string(text)), err
}

// parseCgroups reads lines "ID:CONTROLLERS:PATH" (cgroups(7)). PATH may hold colons, but no newline.
func parseCgroups(text string) (all []Cgroup) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) == 3 {
			former, _ := CutDeleted(f[2])
			all = append(all, Cgroup{f[1], former})
		}
	}
	return all
}

// cgroupWanted is a group with all groups below it.
type cgroupWanted struct {
	at   *Mount // the mount of the hierarchy; nil stands for any
	path string
}

// cgroupNamed returns the group of a path: a folder where a hierarchy is mounted, or else a path as in
// /proc/PID/cgroup.
func cgroupNamed(name string, mounts []Mount) cgroupWanted {
	wanted := cgroupWanted{path: "/" + strings.Trim(name, "/")} // not cleaned: "/../x" is outside of this namespace
	name = path.Clean(name)
	for i, m := range mounts {
		below, ok := strings.CutPrefix(name, m.Point)
		inside := ok && (below == "" || below[0] == '/')
		if inside && strings.HasPrefix(m.Kind, "cgroup") && (wanted.at == nil || len(m.Point) > len(wanted.at.Point)) {
			// The mounted group may be outside of this namespace, like /../..: path.Join would remove that.
			wanted = cgroupWanted{&mounts[i], cmp.Or(strings.TrimSuffix(m.Root, "/")+below, "/")}
		}
	}
	return wanted
}

// holds reports whether a group is the wanted one, or below it. The options of a hierarchy's mount contain the names of its
// controllers.
func (w cgroupWanted) holds(c Cgroup) bool {
	in := w.at == nil
	if !in && w.at.Kind == "cgroup2" {
		in = c.Controllers == ""
	} else if !in && c.Controllers != "" {
		in = !slices.ContainsFunc(strings.Split(c.Controllers, ","), func(name string) bool { return !slices.Contains(w.at.Options, name) })
	}
	if up, above := outside(w.path); above && w.path != "/" { // the group of this namespace is below it
		further, _ := outside(c.Path)
		return in && further <= up
	}
	return in && (w.path == "/" || c.Path == w.path || strings.HasPrefix(c.Path, w.path+"/"))
}

// outside returns how many levels a path leads out of this namespace, and whether it ends there.
func outside(path string) (up int, alone bool) {
	for strings.HasPrefix(path+"/", "/../") {
		up, path = up+1, path[len("/.."):]
	}
	return up, strings.Trim(path, "/") == ""
}

// CgroupNamed returns a func that reports whether a process is in a control group or below it. name is its path, see
// cgroupNamed.
func CgroupNamed(name string) (has func(pid int) bool, err error) {
	text, err := os.ReadFile(folder(Self) + "/mountinfo")
	wanted := cgroupNamed(name, ParseMounts(string(text)))
	return func(pid int) bool {
		groups, _ := Cgroups(pid) // empty for a process that has just ended
		return slices.ContainsFunc(groups, wanted.holds)
	}, err
}

// Those returns the processes that satisfy has, except this one.
func Those(has func(pid int) bool) (pids []int, err error) {
	all, err := All()
	return slices.DeleteFunc(all, func(pid int) bool { return pid == os.Getpid() || !has(pid) || !Alive(pid) }), err
}

// Mount is a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
type Mount struct {
	// Root is the folder of the file system that is mounted at Point; Kind is the file system's.
	Root, Point, Kind string
	// Options are the mount's own and then its file system's.
	Options []string
}

// unescape decodes the kernel's escapes in paths of mounts (show_mountinfo in fs/proc_namespace.c).
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)

// ParseMounts reads lines "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - KIND SOURCE OPTIONS".
func ParseMounts(text string) (all []Mount) {
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		options := append(strings.Split(left[5], ","), strings.Split(right[2], ",")...)
		all = append(all, Mount{Root: unescape.Replace(left[3]), Point: unescape.Replace(left[4]), Kind: right[0], Options: options})
	}
	return all
}
