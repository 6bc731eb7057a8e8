package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestLongInput: a message quotes little of what is long, wherever it comes from.
func TestLongInput(t *testing.T) {
	target, dir := fixture.Build(t, "flood"), t.TempDir()
	long, digits := strings.Repeat("(", 10_000), strings.Repeat("9", 100_000)
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		fixture.Write(t, p, text)
		return p
	}
	for _, args := range [][]string{
		{"trace", "--dry-run", "--where", long, target, "main.framed"},
		{"probe", "--dry-run", "--by", long, target, "main.framed"},
		{"count", "--dry-run", target, strings.Repeat("f", 120_000)},
		{"count", "--dry-run", target, strings.Repeat("f", 120_000) + "+0x1"},
		{"count", "--dry-run", "-r", target, long},
		{"count", "--dry-run", target, "@" + write("list", strings.Repeat("main.nosuch", 100_000))},
		{"count", "--dry-run", target, "@" + write("site", "main.framed+0x"+digits)},
		{"trace", "--dry-run", target, "main.framed" + long},
		{"count", "--" + digits, target, "main.framed"},
		{"count", "--top", digits, target, "main.framed"},
		{"report", write("recording", "ftgo recording "+digits+"\n")},
		{"report", write("json", `{"schema":`+digits+"}\n")},
		{digits},
	} {
		r := ftgo(t, args...)
		if r.code == 0 || len(r.stderr) > 2100 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("ftgo %.40q: status %d, %d bytes: %.200q", args, r.code, len(r.stderr), r.stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{
		{"help"}, {"--help"}, {"-h"}, {"help", "probe"}, {"probe", "-h"}, {"count", "--help"}, {"list", "-h"}, {"demo", "-h"},
		{"clean", "-h"}, {"doctor", "-h"}, {"help", "doctor"}, {"version", "-h"}, {"version"}, {"--version"},
	} {
		if r := ftgo(t, args...); r.code != 0 || r.stdout == "" || r.stderr != "" {
			t.Errorf("ftgo %q: status %d, stdout %q, stderr %q", args, r.code, r.stdout, r.stderr)
		}
	}
	if a, b := ftgo(t, "help", "probe"), ftgo(t, "probe", "-h"); a.stdout != b.stdout {
		t.Error("help probe and probe -h differ")
	}
}

func TestList(t *testing.T) {
	target := fixture.Build(t, "flood")
	r := ran(t, "list", "-o", "json", target, "main.framed", "main.leaf")
	for _, want := range []string{
		`"function":"main.framed"`, `"entry":"after check","returns":1`,
		`"function":"main.leaf"`, `"entry":"start","returns":1`,
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %s in\n%s", want, r.stdout)
		}
	}
	if r := ftgo(t, "list", "-o", "json", fixture.Build(t, "exact"), "main.branchFirst"); !strings.Contains(r.stdout, `"entry":"first branch","returns":2`) {
		t.Errorf("branchFirst: %s%s", r.stdout, r.stderr)
	}
	// What we say of addresses is what the linker has written.
	out, err := exec.Command("go", "tool", "nm", target).Output()
	noError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[2] == "main.framed" && !strings.Contains(r.stdout, `"address":"0x`+f[0]+`"`) {
			t.Errorf("main.framed is at %s:\n%s", f[0], r.stdout)
		}
	}
}

// TestUnprivileged runs the command as nobody.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		r := ftgo(t, "probe", fixture.Build(t, "flood"), "main.framed")
		if r.code != cli.ExitKernel || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "ftgo doctor") {
			t.Errorf("status %d, stderr %q", r.code, r.stderr)
		}
		return
	}
	target, bin := fixture.Build(t, "flood"), built(t)
	for _, p := range []string{filepath.Dir(target), filepath.Dir(bin)} {
		noError(t, os.Chmod(p, 0o755))
	}
	cmd := exec.Command(bin, "probe", target, "main.framed")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitKernel || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "it takes root") || !strings.Contains(string(out), "sudo ") {
		t.Errorf("status %d, output %q", code, out)
	}
}
