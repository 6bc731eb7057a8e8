//go:build ignore

// Trace-vs-delve runs "ftgo trace" and "dlv trace" on the thirty functions of
// testdata/thirty, and compares the values that they show with those the program logs in
// the same run, and what a call costs the program under each. It prints a Markdown table,
// and fails if ftgo does not show all values as the program has them, if delve shows one
// that is neither that nor unreadable, or if a call under ftgo is not at least a hundred
// times cheaper.
//
// Needs root, and the Go module proxy for delve, which is installed into a temporary
// folder, unless -dlv names one.
//
//	go run scripts/trace-vs-delve.go [-dlv FILE]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	dlv := flag.String("dlv", "", "use this delve")
	flag.Parse()
	dir, err := os.MkdirTemp("", "trace-vs-delve-")
	if err == nil {
		err = errors.Join(compare(dir, *dlv), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trace-vs-delve:", err)
		os.Exit(1)
	}
}

// seen is what one run has shown of its calls.
type seen struct {
	traced, logged map[string][]call // by the tracer, by the program
	cost           time.Duration     // of a call
}

// call has the leaves of its arguments and of its results, in order. What could not be
// read makes it nil.
type call struct{ args, results []string }

const (
	rounds     = "3"     // of all functions, to compare values
	baseRounds = "20000" // to time the calls without a tracer
	dlvRounds  = "20"
	ftgoRounds = "2000"
)

func compare(dir, dlv string) error {
	ftgo := filepath.Join(dir, "ftgo")
	if dlv == "" {
		dlv = filepath.Join(dir, "dlv")
		install := exec.Command("go", "install", "github.com/go-delve/delve/cmd/dlv@latest")
		install.Env = append(os.Environ(), "GOBIN="+dir)
		if _, err := output(install); err != nil {
			return err
		}
	}
	if _, err := output(exec.Command("go", "build", "-o", ftgo, "./cmd/ftgo")); err != nil {
		return err
	}
	var table bytes.Buffer
	fmt.Fprintf(&table, "| | %s | ftgo |\n|---|---|---|\n", dlvVersion(dlv))
	var problems []error
	for _, flags := range []string{"", "-N -l"} {
		program, names, err := build(dir, flags)
		if err != nil {
			return err
		}
		debugged, err := underDelve(dlv, program, names, "-v", "4", "--", "-n", rounds)
		if err != nil {
			return err
		}
		traced, err := underFtgo(ftgo, dir, program, names, "-o", "json", "--", "-n", rounds)
		if err != nil {
			return err
		}
		how := "default build"
		if flags != "" {
			how = "built with " + flags
		}
		for _, h := range halves {
			d, t := score(debugged, h.part), score(traced, h.part)
			fmt.Fprintf(&table, "| %s, %s | %v | %v |\n", h.name, how, d, t)
			for _, w := range append(d.wrong, t.wrong...) {
				problems = append(problems, fmt.Errorf("%s, %s: %s", h.name, how, w))
			}
			if t.right < t.all {
				problems = append(problems, fmt.Errorf("%s, %s: ftgo: %v", h.name, how, t))
			}
		}
	}
	base, dlvCost, ftgoCost, err := costs(ftgo, dlv, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(&table, "| cost of a call | %v | %v |\n", dlvCost, ftgoCost)
	times := float64(dlvCost) / float64(max(ftgoCost, 1))
	fmt.Fprintf(&table, "\nA call takes %v without a tracer. Under ftgo it costs the program %.0f times less than under delve.\n", base, times)
	if times < 100 {
		problems = append(problems, fmt.Errorf("only %.0f times cheaper", times))
	}
	fmt.Print(table.String())
	return errors.Join(problems...)
}

// build makes the program and returns the names of its functions.
func build(dir, flags string) (program string, names []string, err error) {
	program = filepath.Join(dir, "thirty"+strings.ReplaceAll(flags, " ", ""))
	if _, err := output(exec.Command("go", "build", "-o", program, "-gcflags", flags, "./testdata/thirty")); err != nil {
		return "", nil, err
	}
	out, err := output(exec.Command(program))
	if err != nil {
		return "", nil, err
	}
	_, names, err = readJSON(out.stdout)
	return program, names, err
}

// costs are the times of a call without a tracer, and what delve and ftgo add to it.
func costs(ftgo, dlv, dir string) (base, byDelve, byFtgo time.Duration, err error) {
	program, names, err := build(dir, "")
	if err != nil {
		return 0, 0, 0, err
	}
	plain, err := output(exec.Command(program, "-quiet", "-n", baseRounds))
	if err != nil {
		return 0, 0, 0, err
	}
	if base, err = perCall(plain.stderr); err != nil {
		return 0, 0, 0, err
	}
	debugged, err := underDelve(dlv, program, names, "--", "-quiet", "-n", dlvRounds)
	if err != nil {
		return 0, 0, 0, err
	}
	traced, err := underFtgo(ftgo, dir, program, names, "--", "-quiet", "-n", ftgoRounds)
	if err != nil {
		return 0, 0, 0, err
	}
	return base, debugged.cost - base, traced.cost - base, nil
}

type text struct{ stdout, stderr string }

func output(cmd *exec.Cmd) (text, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return text{}, fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, &errs)
	}
	return text{out.String(), errs.String()}, nil
}

