package procfs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// id returns a container id that begins with some digits.
func id(begin string) string { return begin + strings.Repeat("0", 64-len(begin)) }

func TestIDs(t *testing.T) {
	a, b := id("a1"), id("b2")
	for path, want := range map[string][]string{
		"/docker/" + a:                                            {a},
		"/system.slice/docker-" + a + ".scope":                    {a},
		"/docker/" + a + "/kubelet/kubepods/burstable/pod0c/" + b: {a, b},
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-pod1.slice/crio-" + a + ".scope": {a},
		"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + a + ".scope":                 {a},
		"/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:" + a: {a},
		"/machine.slice/libpod-" + a + ".scope/container":                                    {a},
		"/machine.slice/libpod-conmon-" + a + ".scope":                                       nil,
		"/../" + a:                              {a},
		"/lxc.payload.web":                      {"web"},
		"/lxc/web":                              {"web"},
		`/machine.slice/machine-web\x2d1.scope`: {"web-1"},
		"/system.slice/nginx.service":           nil,
		"/docker/" + a[1:]:                      nil,
		"/":                                     nil,
	} {
		if got := containerIDs([]Cgroup{{Path: path}, {Path: path}}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// runtimes writes files like those of Docker, Podman and Kubernetes.
func runtimes(t *testing.T) (root string) {
	root = t.TempDir()
	for name, text := range map[string]string{
		"var/lib/docker/containers/" + id("d1") + "/config.v2.json":             `{"ID": "` + id("d1") + `", "Name": "/web", "State": {}}`,
		"var/lib/docker/containers/" + id("d2") + "/config.v2.json":             `{"ID": "../../etc", "Name": "/forged"}`,
		"var/lib/docker/containers/" + id("d3") + "/config.v2.json":             `no JSON`,
		"var/lib/containers/storage/overlay-containers/containers.json":         `[{"id": "` + id("e1") + `", "names": ["db", "db2"]}, {"id": "` + id("e2") + `"}]`,
		"home/u/.local/share/containers/storage/vfs-containers/containers.json": `[{"id": "` + id("e3") + `", "names": ["web"]}]`,
		"var/log/containers/shop-7f_prod_server-" + id("f1") + ".log":           "",
		"var/log/containers/shop-7f_prod_sidecar-" + id("f2") + ".log":          "",
		"var/log/containers/odd.log":                                            "",
	} {
		file := filepath.Join(root, name)
		fixture.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		fixture.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return root
}

func TestNames(t *testing.T) {
	want := map[string][]string{
		"web": {id("d1"), id("e3")}, "db": {id("e1")}, "db2": {id("e1")},
		"shop-7f": {id("f1"), id("f2")}, "shop-7f/server": {id("f1")}, "shop-7f/sidecar": {id("f2")}, "prod/shop-7f": {id("f1"), id("f2")},
	}
	if got := Names(runtimes(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// TestNamesOfLinks checks that symbolic links are not followed, because a user's link may lead to a file that only
// root can read.
func TestNamesOfLinks(t *testing.T) {
	root := t.TempDir()
	secret, dir := filepath.Join(root, "secret"), filepath.Join(root, "home/u/.local/share/containers/storage/x-containers")
	fixture.NoError(t, os.WriteFile(secret, []byte(`[{"id": "`+id("e3")+`", "names": ["web"]}]`), 0o600))
	fixture.NoError(t, os.MkdirAll(dir, 0o755))
	fixture.NoError(t, os.Symlink(secret, filepath.Join(dir, "containers.json")))
	if got := Names(root); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestFind(t *testing.T) {
	root := runtimes(t)
	var running []string
	for _, begin := range []string{"d1", "e1", "e2", "f1", "f2"} {
		running = append(running, id(begin))
	}
	running = append(running, "e1-lxc", "lxc", "lxc2")
	if got := Find("db", []string{id("db")}, root); got != nil {
		t.Errorf("a container by the name of one that does not run: %q", got)
	}
	for word, want := range map[string][]string{
		"d": {id("d1")}, "e": {id("e1"), id("e2"), "e1-lxc"}, id("e1"): {id("e1")}, "web": {id("d1")}, "shop-7f": {id("f1"), id("f2")},
		"shop-7f/server": {id("f1")}, "lxc": {"lxc"}, "none": nil, id("e3"): nil,
	} {
		if got := Find(word, running, root); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// FuzzIDs checks that an id is one folder of a path, and contains no separator.
func FuzzIDs(f *testing.F) {
	f.Add("/docker/" + id("a1"))
	f.Add("/lxc/a/lxc.payload.b/machine-c.scope")
	f.Fuzz(func(t *testing.T, path string) {
		for _, id := range containerIDs([]Cgroup{{Path: path}}) {
			if id == "" || strings.Contains(id, "/") {
				t.Errorf("%q: %q", path, id)
			}
		}
	})
}
