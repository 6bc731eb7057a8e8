package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

const (
	optionsBegin = ".\\\" Written by FTGO_UPDATE=1 go test -run TestManOptions ./cmd/ftgo, from flags and manual texts.\n"
	optionsEnd   = ".\\\" End of what is written.\n"
)

// manualTexts are what manual pages say of flags, where that is more than the help text:
// of "COMMAND FLAG", or of a flag in all commands that have no text of their own.
var manualTexts = map[string]string{
	"pid":        "Trace process PID, whose executable BINARY is, unless BINARY is named. May be given several times. A name is that of a process, by its file or as ps -o comm shows it.",
	"all":        "With -p NAME, --container or --cgroup, trace all processes that these mean, which must run one file.",
	"container":  "Trace what runs in a container: the only Go program there, or what -p NAME or BINARY, a path from the container's root on, choose. ID is the beginning of the container's id; or a name: that of Docker or Podman, of a pod, POD/CONTAINER or NAMESPACE/POD of Kubernetes, or one of LXC or systemd-nspawn. No daemon is asked.",
	"cgroup":     "Trace what runs in the control group PATH, or below it, of version 1 or 2: the whole path of a folder below /sys/fs/cgroup, or a path as /proc/PID/cgroup has it. Else it is as --container.",
	"symbols":    "Take names, types and source lines from FILE: BINARY as it was before it was stripped. It must have the same code, which is compared function by function, or, if it has none, the same build ID.",
	"fork":       "With -p or -- PROGRAM, also trace the processes that these start, and those that their children start.",
	"comm":       "Trace only processes of this NAME, as ps -o comm shows it, for as long as they have it.",
	"exclude":    "Leave out functions that match PATTERN. May be given several times.",
	"wrappers":   "Also select wrappers, which the compiler makes to call methods, instances of generic functions, and what go and defer statements call. Without it wildcards and ends of names leave them out, unless they select nothing else. A name in full selects them, too. A wrapper may have the method inlined: those calls are seen in the wrapper alone.",
	"full":       "Show functions with the whole paths of their packages. Without it tables and lines have the last element, or as many as tell them apart; all other formats have the whole paths.",
	"watch at":   "Read the variables when FUNC is called (default runtime.usleep). May be given several times.",
	"at":         "Begin to measure at TIME, on all machines at the same moment: a time of day here, like 15:04:05, a time by RFC 3339, like 2006-01-02T15:04:05Z, or how long from now, like +10s. The probes are in place before, and what they see before counts for nothing. -d, -i and -n count from TIME on.",
	"where":      "Show only calls for which EXPR is true, like 'n > 100 && key == \"bob\"'.",
	"errors":     "Add the calls whose last result was an error, and their share.",
	"min":        "Show only calls that took at least so many SECONDS, or a time like 5ms.",
	"inside":     "Show only calls made while FUNC was running, on its goroutine, and in trees on those that it has started.",
	"depth":      "Show only calls nested less than N deep: those that are inside of fewer than N other traced calls.",
	"entries":    "Show only how calls begin: no results, no latency, and much cheaper.",
	"duration":   "Stop after so many SECONDS, or after a time like 100ms or 2m.",
	"interval":   "Print a table every so many SECONDS. On a terminal it is redrawn.",
	"wait":       "Wait until BINARY is there, and count the time of -d from the first process that runs it.",
	"ready-fd":   "Write \"ready\" to file descriptor N when the probes are armed, and close it.",
	"per-pid":    "Show a row for each function of each process. The processes after the first 1000 share their rows.",
	"stack":      "Add up calls by who called: the stack, up to DEPTH callers and what was inlined into them.",
	"sched":      "Split latencies into running, runnable and waiting, and say for what, for a Go program of -p or -- PROGRAM. Each change of a goroutine's state costs the program one hit more.",
	"waits":      "Add rows of what calls wait for, named as in stack dumps: [select], [IO wait], [sync.Mutex.Lock]. Without FUNC they are of all goroutines. It takes the hits of --sched, and with --stack one more for each wait.",
	"with":       "Also show kernel events of the traced process. GROUP:EVENT,... is a list like sched:sched_switch or 'block:*'.",
	"slow":       "Show only the trees of calls whose outermost call took longer than so many SECONDS, or a time like 50ms: see --tree. All calls are kept until it has ended, up to 10,000 of a tree and 100,000 in all.",
	"tree":       "Show calls as trees, once the outermost call of each has ended, with what goroutines do that it starts. A tree waits one second for those that outlive it.",
	"format":     "Write lines by TEMPLATE; NAMES are the values of its verbs, as in --format 'key=%q n=%d' key,n.",
	"probe top":  "Show only the first N functions, and of each in a table the first N stacks.",
	"sort":       "Sort functions by KEY, the largest first: calls, rate, total (the time of all calls), mean, p50, p90, p95, p99, p999, max, errors as of --errors, wait as of --sched, sum with --sum; or by name (default sum with --sum, else calls).",
	"count sort": "Sort functions by KEY, the largest first: calls, rate, or sum with --sum; or by name (default sum with --sum, else calls).",
	"by":         "Show a row for each value of EXPR: an argument or a result, or a part of it, like req.URL.Path or 'key[:4]'; goid, pid, tid, cpu; stack, who called, the innermost first; or what --where calculates with, like 'len(buf) / 4096'. The 1000 values with most calls have rows: with most time where --sort is by latencies, with the largest sum with --sum. What others may have is told.",
	"sum":        "Add up EXPR, a whole number like a size, over calls: of each row, and of each stack with --stack.",
	"strlen":     "Fetch so many BYTES of a string, at most 512 (default 64).",
	"items":      "Fetch the first N elements of a slice, at most 64 (default 8).",
	"verbose":    "Also show the probe definitions, and when grace periods are expedited.",
	"quiet":      "Write nothing to standard error but errors, and what was lost.",
	"dry-run":    "Print the probe definitions and leave the kernel alone.",
	"buffer":     "Use ring buffers of SIZE per CPU, like 512K or 64M (default 16M, or less where memory is short).",
	"no-expedite": "Leave /sys/kernel/rcu_expedited alone, which is otherwise 1 for the moments " +
		"that many probes, or hot ones, take to go.",
	"max-probes": "Refuse to place more than N probes. The default before Linux 5.4 is 2500, or 250 where their removal can't be expedited; later it is any number.",
	"budget":     "Let probes take PERCENT of the program's CPU time. Functions whose probes would take more are watched for short stretches of time alone: their numbers are estimates of the whole run, marked and with bounds in -o json. 0 is no limit (default 25, and 0 with -- PROGRAM).",
	"force":      "Go on with patterns that match nothing, with a file that is open for writing, and on kernels before 4.0 (before 3.14, at the top level of tracefs).",
	"fail-if":    "Exit with status 6 if EXPR is true of a function at the end, like 'calls == 0 || p99 > 10ms'. Wrappers that the compiler made, and that FUNC selects beside the function, do not count.",

	"trace full":     "Show functions with the whole paths of their packages, and values of any width. Without it names have the last element, or as many as tell them apart, and values are cut where a line would be wider than the terminal, or 200 columns; of a struct they have six fields, and of what a pointer leads to nothing if it has more. Parts that FUNC names are not left out. All formats but the table are full.",
	"report full":    "Show functions with the whole paths of their packages, and values of trace as wide as they are. Without it names have the last element, or as many as tell them apart, and values are cut where a line would be wider than the terminal, or 200 columns. All formats but the table are full.",
	"list full":      "Show functions with the whole paths of their packages, their parameters and results. Without it names have the last element, or as many as tell them apart. All formats but the table are full.",
	"count fail-if":  "Exit with status 6 if EXPR is true of a function at the end, like 'calls == 0 || rate > 1000'. Wrappers that the compiler made, and that FUNC selects beside the function, do not count.",
	"probe output":   "Write FORMAT: table, json, csv or tsv, and with --stack also folded or pprof (default table).",
	"demo output":    "Write FORMAT: table, json, csv or tsv, and with --stack also folded or pprof (default table).",
	"trace output":   "Write FORMAT: table, json, csv, tsv, or chrome for Perfetto and chrome://tracing (default table).",
	"trace errors":   "Show only calls whose last result is an error.",
	"trace stack":    "Show who called: the stack, up to DEPTH callers and what was inlined into them.",
	"top interval":   "Show new numbers every so many SECONDS, or after a time like 500ms (default 1). With -o, write them as often.",
	"watch interval": "Read the variables every so many SECONDS (default 1, without --at).",

	"compare":          "Compare only ASPECTS, a list of calls, errors, latency and tail (default all).",
	"otlp":             "Send metrics to the OpenTelemetry collector at URL, like http://localhost:4318, by OTLP/HTTP, each minute and at the end. See OPENTELEMETRY.",
	"spans":            "Send each call to the collector, too, as a span, whose parent is the call that it is nested in or that has started its goroutine.",
	"listen":           "Serve metrics for Prometheus at ADDR, like 127.0.0.1:8780, or :8780 for all addresses of the machine.",
	"export pid":       "Trace the programs that processes named NAME run, by their file or as ps -o comm shows them, instead of BINARY.",
	"export sched":     "Split latencies into running, runnable and waiting, and say for what. Each change of a goroutine's state costs the program one hit more.",
	"export budget":    "Let probes take PERCENT of the program's CPU time. Functions whose probes would take more are watched for short stretches of time alone: their numbers are estimates of the whole run, marked and with bounds in -o json. 0 is no limit (default 25).",
	"export container": "Count only calls of processes in a container, by its id or by a name as of ftgo probe. BINARY is a path from the container's root on then. A name is looked up again when containers come and go.",
	"export cgroup":    "Count only calls of processes in the control group PATH, or below it, of version 1 or 2: a folder below /sys/fs/cgroup, or a path as /proc/PID/cgroup has it. BINARY is a path from the root of one of them on.",
	"export duration":  "Stop after so many SECONDS, or after a time like 2m, and not just when told to end.",
	"export interval":  "Read the numbers every so many SECONDS (default 0.25). A rate over a minute is off by half a percent then, as scrapes get the last ones.",

	"list pid":         "Take BINARY from process PID, unless BINARY is named. A name is that of a process, by its file or as ps -o comm shows it.",
	"list all":         "With -p NAME, --container or --cgroup, take BINARY from any of the processes that these mean, which must run one file.",
	"list container":   "Take BINARY from a container: what the only Go program there runs, or what -p NAME or BINARY, a path from the container's root on, choose. ID is as of ftgo probe.",
	"list cgroup":      "Take BINARY from the control group PATH, or below it, which is as of ftgo probe.",
	"script pid":       "Take BINARY from process PID, unless BINARY is named. A name is that of a process, by its file or as ps -o comm shows it.",
	"script all":       "With -p NAME, --container or --cgroup, take BINARY from any of the processes that these mean, which must run one file.",
	"script container": "Take BINARY from a container: what the only Go program there runs, or what -p NAME or BINARY, a path from the container's root on, choose. ID is as of ftgo probe.",
	"script cgroup":    "Take BINARY from the control group PATH, or below it, which is as of ftgo probe.",

	"count by":          "Show a row for each value of EXPR: an argument, or a part of it, like req.URL.Path or 'key[:4]'; goid, pid, tid, cpu. The 1000 values with most calls, or with --sum with the largest sum, have rows. What others may have is told. Hits are recorded for it.",
	"count sum":         "Add up EXPR, a whole number like a size, over calls.",
	"script budget":     "Have the script look once a second at how often probes are hit, and disarm those that take most, for good, until the rest take at most PERCENT of one CPU, by what hits usually cost. Functions have probes of their own then, up to 50. What was not recorded is told (default 0, no limit).",
	"script by":         "Of probe and count: record EXPR, for a row for each of its values.",
	"script sum":        "Of probe and count: record EXPR, to be added up.",
	"report by":         "Of probe and count: show a row for each value of EXPR. It takes script --as trace, which records values, but for goid, pid, tid and cpu.",
	"report sum":        "Of probe and count: add up EXPR, likewise.",
	"script as":         "Record what COMMAND needs: probe, count or trace, which has values (default probe).",
	"script duration":   "Stop after so many SECONDS, unless the script is told otherwise.",
	"script tree":       "Of trace: also record each go statement, so that report --tree, --slow and -o chrome show goroutines below the calls that start them.",
	"script entries":    "Of trace: record only how calls begin.",
	"script errors":     "Of probe: record which calls' last result was an error.",
	"script force":      "Go on with patterns that match nothing.",
	"script inside":     "Of trace: record only calls made while FUNC was running, on its goroutine.",
	"script max-probes": "Refuse to place more than N probes (default 250 before Linux 5.4, else any number).",
	"script quiet":      "Write nothing to standard error but errors.",
	"script stack":      "Record who called: the stack, up to DEPTH callers.",
	"script where":      "Of trace: record only calls for which EXPR is true.",
	"report binary":     "Take PATH for the traced binary (default where it was when the script was made).",
	"report per-host":   "Show a row for each function of each machine, of several FILEs or of JSON.",
	"report pid":        "Show only process PID. May be given several times.",
	"report output":     "Write FORMAT: table, json, csv or tsv, of stacks also folded or pprof, and of trace also chrome (default table).",
	"report where":      "Of trace: show only calls for which EXPR is true, like 'n > 100 && key == \"bob\"'.",
	"report errors":     "Of trace: show only calls whose last result is an error.",
	"report min":        "Of trace: show only calls that took at least so many SECONDS, or a time like 5ms.",
	"report depth":      "Of trace: show only calls nested less than N deep: those that are inside of fewer than N other traced calls.",
	"report tree":       "Of trace: show calls as trees, with the goroutines that they start, if script --tree has recorded that.",
	"report format":     "Of trace: write lines by TEMPLATE; NAMES are the values of its verbs, as in --format 'key=%q n=%d' key,n.",
}