func dlvVersion(dlv string) string {
	v, err := output(exec.Command(dlv, "version"))
	if _, rest, ok := strings.Cut(v.stdout, "Version: "); ok && err == nil {
		return "delve " + strings.Fields(rest)[0]
	}
	return "delve"
}

var timing = regexp.MustCompile(`\{"calls":(\d+),"ns":(\d+)\}`)

// perCall reads what the program says at its end.
func perCall(stderr string) (time.Duration, error) {
	m := timing.FindStringSubmatch(stderr)
	if m == nil {
		return 0, fmt.Errorf("read timing: none in %q", stderr)
	}
	calls, err := strconv.ParseInt(m[1], 10, 64)
	ns, nerr := strconv.ParseInt(m[2], 10, 64)
	if err = errors.Join(err, nerr); err != nil || calls == 0 {
		return 0, fmt.Errorf("read timing %q: %w", m[0], err)
	}
	return time.Duration(ns / calls), nil
}

// watch runs the program under a tracer, and reads what the program says itself.
func watch(cmd *exec.Cmd) (s seen, stderr string, err error) {
	out, err := output(cmd)
	if err != nil {
		return s, "", err
	}
	if s.logged, _, err = readJSON(out.stdout); err != nil {
		return s, "", err
	}
	s.cost, err = perCall(out.stderr)
	return s, out.stderr, err
}

// underDelve runs the program under delve. args are flags of delve, --, and the program's.
func underDelve(dlv, program string, names []string, args ...string) (seen, error) {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, regexp.QuoteMeta(n))
	}
	all := "^(?:" + strings.Join(quoted, "|") + ")$"
	s, stderr, err := watch(exec.Command(dlv, append([]string{"trace", "--exec", program, all}, args...)...))
	s.traced = readDelve(timing.ReplaceAllString(stderr, ""))
	return s, err
}

// underFtgo runs the program under ftgo. args are flags of ftgo, --, and the program's.
func underFtgo(ftgo, dir, program string, names []string, args ...string) (seen, error) {
	data := filepath.Join(dir, "data")
	dash := slices.Index(args, "--")
	line := slices.Concat([]string{"trace", "-w", data}, args[:dash], []string{program}, names, []string{"--", program}, args[dash+1:])
	s, _, err := watch(exec.Command(ftgo, line...))
	if err != nil || !slices.Contains(args, "json") {
		return s, err
	}
	b, err := os.ReadFile(data)
	if err != nil {
		return s, err
	}
	s.traced, _, err = readJSON(string(b))
	return s, err
}

// readJSON reads the calls that the program or ftgo tells of, and the functions' names in
// order.
func readJSON(text string) (calls map[string][]call, names []string, err error) {
	calls = make(map[string][]call)
	for line := range strings.Lines(text) {
		var c struct {
			Type, Function string
			Args, Results  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, nil, fmt.Errorf("read call %q: %w", line, err)
		}
		if c.Type != "" && c.Type != "call" {
			continue
		}
		if calls[c.Function] == nil {
			names = append(names, c.Function)
		}
		calls[c.Function] = append(calls[c.Function], call{leavesOfJSON(c.Args), leavesOfJSON(c.Results)})
	}
	return calls, names, nil
}

