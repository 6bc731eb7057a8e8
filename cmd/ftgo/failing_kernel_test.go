package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// unmount takes tracefs and debugfs away, in a mount namespace of its own.
const unmount = `
	while umount /sys/kernel/debug/tracing 2>/dev/null; do :; done
	while umount /sys/kernel/debug 2>/dev/null; do :; done
	while umount /sys/kernel/tracing 2>/dev/null; do :; done`

// whole are commands that work, with the least of talk. BINARY, FUNC and REC stand for what
// they are given.
var whole = map[string][]string{
	"probe":      {"probe", "-q", "-d", "0.05", "BINARY", "FUNC"},
	"count":      {"count", "-q", "-d", "0.05", "BINARY", "FUNC"},
	"trace":      {"trace", "-q", "-d", "0.05", "BINARY", "FUNC"},
	"watch":      {"watch", "-q", "-d", "0.05", "BINARY", "VARIABLE"},
	"list":       {"list", "BINARY", "FUNC"},
	"script":     {"script", "-q", "BINARY", "FUNC"},
	"report":     {"report", "-q", "REC"},
	"clean":      {"clean"},
	"doctor":     {"doctor"},
	"demo":       {"demo"},
	"completion": {"completion", "bash"},
	"version":    {"version"},
}

// failing is a step that fails, and with which status each command ends then; those that it
// does not concern are not named. silent says that standard error has nothing.
type failing struct {
	name string
	// script is a shell's, run before; nobody is who runs ftgo then.
	script string
	nobody bool
	// given replaces what whole has, more comes behind it.
	given  map[string]string
	more   []string
	codes  map[string]int
	says   string
	silent bool
}

// all is one status for several commands.
func all(code int, commands ...string) map[string]int {
	codes := make(map[string]int)
	for _, c := range commands {
		codes[c] = code
	}
	return codes
}

// and joins statuses of commands.
func and(several ...map[string]int) map[string]int {
	joined := make(map[string]int)
	for _, codes := range several {
		maps.Copy(joined, codes)
	}
	return joined
}

var (
	probing  = []string{"probe", "count", "trace", "watch"}
	onBinary = append(slices.Clip(probing), "list", "script")
	reading  = append(slices.Clip(onBinary), "report")
	kernels  = append(slices.Clip(probing), "demo", "clean", "doctor")
)

func failures(dir string) []failing {
	return []failing{
		{name: "nothing", codes: all(cli.ExitOK, slices.Sorted(maps.Keys(whole))...), silent: true},
		{name: "unknown flag", more: []string{"--frob"}, codes: all(cli.ExitUsage, slices.Sorted(maps.Keys(whole))...)},
		{name: "flag without its value", more: []string{"-o"}, codes: all(cli.ExitUsage, "probe", "count", "trace", "watch", "list", "report", "doctor", "demo")},
		{name: "a value that is none", more: []string{"-d", "soon"}, codes: all(cli.ExitUsage, "probe", "count", "trace", "watch", "script"), says: `"soon"`},
		{name: "one argument too many", more: []string{"more"}, codes: and(all(cli.ExitUsage, "clean", "doctor", "demo", "completion", "version"), all(cli.ExitFailed, "report"))},

		{name: "no such file", given: map[string]string{"BINARY": dir + "/none", "REC": dir + "/none"}, codes: all(cli.ExitFailed, reading...), says: "no such file"},
		{name: "a folder", given: map[string]string{"BINARY": dir, "REC": dir}, codes: all(cli.ExitFailed, reading...), says: dir},
		{name: "a device", given: map[string]string{"BINARY": "/dev/zero", "REC": "/dev/zero"}, codes: all(cli.ExitFailed, reading...), says: "not a regular file"},
		{name: "not ELF", given: map[string]string{"BINARY": dir + "/text"}, codes: all(cli.ExitFailed, onBinary...), says: "not an ELF file"},
		{name: "not a recording", given: map[string]string{"REC": dir + "/text"}, codes: all(cli.ExitFailed, "report"), says: "no recording"},
		{name: "a file that may not be read", nobody: true, given: map[string]string{"BINARY": dir + "/secret", "REC": dir + "/secret"}, codes: all(cli.ExitFailed, reading...), says: "permission denied"},
		{name: "no such function", given: map[string]string{"FUNC": "main.none", "VARIABLE": "main.none"}, codes: all(cli.ExitNothing, onBinary...), says: "main.none"},
		{name: "no such process", more: []string{"-p", "4194304"}, codes: all(cli.ExitFailed, probing...), says: "no such process"},

		{name: "nobody", nobody: true, codes: and(all(cli.ExitKernel, kernels...), all(cli.ExitOK, "list", "script", "report", "completion", "version")), says: "it takes root"},
		{name: "tracefs that is not mounted, for nobody", script: unmount, nobody: true, codes: all(cli.ExitKernel, "probe", "count", "trace", "watch", "demo", "doctor"), says: "not mounted"},
		{name: "tracefs for reading only", script: unmount + "; mount -t tracefs tracefs /sys/kernel/tracing; mount -o remount,bind,ro /sys/kernel/tracing", codes: all(cli.ExitKernel, "probe", "count", "trace", "watch", "demo", "doctor"), says: "for reading only"},
		{name: "no place for instances", script: "mount -t tmpfs -o ro none /sys/kernel/tracing/instances", codes: all(cli.ExitKernel, "probe", "count", "trace", "watch", "demo", "doctor"), says: "instances"},
		{name: "a ring buffer of no size", script: "", more: []string{"--buffer", "1024G"}, codes: all(cli.ExitKernel, "probe", "trace", "watch"), says: "cannot allocate memory"},

		{name: "full output", script: "exec >/dev/full", codes: all(cli.ExitFailed, "probe", "count", "list", "script", "report", "doctor", "completion", "version"), says: "no space left on device"},
		{name: "full file", more: []string{"-w", "/dev/full"}, codes: all(cli.ExitFailed, "probe", "count", "list", "script", "report"), says: "no space left on device"},
		{name: "a file in no folder", more: []string{"-w", dir + "/none/file"}, codes: all(cli.ExitFailed, reading...), says: "no such file"},

		{name: "no such program", more: []string{"--", "none"}, codes: all(cli.ExitFailed, probing...), says: "run none: "},
		{name: "a program that may not be run", more: []string{"--", dir + "/text"}, codes: all(cli.ExitFailed, probing...), says: "permission denied"},
		{name: "a program that is none", more: []string{"--", dir + "/garbage"}, codes: all(cli.ExitFailed, probing...), says: "exec format error"},
		{name: "a program that fails", more: []string{"-d", "60", "--", "sh", "-c", "exit 7"}, codes: all(7, probing...), silent: true},
		{name: "a program that is killed", more: []string{"-d", "60", "--", "sh", "-c", "kill -KILL $$"}, codes: all(128+9, probing...), silent: true},
		{name: "a program where there is none", more: []string{"--", "true"}, codes: all(cli.ExitUsage, "list", "script", "report", "clean", "doctor", "demo", "completion", "version")},
	}
}

