package procfs

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"
)

// Cgroup is a control group. A process is in one group of each hierarchy. There are several hierarchies of version 1
// and one of version 2, and a machine may have both.
type Cgroup struct {
	// Controllers are the controllers of the group's hierarchy in version 1, and "" in version 2.
	Controllers string
	// Path is relative to the root of this process's cgroup namespace. Groups outside of it have paths like "/../x".
	Path string
}

// Cgroups returns the control groups of a process. A thread that is ending seems to be in the root of each hierarchy of
// version 1 (proc_cgroup_show in kernel/cgroup/cgroup.c, Linux 6.12). So if all threads of the process that can be read
// are ending (see [Ending]), Cgroups returns these roots.
func Cgroups(pid int) ([]Cgroup, error) {
	text, err := os.ReadFile(folder(LiveThread(pid)) + "/cgroup")
	return parseCgroups(string(text)), err
}

// parseCgroups parses lines "ID:CONTROLLERS:PATH" (cgroups(7)). PATH may contain colons, but no newline.
// parseCgroups removes the mark of a deleted group from its path.
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

// cgroupTree returns a func that reports whether a group is the group with a name or one of its descendants. The name is a
// folder below the mount of a hierarchy, or otherwise a path as in /proc/PID/cgroup of any hierarchy.
func cgroupTree(name string, mounts []Mount) (contains func(c Cgroup) bool) {
	top := "/" + strings.Trim(name, "/") // not cleaned, because "/../x" is outside of this namespace
	var at *Mount                        // the mount of the hierarchy; nil means any hierarchy
	name = path.Clean(name)
	for i, m := range mounts {
		below, ok := strings.CutPrefix(name, m.Point)
		inside := ok && (below == "" || below[0] == '/')
		if inside && strings.HasPrefix(m.Kind, "cgroup") && (at == nil || len(m.Point) > len(at.Point)) {
			// The mounted group may be outside of this namespace, as in "/../..". path.Join would remove that.
			at, top = &mounts[i], cmp.Or(strings.TrimSuffix(m.Root, "/")+below, "/")
		}
	}
	return func(c Cgroup) bool {
		if at != nil && !at.hasControllers(c.Controllers) {
			return false
		}
		if up, above := outside(top); above && top != "/" { // the tree contains this namespace's root
			further, _ := outside(c.Path)
			return further <= up
		}
		return top == "/" || c.Path == top || strings.HasPrefix(c.Path, top+"/")
	}
}

// hasControllers reports whether a hierarchy with these controllers is mounted. In version 1, the options of a mount include
// the names of its controllers.
func (m *Mount) hasControllers(controllers string) bool {
	if m.Kind == "cgroup2" || controllers == "" {
		return m.Kind == "cgroup2" && controllers == ""
	}
	return !slices.ContainsFunc(strings.Split(controllers, ","), func(name string) bool { return !slices.Contains(m.Options, name) })
}

// outside returns the number of leading ".." in a path, and whether the path has nothing else.
func outside(path string) (up int, alone bool) {
	for strings.HasPrefix(path+"/", "/../") {
		up, path = up+1, path[len("/.."):]
	}
	return up, strings.Trim(path, "/") == ""
}

// CgroupNamed returns a func that reports whether a process is in a control group or in a descendant of it. name has
// the syntax of cgroupTree.
func CgroupNamed(name string) (match func(pid int) bool, err error) {
	text, err := os.ReadFile(folder(Self) + "/mountinfo")
	contains := cgroupTree(name, ParseMounts(string(text)))
	return func(pid int) bool {
		groups, _ := Cgroups(pid) // empty for a process that has just ended
		return slices.ContainsFunc(groups, contains)
	}, err
}

// Matching returns the living processes for which match returns true, except this process.
func Matching(match func(pid int) bool) (pids []int, err error) {
	all, err := All()
	return slices.DeleteFunc(all, func(pid int) bool { return pid == os.Getpid() || !match(pid) || !Alive(pid) }), err
}

// Mount is a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
type Mount struct {
	// Root is the folder in the mounted file system that is visible at Point. Kind is the type of the file system.
	Root, Point, Kind string
	// Options are the options of the mount, followed by the options of the file system.
	Options []string
}

// unescape decodes the escapes in paths of mounts (show_mountinfo in fs/proc_namespace.c).
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)

// ParseMounts parses lines "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - KIND SOURCE OPTIONS".
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