// leavesOfJSON are the numbers, strings, addresses and so on in a value, in order, as
// delve shows them: without the address of what an interface points to, and without what
// Error returns.
func leavesOfJSON(raw json.RawMessage) []string {
	leaves := []string{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value func(held bool) bool
	value = func(held bool) bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case json.Delim:
			iface := false
			for d.More() {
				key := ""
				if t == '{' {
					name, _ := d.Token()
					key, _ = name.(string)
				}
				before := len(leaves)
				if key == "unfetched" || key == "unreadable" || !value(iface && key == "value") {
					return false
				}
				iface = iface || key == "type"
				switch {
				case key == "type", key == "error", key == "&" && held:
					leaves = leaves[:before]
				case key == "&":
					leaves[before], _ = strconv.Unquote(leaves[before])
				}
			}
			d.Token()
		case string:
			leaves = append(leaves, strconv.Quote(t))
		case nil:
			leaves = append(leaves, "nil")
		default:
			leaves = append(leaves, fmt.Sprint(t))
		}
		return true
	}
	if len(raw) == 0 || !value(false) {
		return nil
	}
	return leaves
}

var (
	delveCall = regexp.MustCompile(`(?m)^(>>?) goroutine\(\d+\): `)
	delveName = regexp.MustCompile(`^main\.(?:\(\*\w+\)\.)?[\w.]+`)
	delveLeaf = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|0x[0-9a-f]+|-?\d+|[A-Za-z_][\w.]*`)
)

// readDelve reads lines as "> goroutine(1): main.add(42, 13)", which go on below, and
// ">> goroutine(1): main.add => (55)". Functions without results have but the first.
func readDelve(text string) map[string][]call {
	calls := make(map[string][]call)
	starts := delveCall.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		body, _, _ := strings.Cut(text[at[1]:end], "\nProcess ")
		name := delveName.FindString(body)
		leaves := leavesOfDelve(body[len(name):])
		if of := calls[name]; text[at[2]:at[3]] == ">" {
			calls[name] = append(of, call{args: leaves, results: []string{}})
		} else if len(of) > 0 {
			of[len(of)-1].results = leaves
		}
	}
	return calls
}

func leavesOfDelve(text string) []string {
	if strings.Contains(text, "(unreadable ") {
		return nil
	}
	leaves := []string{}
	for _, word := range delveLeaf.FindAllString(text, -1) {
		switch c := word[0]; {
		case c == '"':
			s, err := strconv.Unquote(word)
			if err != nil {
				return nil
			}
			leaves = append(leaves, strconv.Quote(s))
		case c == '-' || '0' <= c && c <= '9' || word == "true" || word == "false" || word == "nil":
			leaves = append(leaves, word)
		}
	}
	return leaves
}

// halves are what is compared of a call.
var halves = []struct {
	name string
	part func(call) []string
}{
	{"arguments", func(c call) []string { return c.args }},
	{"results", func(c call) []string { return c.results }},
}

// tally counts the calls one half of which is right, or could not be read.
type tally struct {
	all, right, unreadable int
	wrong                  []string
}

func score(s seen, part func(call) []string) (t tally) {
	for name, want := range s.logged {
		for i, w := range want {
			t.all++
			if i >= len(s.traced[name]) {
				continue
			}
			switch got := part(s.traced[name][i]); {
			case got == nil:
				t.unreadable++
			case slices.Equal(got, part(w)):
				t.right++
			default:
				t.wrong = append(t.wrong, fmt.Sprintf("%s: %q, want %q", name, got, part(w)))
			}
		}
	}
	return t
}

func (t tally) String() string {
	text := fmt.Sprintf("%d of %d calls right", t.right, t.all)
	if t.unreadable > 0 {
		text += fmt.Sprintf(", %d unreadable", t.unreadable)
	}
	return text
}
