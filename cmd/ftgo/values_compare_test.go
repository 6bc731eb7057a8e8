package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// loggedCall is a call as ftgo or as the target itself tells of it.
type loggedCall struct {
	Type, Function, End string
	Args, Results       map[string]any
}

// readCalls reads lines of JSON; those with another type than "call" are left out.
func readCalls(text string) ([]loggedCall, error) {
	var calls []loggedCall
	for line := range strings.Lines(text) {
		var kind struct{ Type string }
		if err := json.Unmarshal([]byte(line), &kind); err != nil {
			return nil, fmt.Errorf("read call %q: %w", line, err)
		}
		if kind.Type != "" && kind.Type != "call" {
			continue
		}
		var c loggedCall
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("read call %q: %w", line, err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

var shape = regexp.MustCompile(`go\.shape\.|_[0-9]+([,\]])`)

// instance spells the name of an instance of a generic function without what the
// versions of Go add to its type arguments.
func instance(name string) string { return shape.ReplaceAllString(name, "$1") }

func byFunction(calls []loggedCall) map[string][]loggedCall {
	m := make(map[string][]loggedCall)
	for _, c := range calls {
		name := instance(c.Function)
		m[name] = append(m[name], c)
	}
	return m
}

// finding is a place where ftgo's value is not the target's. Indexes are left out of the
// path: args.list[].Name.
type finding struct {
	call            int
	path, got, want string
}

func (f finding) String() string {
	return fmt.Sprintf("call %d: %s:\n    got  %s\n    want %s", f.call, f.path, f.got, f.want)
}

// comparison is of one function's calls.
type comparison struct {
	call int
	// less is where ftgo says that it does not know, or leaves out what the target has;
	// wrong is where it says something else.
	less, wrong []finding
}

// compareCalls compares the calls of a function one by one.
func compareCalls(got, want []loggedCall) *comparison {
	c := &comparison{}
	if len(got) != len(want) {
		c.differ("number of calls", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		c.call = i
		if got[i].End != "return" {
			c.differ("end", got[i].End, "return")
			continue
		}
		c.members("args", got[i].Args, want[i].Args, true, true)
		c.members("results", got[i].Results, want[i].Results, true, true)
	}
	return c
}

func (c *comparison) differ(path string, got, want any) {
	c.wrong = append(c.wrong, finding{c.call, path, brief(got), brief(want)})
}

func (c *comparison) lack(path string, got, want any) {
	c.less = append(c.less, finding{c.call, path, brief(got), brief(want)})
}

// brief is a value for people to read.
func brief(v any) string {
	if v == nil {
		return "null"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > 300 {
		return string(b[:300]) + "…"
	}
	return string(b)
}

func (c *comparison) members(path string, got, want map[string]any, follow, inside bool) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; ok {
			c.value(path+"."+name, g, want[name], follow, inside)
		} else {
			c.lack(path+"."+name, "nothing", want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			c.differ(path+"."+name, got[name], "nothing")
		}
	}
}

// value compares one value. The target follows pointers further than ftgo does, which
// may give but the address of those that it is not to follow: follow tells whether it
// has to follow this one, inside whether what interfaces hold has to be shown.
func (c *comparison) value(path string, got, want any, follow, inside bool) {
	g, isObject := got.(map[string]any)
	if isObject && (g["unfetched"] != nil || g["unreadable"] != nil) && (g["&"] == nil || pointed(want) == g["&"]) {
		c.lack(path, got, want)
		return
	}
	if text, ok := readText(want); ok {
		c.text(path, got, want, text)
		return
	}
	switch w := want.(type) {
	case map[string]any:
		if address, ok := got.(string); ok && pointed(w) == address {
			if follow {
				c.lack(path, got, want)
			}
			return
		}
		if !isObject {
			c.differ(path, got, want)
			return
		}
		c.object(path, g, w, follow, inside)
	case []any:
		c.items(path, got, w, follow, inside)
	case json.Number:
		if g, ok := got.(json.Number); !ok || !sameNumber(g, w) {
			c.differ(path, got, want)
		}
	default: // bool, nil
		if got != want {
			c.differ(path, got, want)
		}
	}
}

// pointed is the address in a pointer that was followed, nil for anything else.
func pointed(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return m["&"]
}

// sameNumber: integers are compared digit by digit, what looks like a float as one.
func sameNumber(got, want json.Number) bool {
	if got == want {
		return true
	}
	if !strings.ContainsAny(string(got+want), ".e") && got != "-0" && want != "-0" {
		return false
	}
	g, err := strconv.ParseFloat(string(got), 64)
	w, werr := strconv.ParseFloat(string(want), 64)
	return err == nil && werr == nil && g == w
}

func (c *comparison) object(path string, got, want map[string]any, follow, inside bool) {
	switch {
	case want["items"] != nil:
		for _, key := range []string{"len", "cap"} {
			if got[key] != want[key] {
				c.differ(path, got, want)
				return
			}
		}
		c.items(path, got["items"], want["items"].([]any), follow && want["cap"] == nil, inside)
	case want["type"] != nil:
		c.iface(path, got, want, inside)
	case want["&"] != nil:
		c.members(path, got, want, false, inside)
	default:
		c.members(path, got, want, follow, inside)
	}
}

func (c *comparison) items(path string, got any, want []any, follow, inside bool) {
	g, ok := got.([]any)
	if !ok || len(g) > len(want) {
		c.differ(path, got, want)
		return
	}
	for i := range g {
		c.value(path+"[]", g[i], want[i], follow, inside)
	}
	if len(g) < len(want) {
		c.lack(path, got, want)
	}
}

var importPath = regexp.MustCompile(`[^*\[\]]*/`)

// iface compares what interfaces hold. Debug information has import paths in the names of
// types, the target their last elements.
func (c *comparison) iface(path string, got, want map[string]any, inside bool) {
	name, _ := got["type"].(string)
	if wantName := want["type"].(string); importPath.ReplaceAllString(name, "") != importPath.ReplaceAllString(wantName, "") {
		c.differ(path+".type", got, want)
		return
	}
	c.value(path+".value", got["value"], want["value"], inside, false)
	message, has := got["error"]
	text, wanted := readText(want["error"])
	switch {
	case has && wanted:
		// A part of the message was cut: the target's is whole.
		if g, ok := readText(message); !ok || g.length != text.length || !strings.HasPrefix(text.known, g.known) || len(g.known) < min(text.length, 60) {
			c.differ(path+".error", message, want["error"])
		}
	case has:
		c.differ(path+".error", message, "nothing")
	case wanted && inside:
		c.lack(path+".error", "nothing", want["error"])
	}
}

// knownText is a string, all of it or its beginning.
type knownText struct {
	known  string
	length int
}

// readText reads any of the forms of strings.
func readText(v any) (t knownText, ok bool) {
	switch v := v.(type) {
	case string:
		return knownText{v, len(v)}, true
	case map[string]any:
		cut, isCut := v["cut"].(string)
		coded, isBytes := v["bytes"].(string)
		if v["cap"] != nil || !isCut && !isBytes {
			return t, false // a []byte, or no text
		}
		if isBytes {
			b, err := base64.StdEncoding.DecodeString(coded)
			if err != nil {
				return t, false
			}
			cut = string(b)
		}
		t = knownText{cut, len(cut)}
		if n, ok := v["len"].(json.Number); ok {
			length, err := n.Int64()
			if err != nil {
				return t, false
			}
			t.length = int(length)
		}
		return t, true
	}
	return t, false
}

func (c *comparison) text(path string, got, want any, w knownText) {
	switch g, ok := readText(got); {
	case brief(got) == brief(want):
	case ok && g.length == w.length && len(g.known) < len(w.known) && strings.HasPrefix(w.known, g.known):
		c.lack(path, got, want)
	default:
		c.differ(path, got, want)
	}
}

func TestCompareCalls(t *testing.T) {
	call := func(results string) string {
		return `{"type":"call","function":"main.f","args":{},"results":` + results + `,"end":"return"}` + "\n"
	}
	tests, err := txtar.ParseFile("testdata/compared.txt")
	noError(t, err)
	paths := func(list []finding) string {
		var out []string
		for _, f := range list {
			out = append(out, f.path)
		}
		return strings.Join(out, " ")
	}
	for _, tt := range tests.Files {
		t.Run(tt.Name, func(t *testing.T) {
			lines := strings.Split(string(tt.Data), "\n")
			got, err := readCalls(call(lines[0]))
			noError(t, err)
			want, err := readCalls(call(lines[1]))
			noError(t, err)
			c := compareCalls(got, want)
			found := fmt.Sprint(strings.TrimSpace("less: "+paths(c.less)), "\n", strings.TrimSpace("wrong: "+paths(c.wrong)))
			if wanted := lines[2] + "\n" + lines[3]; found != wanted {
				t.Errorf("%s\nwant\n%s", found, wanted)
			}
			if more := compareCalls(append(got, got...), want); len(more.wrong) != len(c.wrong)+1 {
				t.Errorf("a call too many: %d differences, %d without it", len(more.wrong), len(c.wrong))
			}
		})
	}
}
