package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestBadInput: one clear line on stderr, nothing on stdout, the documented status.
// None of these gets as far as the kernel.
func TestBadInput(t *testing.T) {
	target := fixture.Build(t, "flood")
	dir := t.TempDir()
	good := []byte(readFile(t, target))
	write := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		noError(t, os.WriteFile(p, b, 0o755))
		return p
	}
	edit := func(name string, at int, value byte) string {
		b := append([]byte(nil), good...)
		b[at] = value
		return write(name, b)
	}
	script := write("script", []byte("#!/bin/sh\necho hello\n"))
	list := write("list", []byte("# a list\nmain.main\n\n\n\n\nmain.main+0xno\n"))
	fifo := filepath.Join(dir, "fifo")
	noError(t, syscall.Mkfifo(fifo, 0o644))
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no command", nil, cli.ExitUsage, "no command"},
		{"unknown command", []string{"prob"}, cli.ExitUsage, `unknown command "prob": did you mean probe? (see ftgo help)`},
		{"no binary", []string{"probe"}, cli.ExitUsage, "no BINARY"},
		{"no function", []string{"probe", target}, cli.ExitUsage, "no FUNC"},
		{"list of functions", []string{"probe", target, "@" + list}, cli.ExitUsage, list + `:7: parse "main.main+0xno"`},
		{"no list of functions", []string{"count", target, "@" + dir + "/nosuch"}, cli.ExitUsage, "nosuch: no such file"},
		{"numbers for nobody", []string{"export", target, "main.main"}, cli.ExitUsage, "neither --listen ADDR nor --otlp URL"},
		{"spans for nobody", []string{"export", "--listen", ":0", "--spans", target, "main.main"}, cli.ExitUsage, "--spans needs --otlp URL"},
		{"no collector", []string{"export", "--otlp", "collector:4318", target, "main.main"}, cli.ExitUsage, `--otlp: "collector:4318" is no URL like http://localhost:4318`},
		{"no address", []string{"export", "--listen", "here", target, "main.main"}, cli.ExitUsage, "missing port"},
		{"no port", []string{"export", "--listen", ":99999", target, "main.main"}, cli.ExitUsage, "invalid port"},
		{"a process of no name", []string{"count", "--dry-run", "-p", "", target, "main.main"}, cli.ExitUsage, "--pid is empty"},
		{"a container of no name", []string{"count", "--dry-run", "--container", "", target, "main.main"}, cli.ExitUsage, "--container is empty"},
		{"a group of no name", []string{"count", "--dry-run", "--cgroup", "", target, "main.main"}, cli.ExitUsage, "--cgroup is empty"},
		{"a number for weeks", []string{"export", "--listen", ":0", "-p", "1", "main.main"}, cli.ExitUsage, "-p 1: a process's number is gone with it"},
		{"list of functions to export", []string{"export", "--listen", ":0", target, "@" + list}, cli.ExitUsage, list + ":7: parse"},
		{"exported program", []string{"export", "--listen", ":0", target, "main.main", "--", target}, cli.ExitUsage, "it runs no program"},
		{"script for RHEL 7", []string{"script", "--kernel", "3.10.0-1160.el7.x86_64", target, "main.main"}, cli.ExitUsage, "run ftgo itself: ftgo count --force and ftgo trace --entries --force work there"},
		{"unknown recipe", []string{"recipe", "gohtpd"}, cli.ExitUsage, `unknown recipe "gohtpd": did you mean gohttpd? (see ftgo recipe)`},
		{"unknown flag", []string{"probe", "--frob", target, "f"}, cli.ExitUsage, "unknown flag: --frob (see ftgo probe -h)"},
		{"flag with a slip", []string{"probe", "--sot", target, "f"}, cli.ExitUsage, "unknown flag: --sot: did you mean --sort? (see ftgo probe -h)"},
		{"bad format", []string{"probe", "-o", "xml", target, "f"}, cli.ExitUsage, `"xml"`},
		{"no depth", []string{"trace", "--stack=0", target, "f"}, cli.ExitUsage, "not 1 to 15"},
		{"deeper than the kernel", []string{"probe", "-s=16", target, "f"}, cli.ExitUsage, "not 1 to 15"},
		{"depth of several words", []string{"probe", "--stack=all", target, "f"}, cli.ExitUsage, `"all"`},
		{"profile of counts", []string{"count", "-o", "pprof", target, "f"}, cli.ExitUsage, "-o pprof is for probe"},
		{"profile of lines", []string{"trace", "-o", "folded", target, "f"}, cli.ExitUsage, "-o folded is for probe"},
		{"profiles in intervals", []string{"probe", "-o", "folded", "-i", "1", target, "f"}, cli.ExitUsage, "-o folded and --interval exclude each other: a profile is of stacks, over the whole run"},
		{"stacks in cells", []string{"probe", "--stack", "-o", "csv", target, "f"}, cli.ExitUsage, "--stack and -o csv exclude each other"},
		{"profile of a list", []string{"list", "-o", "pprof", target, "f"}, cli.ExitUsage, "-o pprof is for probe"},
		{"bad duration", []string{"probe", "-d", "soon", target, "f"}, cli.ExitUsage, `"soon"`},
		{"duration zero", []string{"probe", "-d", "0", target, "f"}, cli.ExitUsage, "not positive"},
		{"duration not a number", []string{"probe", "-d", "NaN", target, "f"}, cli.ExitUsage, `"NaN"`},
		{"bad condition", []string{"probe", "--fail-if", "p9 > 1ms", target, "f"}, cli.ExitUsage, `unknown number "p9"`},
		{"bad order", []string{"probe", "--sort", "p98", target, "f"}, cli.ExitUsage, `parse order "p98": not calls, rate, total`},
		{"flag of other commands", []string{"trace", "--top", "3", target, "f"}, cli.ExitUsage, "unknown flag: --top, which is of probe, count, report, diff or demo (see ftgo trace -h)"},
		{"children, which are traced in any case", []string{"probe", "--fork", "--all", "--dry-run", target, "main.nosuch"}, cli.ExitNothing, "main.nosuch"},
		{"errors that are counted for the order", []string{"probe", "--sort", "errors", "--fail-if", "errors > 0", "--dry-run", target, "main.nosuch"}, cli.ExitNothing, "main.nosuch"},
		{"order without its number", []string{"count", "--sort", "sum", target, "f"}, cli.ExitUsage, "--sort sum needs --sum: without it nothing is added up"},
		{"order by waits of any process", []string{"probe", "--sort", "wait", target, "f"}, cli.ExitUsage, "--sched needs -p, "},
		{"order by waits, which are there", []string{"probe", "--waits", "--sort", "wait", "--dry-run", target, "main.nosuch"}, cli.ExitNothing, "main.nosuch"},
		{"bad descriptor", []string{"probe", "--ready-fd", "x", target, "f"}, cli.ExitUsage, `"x"`},
		{"descriptor not open", []string{"probe", "--ready-fd", "1234567", target, "f"}, cli.ExitUsage, `"1234567": not open`},
		{"negative top", []string{"probe", "-t", "-1", target, "f"}, cli.ExitUsage, "negative"},
		{"depth not a number", []string{"trace", "--depth", "x", target, "f"}, cli.ExitUsage, `invalid argument "x" for "-D, --depth" flag: not a whole number (see`},
		{"fewer than no calls", []string{"trace", "-n", "-1", target, "f"}, cli.ExitUsage, `flag: not a whole number from 0 on (see`},
		{"items beyond counting", []string{"trace", "--items", "99999999999999999999", target, "f"}, cli.ExitUsage, `flag: out of range (see`},
		{"quiet perhaps", []string{"trace", "--quiet=perhaps", target, "f"}, cli.ExitUsage, `flag: neither true nor false (see`},
		{"fewer than no probes", []string{"count", "--max-probes", "-1", "--dry-run", target, "main.main"}, cli.ExitUsage, "--max-probes -1: negative"},
		{"no elements", []string{"trace", "--items", "-1", "--dry-run", target, "main.main"}, cli.ExitUsage, "negative"},
		{"grouped by nothing", []string{"probe", "--by", "", "--dry-run", target, "main.main"}, cli.ExitUsage, "--by is empty"},
		{"sum of nothing", []string{"count", "--sum=", "--dry-run", target, "main.main"}, cli.ExitUsage, "--sum is empty"},
		{"where nothing", []string{"trace", "--where", "", "--dry-run", target, "main.main"}, cli.ExitUsage, "--where is empty"},
		{"inside nothing", []string{"trace", "--inside", "", "--dry-run", target, "main.main"}, cli.ExitUsage, "--inside is empty"},
		{"symbols of nothing", []string{"list", "--symbols", "", target, "main.main"}, cli.ExitUsage, "--symbols is empty"},
		{"name of nothing", []string{"probe", "--comm", "", "--dry-run", target, "main.main"}, cli.ExitUsage, "--comm is empty"},
		{"file of no name", []string{"list", "-w", "", target, "main.main"}, cli.ExitUsage, "--output-file is empty"},
		{"slow rows", []string{"trace", "--slow", "1s", "-o", "csv", target, "f"}, cli.ExitUsage, "rows have no room for trees"},
		{"pid zero", []string{"probe", "-p", "0", "f"}, cli.ExitUsage, "-p 0"},
		{"pid and program", []string{"probe", "-p", "1", "f", "--", "true"}, cli.ExitUsage, "exclude each other"},
		{"nothing after the dashes", []string{"probe", target, "f", "--"}, cli.ExitUsage, "no program"},
		{"no such process", []string{"probe", "-p", "4194304", "f"}, cli.ExitFailed, "no such process"},
		{"no such file", []string{"probe", dir + "/nope", "f"}, cli.ExitFailed, "no such file"},
		{"directory", []string{"probe", dir, "f"}, cli.ExitFailed, "is a directory"},
		{"named pipe", []string{"probe", fifo, "f"}, cli.ExitFailed, "not a regular file"},
		{"shell script", []string{"probe", script, "f"}, cli.ExitFailed, script + ": not an ELF file"},
		{"empty file", []string{"probe", write("empty", nil), "f"}, cli.ExitFailed, "not an ELF file"},
		{"truncated in the header", []string{"probe", write("short", good[:18]), "f"}, cli.ExitFailed, "truncated ELF file"},
		{"truncated in the middle", []string{"probe", write("half", good[:len(good)/2]), "f"}, cli.ExitFailed, "truncated ELF file"},
		{"32-bit", []string{"probe", edit("elf32", elf.EI_CLASS, byte(elf.ELFCLASS32)), "f"}, cli.ExitFailed, "32-bit"},
		{"another processor", []string{"probe", edit("riscv", 18, byte(elf.EM_RISCV)), "f"}, cli.ExitFailed, "RISCV"},
		{"object file", []string{"probe", edit("object", 16, byte(elf.ET_REL)), "f"}, cli.ExitFailed, "neither an executable"},
		{"empty pattern", []string{"probe", target, ""}, cli.ExitUsage, `pattern "": empty`},
		{"bad regular expression", []string{"probe", "-r", target, "a(("}, cli.ExitUsage, `"a(("`},
		{"nothing matches", []string{"probe", target, "main.framd"}, cli.ExitNothing, "nearest: main.framed"},
		{"of a library", []string{"count", "/bin/bash", "malloc"}, cli.ExitNothing, "malloc is of libc.so.6, which it loads: name that instead, as in ftgo count libc.so.6 malloc"},
		{"everything excluded", []string{"probe", "-x", "main.*", target, "main.framed"}, cli.ExitNothing, "excluded"},
		{"no such argument", []string{"trace", "--dry-run", fixture.Build(t, "lookup"), "main.lookup(n) valu"}, cli.ExitUsage, `main.lookup has no variable "valu": there are key, n; results value, found, err`},
		{"no such variable", []string{"trace", "--dry-run", "--where", "k > 1", fixture.Build(t, "lookup"), "main.lookup"}, cli.ExitUsage, `main.lookup has no variable "k": there are key, n; results value, found, err; of each call cpu, `},
		{"names in a stripped program", []string{"trace", "--dry-run", fixture.Build(t, "lookup", "-ldflags=-s -w"), "main.lookup(topic)"}, cli.ExitUsage, `main.lookup has no variable "topic": there are p0, p1; without debug information no name is known: say goarg1:string, or all types, as in 'main.lookup(key string) (n int, err error)'`},
		{"no such type", []string{"trace", "--dry-run", fixture.Build(t, "lookup"), "main.lookup(goarg2:u64)"}, cli.ExitUsage, `goarg2: type "u64": neither predeclared nor known of this program: say int, uint64, bool, string`},
		{"inlined away", []string{"probe", fixture.Build(t, "inlined"), "main.grow"}, cli.ExitNothing, "was inlined into its callers (2 places"},
		{"end of a name inlined away", []string{"probe", target, "guintptr.ptr"}, cli.ExitNothing, "runtime.guintptr.ptr was inlined into its callers ("},
		{"program not executable", []string{"probe", target, "main.framed", "--", "/etc/passwd"}, cli.ExitFailed, "run /etc/passwd: permission denied"},
		{"program not found", []string{"probe", target, "main.framed", "--", "no-such-program"}, cli.ExitFailed, "run no-such-program: executable file not found"},
		{"output file in no folder", []string{"list", "-w", dir + "/no/file", target, "main.framed"}, cli.ExitFailed, "no such file"},
		{"list runs nothing", []string{"list", target, "f", "--", "true"}, cli.ExitUsage, "runs no program"},
		{"version with arguments", []string{"version", "1"}, cli.ExitUsage, "no arguments"},
		{"doctor with arguments", []string{"doctor", "1"}, cli.ExitUsage, "no arguments"},
		{"doctor with a bad format", []string{"doctor", "-o", "xml"}, cli.ExitUsage, `"xml"`},
		{"clean with arguments", []string{"clean", "1"}, cli.ExitUsage, "no arguments"},
		{"help for nothing", []string{"help", "nope"}, cli.ExitUsage, `"nope"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ftgo(t, c.args...)
			last := r.stderr[strings.LastIndex(strings.TrimSuffix(r.stderr, "\n"), "\n")+1:]
			if r.code != c.code || !strings.Contains(last, c.want) || !strings.HasPrefix(last, "ftgo: ") {
				t.Errorf("status %d, stderr %q; want %d and %q", r.code, r.stderr, c.code, c.want)
			}
			if strings.Count(r.stderr, "\n") != 1 && c.name != "no command" {
				t.Errorf("more than a line: %q", r.stderr)
			}
			if r.stdout != "" {
				t.Errorf("stdout %q", r.stdout)
			}
		})
	}
}

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
		{"count", "--max-probes", digits, target, "main.framed"},
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

// TestDryRun leaves the kernel alone: it works for everybody.
func TestDryRun(t *testing.T) {
	r := ftgo(t, "probe", "--dry-run", fixture.Build(t, "flood"), "main.framed")
	if r.code != 0 || !strings.HasPrefix(r.stdout, "p:ftgo/e0_") || strings.Contains(r.stdout, "\nr") {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
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
