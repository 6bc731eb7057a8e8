package procfs

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Containers returns the processes of each container by its id. Some runtimes use names instead of ids.
func Containers() (pids map[string][]int, err error) {
	all, err := All()
	pids = make(map[string][]int)
	for _, pid := range all {
		if of := containersOf(pid); len(of) > 0 && Alive(pid) {
			for _, id := range of {
				pids[id] = append(pids[id], pid)
			}
		}
	}
	return pids, err
}

// containersOf returns the ids of the containers of a process.
func containersOf(pid int) (ids []string) {
	groups, _ := Cgroups(pid) // empty for a process that has just ended
	return idsOf(groups)
}

// ContainerNamed returns a func that reports whether a process is in the container of that id.
func ContainerNamed(id string) (has func(pid int) bool) {
	return func(pid int) bool { return slices.Contains(containersOf(pid), id) }
}

var (
	// hashed matches the folder of a container that runtimes name by 64 digits: "ID" of Docker and Kubernetes,
	// "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "libpod-ID.scope", and
	// "kubepods-podUID.slice:cri-containerd:ID".
	hashed = regexp.MustCompile(`^(?:.*[-:])?([0-9a-f]{64})(?:\.scope)?$`)
	// named matches a folder that has the container's name: LXC and systemd-nspawn.
	named = regexp.MustCompile(`^(?:lxc\.payload\.(.+)|machine-(.+)\.scope)$`)
)

// idsOf returns the ids of the containers of control groups, which may be nested. A runtime's monitor
// of a container does not belong to the container.
func idsOf(groups []Cgroup) (ids []string) {
	for _, g := range groups {
		parent := ""
		for folder := range strings.SplitSeq(g.Path, "/") {
			id := ""
			if m := hashed.FindStringSubmatch(folder); m != nil && !strings.Contains(folder, "conmon-") {
				id = m[1]
			} else if m := named.FindStringSubmatch(folder); m != nil {
				id = m[1] + strings.ReplaceAll(m[2], `\x2d`, "-") // systemd writes "-" so (systemd.unit(5))
			} else if parent == "lxc" || parent == "lxc.payload" {
				id = folder
			}
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			parent = folder
		}
	}
	return ids
}

// Names returns the names of containers with their ids, from the files that runtimes have below a
// root. It ignores files that it does not understand.
func Names(root string) map[string][]string {
	names := make(map[string][]string)
	add := func(name, id string) {
		if name = strings.TrimPrefix(name, "/"); name != "" && hashed.MatchString(id) && !slices.Contains(names[name], id) {
			names[name] = append(names[name], id)
		}
	}
	// Docker: a folder for each container.
	for _, file := range glob(root, "var/lib/docker/containers/*/config.v2.json") {
		var config struct{ ID, Name string }
		if read(file, &config) {
			add(config.Name, config.ID)
		}
	}
	// Podman: a list of root, and one of each user.
	lists := append(glob(root, "var/lib/containers/storage/*-containers/containers.json"),
		glob(root, "home/*/.local/share/containers/storage/*-containers/containers.json")...)
	for _, file := range lists {
		var list []struct {
			ID    string
			Names []string
		}
		if read(file, &list) {
			for _, c := range list {
				for _, name := range c.Names {
					add(name, c.ID)
				}
			}
		}
	}
	// Kubernetes, with any runtime: POD_NAMESPACE_CONTAINER-ID.log. The container's names are POD,
	// POD/CONTAINER and NAMESPACE/POD.
	for _, link := range glob(root, "var/log/containers/*.log") {
		text := strings.TrimSuffix(path.Base(link), ".log")
		at := strings.LastIndexByte(text, '-')
		parts := strings.Split(text[:max(at, 0)], "_")
		if len(parts) == 3 {
			for _, name := range []string{parts[0], parts[0] + "/" + parts[2], parts[1] + "/" + parts[0]} {
				add(name, text[at+1:])
			}
		}
	}
	return names
}

func glob(root, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is well-formed
	return found
}

// maxFile is the largest file that is read: users can write to some.
const maxFile = 16 << 20

// read reads a file, unless it is a link: a user's link may lead to a file like trace_pipe, which takes data from other
// readers and never ends.
func read(file string, to any) bool {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	return err == nil && json.Unmarshal(text, to) == nil
}

// Find returns the ids of the running containers that a word selects: a name below one of the roots, or an id, or
// the beginning of an id, in this order. A name never counts as the beginning of an id: another container
// may have such an id while the named one does not run.
func Find(word string, running []string, roots ...string) (ids []string) {
	for _, root := range roots {
		ids = append(ids, Names(root)[word]...)
	}
	named := len(ids) > 0
	if !named {
		ids = []string{word}
	}
	slices.Sort(ids)
	var found, begun []string
	for _, id := range running {
		switch {
		case slices.Contains(ids, id):
			found = append(found, id)
		case strings.HasPrefix(id, word):
			begun = append(begun, id)
		}
	}
	if len(found) == 0 && !named {
		return begun
	}
	return found
}
