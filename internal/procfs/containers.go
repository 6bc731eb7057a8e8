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

// Containers returns the ids of the running containers in ascending order. Some runtimes use names instead of ids.
func Containers() (ids []string, err error) {
	all, err := All()
	for _, pid := range all {
		if of := containerIDsOf(pid); len(of) > 0 && Alive(pid) {
			ids = append(ids, of...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// containerIDsOf returns the ids of the containers of a process.
func containerIDsOf(pid int) (ids []string) {
	groups, _ := Cgroups(pid) // empty for a process that has just ended
	return containerIDs(groups)
}

// ContainerNamed returns a func that reports whether a process is in the container with an id.
func ContainerNamed(id string) (match func(pid int) bool) {
	return func(pid int) bool { return slices.Contains(containerIDsOf(pid), id) }
}

var (
	// idFolder matches the control group of a container whose runtime names it by a hash of 64 digits: "ID" of
	// Docker and Kubernetes, "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "libpod-ID.scope", and
	// "kubepods-podUID.slice:cri-containerd:ID".
	idFolder = regexp.MustCompile(`^(?:.*[-:])?([0-9a-f]{64})(?:\.scope)?$`)
	// nameFolder matches the control group of a container, which ends with the container's name, in LXC and
	// systemd-nspawn.
	nameFolder = regexp.MustCompile(`^(?:lxc\.payload\.(.+)|machine-(.+)\.scope)$`)
)

// containerIDs returns the ids of the containers that control groups belong to. Containers may be nested. The process
// of a runtime that monitors a container is not in the container.
func containerIDs(groups []Cgroup) (ids []string) {
	for _, g := range groups {
		parent := ""
		for folder := range strings.SplitSeq(g.Path, "/") {
			id := ""
			if m := idFolder.FindStringSubmatch(folder); m != nil && !strings.Contains(folder, "conmon-") {
				id = m[1]
			} else if m := nameFolder.FindStringSubmatch(folder); m != nil {
				id = m[1] + strings.ReplaceAll(m[2], `\x2d`, "-") // systemd escapes "-" (systemd.unit(5))
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

// Names returns the ids of the containers with each name. It reads files of the runtimes below a root folder, and
// ignores files that it can't parse.
func Names(root string) map[string][]string {
	names := make(map[string][]string)
	add := func(name, id string) {
		if name = strings.TrimPrefix(name, "/"); name != "" && idFolder.MatchString(id) && !slices.Contains(names[name], id) {
			names[name] = append(names[name], id)
		}
	}
	// Docker keeps a folder for each container.
	for _, file := range glob(root, "var/lib/docker/containers/*/config.v2.json") {
		var config struct{ ID, Name string }
		if read(file, &config) {
			add(config.Name, config.ID)
		}
	}
	// Podman keeps a list for root, and one for each user.
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
	// Kubernetes has POD_NAMESPACE_CONTAINER-ID.log, with any runtime. The names of the container are POD,
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
	found, _ := filepath.Glob(filepath.Join(root, pattern)) // all patterns are well-formed
	return found
}

// maxFile is the maximum size of files that read parses, because users can write to some of them.
const maxFile = 16 << 20

// read parses a regular JSON file, and reports whether it could. It refuses symbolic links, because a user could link
// to a file like trace_pipe, which takes data away from other readers and never ends.
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

// Find returns the ids of the running containers that a word selects. The word is a name that [Names] finds below one of
// the roots, or an id, or the beginning of an id, in this order. A name never counts as the beginning of an id, because
// another container may have such an id while the named container does not run.
func Find(word string, running []string, roots ...string) (ids []string) {
	for _, root := range roots {
		ids = append(ids, Names(root)[word]...)
	}
	named := len(ids) > 0
	if !named {
		ids = []string{word}
	}
	slices.Sort(ids)
	var found, prefixed []string
	for _, id := range running {
		switch {
		case slices.Contains(ids, id):
			found = append(found, id)
		case strings.HasPrefix(id, word):
			prefixed = append(prefixed, id)
		}
	}
	if len(found) == 0 && !named {
		return prefixed
	}
	return found
}
