package trials

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

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

// values has "ftgo trace" and "dlv trace" show the thirty functions of testdata/thirty, and compares
// the values with those that the program logs in the same run, and what a call costs the program under
// each. It prints a Markdown table, and fails if ftgo does not show all values as the program has them,
// if delve shows one that is neither that nor unreadable, or if a call under ftgo is not at least a
// hundred times cheaper.
func values(t *testing.T) {
	dlv, err := findDelve(t)
	check(t, err)
	version, err := command(t, time.Minute, dlv, "version").run()
	check(t, err)
	fmt.Printf("| | delve %s | ftgo |\n|---|---|---|\n", regexp.MustCompile(`Version: (\S+)`).FindStringSubmatch(version.stdout)[1])
	for _, flags := range []string{"", "-N -l"} {
		program, names := thirty(t, flags)
		debugged := underDelve(t, dlv, program, names, []string{"-v", "4"}, "-n", rounds)
		traced := underFtgo(t, program, names, []string{"-o", "json"}, "-n", rounds)
		how := "default build"
		if flags != "" {
			how = "built with " + flags
		}
		for _, h := range halves {
			d, f := score(debugged, h.part), score(traced, h.part)
			fmt.Printf("| %s, %s | %v | %v |\n", h.name, how, d, f)
			for _, w := range append(d.wrong, f.wrong...) {
				t.Errorf("%s, %s: %s", h.name, how, w)
			}
			if f.right < f.all {
				t.Errorf("%s, %s: ftgo: %v", h.name, how, f)
			}
		}
	}
	program, names := thirty(t, "")
	base := watch(t, command(t, childLimit, program, "-quiet", "-n", baseRounds)).cost
	dlvCost := underDelve(t, dlv, program, names, nil, "-quiet", "-n", dlvRounds).cost - base
	ftgoCost := underFtgo(t, program, names, nil, "-quiet", "-n", ftgoRounds).cost - base
	fmt.Printf("| cost of a call | %v | %v |\n", dlvCost, ftgoCost)
	times := float64(dlvCost) / float64(max(ftgoCost, 1))
	fmt.Printf("\nA call takes %v without a tracer. Under ftgo it costs the program %.0f times less than under delve.\n", base, times)
	if times < 100 {
		t.Errorf("only %.0f times cheaper", times)
	}
}

// thirty makes the program and returns the names of its functions.
func thirty(t *testing.T, flags string) (program string, names []string) {
	program = fixture.Build(t, "thirty", "-gcflags="+flags)
	o, err := command(t, childLimit, program).run()
	check(t, err)
	_, names = readCalls(t, o.stdout)
	return program, names
}

// watch runs the program, under a tracer or not, and reads what the program says itself.
func watch(t *testing.T, c *child) (s seen) {
	o, err := c.run()
	check(t, err)
	s.logged, _ = readCalls(t, o.stdout)
	stamp, ok := stampIn(o.stderr)
	if !ok {
		t.Fatalf("read timing: none in %q", o.stderr)
	}
	s.cost = time.Duration(stamp.perCall())
	s.traced = readDelve(stampText.ReplaceAllString(o.stderr, ""))
	return s
}

// stampText is what the program says at its end, wherever the tracer has left the column.
var stampText = regexp.MustCompile(`\{"calls":\d+,"ns":\d+\}`)

// underDelve runs the program under delve.
func underDelve(t *testing.T, dlv, program string, names, flags []string, args ...string) seen {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, regexp.QuoteMeta(n))
	}
	all := "^(?:" + strings.Join(quoted, "|") + ")$"
	return watch(t, command(t, childLimit, dlv, slices.Concat([]string{"trace", "--exec", program, all}, flags, []string{"--"}, args)...))
}

// underFtgo runs the program under ftgo.
func underFtgo(t *testing.T, program string, names, flags []string, args ...string) seen {
	data := filepath.Join(t.TempDir(), "data")
	line := slices.Concat([]string{"trace", "-w", data}, flags, []string{program}, names, []string{"--", program}, args)
	s := watch(t, command(t, childLimit, fixture.Command(t, "cmd/ftgo"), line...))
	if len(flags) > 0 {
		text, err := os.ReadFile(data)
		check(t, err)
		s.traced, _ = readCalls(t, string(text))
	}
	return s
}

// readCalls reads the calls that the program or ftgo tells of, and the functions' names in
// order.
func readCalls(t *testing.T, text string) (calls map[string][]call, names []string) {
	calls = make(map[string][]call)
	for line := range strings.Lines(text) {
		var c struct {
			Type, Function string
			Args, Results  json.RawMessage
		}
		check(t, json.Unmarshal([]byte(line), &c))
		if c.Type != "" && c.Type != "call" {
			continue
		}
		if calls[c.Function] == nil {
			names = append(names, c.Function)
		}
		calls[c.Function] = append(calls[c.Function], call{leavesOfJSON(c.Args), leavesOfJSON(c.Results)})
	}
	return calls, names
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
