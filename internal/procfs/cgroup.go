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

// cgroupTree is a group with all its descendants.
type cgroupTree struct {
	at   *Mount // the mount of the hierarchy; nil means any hierarchy
	path string
}

// parseCgroupTree returns the group with a name: a folder below the mount of a hierarchy, or otherwise a path as in
// /proc/PID/cgroup.
func parseCgroupTree(name string, mounts []Mount) cgroupTree {
	tree := cgroupTree{path: "/" + strings.Trim(name, "/")} // not cleaned, because "/../x" is outside of this namespace
	name = path.Clean(name)
	for i, m := range mounts {
		below, ok := strings.CutPrefix(name, m.Point)
		inside := ok && (below == "" || below[0] == '/')
		if inside && strings.HasPrefix(m.Kind, "cgroup") && (tree.at == nil || len(m.Point) > len(tree.at.Point)) {
			// The mounted group may be outside of this namespace, as in "/../..". path.Join would remove that.
			tree = cgroupTree{&mounts[i], cmp.Or(strings.TrimSuffix(m.Root, "/")+below, "/")}
		}
	}
	return tree
}

// contains reports whether a group is in the tree. It finds the hierarchy by the options of its mount, which include
// the names of its controllers.
func (w cgroupTree) contains(c Cgroup) bool {
	in := w.at == nil
	if !in && w.at.Kind == "cgroup2" {
		in = c.Controllers == ""
	} else if !in && c.Controllers != "" {
		in = !slices.ContainsFunc(strings.Split(c.Controllers, ","), func(name string) bool { return !slices.Contains(w.at.Options, name) })
	}
	if up, above := outside(w.path); above && w.path != "/" { // the tree contains this namespace's root
		further, _ := outside(c.Path)
		return in && further <= up
	}
	return in && (w.path == "/" || c.Path == w.path || strings.HasPrefix(c.Path, w.path+"/"))
}

// outside returns the number of leading ".." in a path, and whether the path has nothing else.
func outside(path string) (up int, alone bool) {
	for strings.HasPrefix(path+"/", "/../") {
		up, path = up+1, path[len("/.."):]
	}
	return up, strings.Trim(path, "/") == ""
}

// CgroupNamed returns a func that reports whether a process is in a control group or in a descendant of it. name has
// the syntax of parseCgroupTree.
func CgroupNamed(name string) (match func(pid int) bool, err error) {
	text, err := os.ReadFile(folder(Self) + "/mountinfo")
	tree := parseCgroupTree(name, ParseMounts(string(text)))
	return func(pid int) bool {
		groups, _ := Cgroups(pid) // empty for a process that has just ended
		return slices.ContainsFunc(groups, tree.contains)
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