// TestKernelFailingSteps makes each step fail that can, of each command: the status is that
// of the manual, standard error has one line, standard output nothing but what was asked
// for, and nothing is left.
func TestKernelFailingSteps(t *testing.T) {
	tracetest.LongKernel(t)
	pages := manPages(t)
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"text": 0o644, "secret": 0o600, "garbage": 0o755, "rec": 0o644} {
		text := "some text\n"
		switch name {
		case "garbage":
			text = "\x7fELF\x01\x02garbage"
		case "rec":
			text = madeUp
		}
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	greet := fixture.Build(t, "greet")
	for _, folder := range []string{filepath.Dir(greet), filepath.Dir(built(t)), dir, filepath.Dir(dir)} {
		noError(t, os.Chmod(folder, 0o755))
	}
	usual := map[string]string{"BINARY": greet, "FUNC": "main.add", "VARIABLE": "main.counter", "REC": dir + "/rec"}
	for _, f := range failures(dir) {
		t.Run(f.name, func(t *testing.T) {
			for command, code := range f.codes {
				args := slices.Clone(whole[command])
				for i, a := range args {
					if with := f.given[a]; with != "" {
						args[i] = with
					} else if with := usual[a]; with != "" {
						args[i] = with
					}
				}
				stdout, stderr, got := doctored(t, f.script, f.nobody, append(args, f.more...)...)
				what := fmt.Sprintf("%s: status %d, want %d", command, got, code)
				if got != code {
					t.Errorf("%s\n%s%s", what, stdout, stderr)
					continue
				}
				if page, has := pages[command]; has && code < 7 && !strings.Contains(manSection(page, "EXIT STATUS"), fmt.Sprintf(".It %d\n", code)) {
					t.Errorf("%s, which its page does not have", what)
				}
				quiet := code == cli.ExitOK || f.silent
				switch {
				case quiet && stderr != "" && slices.Contains(args, "-q"):
					t.Errorf("%s\n%s", what, stderr)
				case quiet || command == "doctor" && code == cli.ExitKernel: // which says so on its output
				case strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "ftgo: ") || !strings.Contains(stderr, f.says) || len(stderr) > 500:
					t.Errorf("%s, and one line with %q\n%s", what, f.says, stderr)
				case stdout != "":
					t.Errorf("%s, and no output\n%s", what, stdout)
				}
			}
		})
	}
}

// TestKernelFewDescriptors: however few files may be open, a run works, or tells in a line
// that they are too few, and removes what it has made. (Go's runtime takes some before.)
func TestKernelFewDescriptors(t *testing.T) {
	f := tracetest.LongKernel(t)
	greet := fixture.Build(t, "greet")
	for _, command := range []string{"probe", "count", "trace", "watch"} {
		works, refused := 0, 0
		for n := 6; n < 20 && works < 2; n++ {
			args := slices.Clone(whole[command])
			for i, a := range args {
				args[i] = cmp.Or(map[string]string{"BINARY": greet, "FUNC": "main.add", "VARIABLE": "main.counter"}[a], a)
			}
			cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, n), built(t)}, args...)...)
			out, _ := cmd.CombinedOutput()
			switch text, code := string(out), cmd.ProcessState.ExitCode(); {
			case code == cli.ExitOK:
				works++
			case strings.Contains(text, "fatal error: runtime:"):
			case code != cli.ExitFailed || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "ftgo: ") || !strings.Contains(text, "too many open files"):
				t.Errorf("%s with %d descriptors: status %d\n%s", command, n, code, text)
			default:
				refused++
			}
			if nothingOf(t, f, cmd.Process.Pid); t.Failed() {
				t.Fatalf("%s with %d descriptors said\n%s", command, n, out)
			}
		}
		if works == 0 || refused == 0 {
			t.Errorf("%s: works %d times, refused %d times", command, works, refused)
		}
	}
}
