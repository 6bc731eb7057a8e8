package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
)

func TestMain(m *testing.M) {
	fixture.Main(m)
}

// result is what a run of the command has left.
type result struct {
	code           int
	stdout, stderr string
}

// written takes what ftgo writes, and beside it the goroutine that copies what PROGRAM writes.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// patience is for a command that does not end. Some take more than a minute where the
// kernel is emulated, on CPUs that others want, too.
const patience = 5 * time.Minute

// ftgo runs the command in this process.
func ftgo(t *testing.T, args ...string) result {
	t.Helper()
	var out, err written
	// Probing goes on until it is told to end.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	code := execute(ctx, args, &out, &err)
	if ctx.Err() != nil {
		t.Errorf("ftgo %q did not end", args)
	}
	r := result{code, out.String(), err.String()}
	if schema.IsLines(r.stdout) {
		described(t, r.stdout)
	}
	return r
}

// ran is what a run of the command has left that ends well.
func ran(t *testing.T, args ...string) result {
	t.Helper()
	r := ftgo(t, args...)
	r.succeeded(t)
	return r
}

// outcome is what a command has left that runs as a process of its own.
func outcome(cmd *exec.Cmd) result {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func (r result) succeeded(t *testing.T) {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
}

// noError fails the test by an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	noError(t, err)
	return string(b)
}

// decoded are the objects of JSON lines.
func decoded[T any](t testing.TB, text string) (objects []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		var o T
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("output line %q: %v", line, err)
		}
		objects = append(objects, o)
	}
	return objects
}

// jsonLines are the objects of a type in JSON output.
func jsonLines(t *testing.T, text, kind string) (lines []map[string]any) {
	t.Helper()
	for _, o := range decoded[map[string]any](t, text) {
		if o["type"] == kind {
			lines = append(lines, o)
		}
	}
	return lines
}

// described: docs/schema knows every key of what -o json has written.
func described(t *testing.T, text string) {
	t.Helper()
	if err := schema.Check(text); err != nil {
		t.Error(err)
	}
}

// books is what a target says of its own calls.
type books struct {
	Functions map[string]bookedFunction `json:"functions"`
	Durations map[string]struct {
		Min, P50 int64
		Outer    struct{ P50 int64 }
	} `json:"durations"`
	Checksum json.Number `json:"checksum"`
}

type bookedFunction struct{ Calls, Completed, Unwound, Open uint64 }

func readBooks(t *testing.T, text string) books {
	t.Helper()
	var b books
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatalf("the target's books: %v\n%s", err, text)
	}
	return b
}

// observed is the JSON output of probe and count.
type observed struct {
	functions map[string]functionLine
	summary   summaryLine
}

type functionLine struct {
	Type, Function            string
	Calls, Completed, Unwound uint64
	Open, Lost, Unsure        uint64
	CountedOnly               uint64 `json:"counted_only"`
	Seen                      *uint64
	CallsLow                  uint64   `json:"calls_low"`
	CallsHigh                 *float64 `json:"calls_high"`
	NS                        struct{ Min, P50, Max int64 }
	Histogram                 []struct{ From, To, Count int64 }
	Hits, Delivered, Unparsed uint64
	Before, After, Counted    uint64
	Pass                      int64 `json:"pass_ns"`
	Seconds                   float64
	Probes, Functions         int
	Skipped                   []struct{ Function, Reason string }
}

// seen is how many calls were seen, and sampled tells whether that was not all the time.
func (f *functionLine) seen() (calls uint64, sampled bool) {
	if f.Seen == nil {
		return f.Calls, false
	}
	return *f.Seen, true
}

type summaryLine = functionLine

func readObserved(t *testing.T, text string) observed {
	t.Helper()
	described(t, text)
	o := observed{functions: make(map[string]functionLine)}
	// A summary's "functions" is a number and has another meaning, but no key
	// of the two disagrees in type.
	for _, f := range decoded[functionLine](t, text) {
		if f.Type == "summary" {
			o.summary = f
		} else {
			o.functions[f.Function] = f
		}
	}
	if o.summary.Type != "summary" {
		t.Fatalf("no summary in\n%s", text)
	}
	return o
}

// observeTarget runs a command on a target, which it starts, and returns both views of
// what happened. Targets count calls of wrappers, too.
func observeTarget(t *testing.T, e func(*cli.Env), command, target string, patterns []string, program ...string) (observed, books, result) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	args := append([]string{command, "--wrappers", "-o", "json", "-w", data, target}, patterns...)
	args = append(append(args, "--", target), program...)
	var out, errs written
	en := newEnv(&out, &errs)
	if e != nil {
		e(en)
	}
	r := result{code: runCommand(t.Context(), en, args)}
	r.stdout, r.stderr = out.String(), errs.String()
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatalf("ftgo %s: status %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return readObserved(t, string(b)), readBooks(t, r.stdout), r
}

// same compares an observation with the target's books.
func same(t *testing.T, o observed, b books) {
	t.Helper()
	for name, want := range b.Functions {
		f := o.functions[name]
		if got := (bookedFunction{f.Calls, f.Completed, f.Unwound, f.Open}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	s := o.summary
	if s.Delivered+s.Lost != s.Hits {
		t.Errorf("delivered %d + lost %d is not hits %d", s.Delivered, s.Lost, s.Hits)
	}
	if s.Unparsed != 0 {
		t.Errorf("%d lines not understood", s.Unparsed)
	}
	if t.Failed() {
		t.Logf("summary: %+v", s)
	}
}

// sameCalls compares the calls of functions that were counted with the target's books.
func sameCalls(t *testing.T, o observed, b books) {
	t.Helper()
	for name, want := range b.Functions {
		if got := o.functions[name].Calls; got != want.Calls {
			t.Errorf("%s: %d calls, want %d", name, got, want.Calls)
		}
	}
}

// of are the books of so many functions, those that were observed.
func (b books) of(t *testing.T, o observed, n int) books {
	t.Helper()
	maps.DeleteFunc(b.Functions, func(name string, _ bookedFunction) bool { _, asked := o.functions[name]; return !asked })
	if len(b.Functions) != n {
		t.Errorf("%d functions, want %d", len(b.Functions), n)
	}
	return b
}

// built is the command as an executable of its own, for tests with signals.
func built(t *testing.T) string {
	t.Helper()
	return fixture.Command(t, "cmd/ftgo")
}

// execute is the whole command, but for what changes the process: it does what args say and returns the exit status.
// stdout gets data only, stderr everything else. It ends early when ctx is done, with
// the probes removed.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runCommand(ctx, newEnv(stdout, stderr), args)
}

// allCommands are those of nobody in particular.
func allCommands() []*cli.Command { return commands(newEnv(io.Discard, io.Discard)) }

// flagsOf are the flags of a command; nil if it has none.
func flagsOf(name string) *cli.Flags {
	c := cli.Find(allCommands(), name)
	if c == nil {
		return nil
	}
	return c.Flags()
}

// files writes texts into files, and returns their names.
func files(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		names = append(names, filepath.Join(dir, string(rune('a'+i))))
		fixture.Write(t, names[i], text)
	}
	return names
}
