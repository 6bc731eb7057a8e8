package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func packaging(name string) string {
	return filepath.Join(fixture.Root(), "scripts", "packaging", name)
}

// commandTakes fails unless the flags of a command line are ftgo's.
func commandTakes(t *testing.T, args []string) {
	t.Helper()
	help, err := exec.Command(fixture.Command(t, "cmd/ftgo"), args[0], "-h").Output()
	if err != nil {
		t.Fatalf("ftgo %s -h: %v", args[0], err)
	}
	for _, arg := range args[1:] {
		if strings.HasPrefix(arg, "-") && !strings.Contains(string(help), " "+arg+" ") && !strings.Contains(string(help), " "+arg+",") {
			t.Errorf("ftgo %s has no flag %s", args[0], arg)
		}
	}
}

// TestDaemonSet: the manifest is YAML whose parts fit each other, docs/containers.md and ftgo.
func TestDaemonSet(t *testing.T) {
	parts := fixture.Manifests(t, "scripts/packaging/daemonset.yaml")
	for _, kind := range []string{"Namespace", "ConfigMap", "DaemonSet", "NetworkPolicy"} {
		if m := parts[kind]; kind != "Namespace" && m.Metadata.Namespace != parts["Namespace"].Metadata.Name || m.Metadata.Name == "" {
			t.Errorf("%s: %+v", kind, m.Metadata)
		}
	}
	pod := parts["DaemonSet"].Spec.Template.Spec
	if !pod.HostPID || pod.HostNetwork || pod.ServiceAccount || len(pod.Containers) != 1 {
		t.Fatalf("pod: %+v", pod)
	}
	c := pod.Containers[0]
	if s := c.Context; s.User != 0 || s.Privileged || s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("security context: %+v", s)
	}
	page, err := os.ReadFile(filepath.Join(fixture.Root(), "docs/containers.md"))
	fixture.NoError(t, err)
	for _, name := range c.Context.Capabilities.Add {
		if strings.Count(string(page), "--cap-add="+name+" ") < 2 || !strings.Contains(string(page), "`--cap-add="+name+"`") {
			t.Errorf("docs/containers.md does not grant %s alike", name)
		}
	}
	volumes := make(map[string]string)
	for _, v := range pod.Volumes {
		volumes[v.Name] = v.HostPath.Path + v.ConfigMap.Name
	}
	for _, m := range c.Mounts {
		if m.Path == "/sys/kernel/tracing" && volumes[m.Name] == m.Path || volumes[m.Name] == parts["ConfigMap"].Metadata.Name {
			delete(volumes, m.Name)
		}
	}
	if len(volumes) > 0 {
		t.Errorf("not mounted: %v", volumes)
	}
	if !slices.Contains(c.Args, "@/etc/ftgo/functions") || parts["ConfigMap"].Data["functions"] == "" {
		t.Errorf("%q reads none of %v", c.Args, parts["ConfigMap"].Data)
	}
	commandTakes(t, c.Args)
}

// TestUnit: systemd takes the unit, and finds it well confined.
func TestUnit(t *testing.T) {
	text, err := os.ReadFile(packaging("ftgo-export@.service"))
	fixture.NoError(t, err)
	_, after, _ := strings.Cut(string(text), "\nExecStart=/usr/bin/ftgo ")
	line, _, _ := strings.Cut(after, "\n")
	commandTakes(t, strings.Fields(line))
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	unit := filepath.Join(t.TempDir(), "ftgo-export@shop.service")
	fixture.Write(t, unit, strings.ReplaceAll(string(text), "/usr/bin/ftgo", fixture.Command(t, "cmd/ftgo")))
	for _, args := range [][]string{{"verify", "--man=no", unit}, {"security", "--offline=yes", "--threshold=30", unit}} {
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %q: %v\n%s", args, err, out)
		}
	}
}