// newSentence is where mdoc(7) wants a new line.
var newSentence = regexp.MustCompile(`\. ([A-Z])`)

// TestManOptions: OPTIONS are the flags of ftgo COMMAND -h, with their manual texts.
// FTGO_UPDATE=1 writes them into the pages.
func TestManOptions(t *testing.T) {
	used := make(map[string]bool)
	for name, page := range manPages(t) {
		before, rest, found := strings.Cut(page, optionsBegin)
		got, after, ended := strings.Cut(rest, optionsEnd)
		flags := flagsOf(name)
		if flags == nil {
			if found {
				t.Errorf("the page of ftgo %s has options, the command has none", name)
			}
			continue
		}
		if !found || !ended {
			t.Errorf("the page of ftgo %s has no place for options:\n%s%s", name, optionsBegin, optionsEnd)
			continue
		}
		want := manOptions(name, flags, used)
		if got == want {
			continue
		}
		file := filepath.Join(fixture.Root(), "docs", "man", "ftgo-"+name+".1")
		if os.Getenv("FTGO_UPDATE") == "" {
			t.Errorf("%s: options are\n%s\nflags and manual texts make them (FTGO_UPDATE=1)\n%s", file, got, want)
			continue
		}
		noError(t, os.WriteFile(file, []byte(before+optionsBegin+want+optionsEnd+after), 0o644))
	}
	for key := range manualTexts {
		if !used[key] {
			t.Errorf("no page takes the text of %q", key)
		}
	}
}

// manOptions writes a command's flags in mdoc(7), and marks the manual texts that it used.
func manOptions(command string, flags *cli.Flags, used map[string]bool) string {
	var b strings.Builder
	flags.VisitHeadings(func(title string, flags []*cli.Flag) {
		fmt.Fprintf(&b, ".Ss %s\n.Bl -tag -width Ds\n", title)
		for _, f := range flags {
			b.WriteString(".It ")
			if f.Shorthand != "" {
				b.WriteString("Fl " + f.Shorthand + " , ")
			}
			b.WriteString("Fl \\-" + manText(f.Name))
			text := manualText(command, f, used)
			switch value := cli.ValueName(f); {
			case value == "":
			case f.NoOptDefVal != "":
				fmt.Fprintf(&b, " Op Ar %s", manText(strings.Trim(value, "[]")))
				text += " Without a value it means " + f.NoOptDefVal + "."
			default:
				b.WriteString(" Ar " + manText(value))
			}
			fmt.Fprintf(&b, "\n%s\n", manText(newSentence.ReplaceAllString(text, ".\n$1")))
		}
		b.WriteString(".El\n")
	})
	return b.String()
}

// manualText is a flag's manual text, or its help text as a sentence.
func manualText(command string, f *cli.Flag, used map[string]bool) string {
	for _, key := range []string{command + " " + f.Name, f.Name} {
		if text, ok := manualTexts[key]; ok {
			used[key] = true
			return text
		}
	}
	text := cli.About(f)
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
