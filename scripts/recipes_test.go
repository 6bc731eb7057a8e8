package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

func TestMain(m *testing.M) { fixture.Main(m) }

func recipe(name string) string { return filepath.Join(fixture.Root(), "scripts", "recipes", name) }

func recipes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(recipe("go*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

// TestShellcheck has shellcheck read all scripts.
func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip(err)
	}
	scripts := []string{filepath.Join(fixture.Root(), ".ci", "run"), recipe("recipe.sh")}
	for _, pattern := range []string{"*", "recipes/*"} {
		files, err := filepath.Glob(filepath.Join(fixture.Root(), "scripts", pattern))
		fixture.NoError(t, err)
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && bytes.HasPrefix(b, []byte("#!")) {
				scripts = append(scripts, f)
			}
		}
	}
	if len(scripts) < 15 {
		t.Errorf("only %q", scripts)
	}
	args := append([]string{"--external-sources", "--source-path=SCRIPTDIR", "--exclude=SC1091"}, scripts...)
	if out, err := exec.Command("shellcheck", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRecipesHelp asks each recipe, in each shell, what it does; none wants ftgo for that.
func TestRecipesHelp(t *testing.T) {
	for _, shell := range [][]string{{"sh"}, {"dash"}, {"bash"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			continue
		}
		for _, name := range recipes(t) {
			cmd := func(args ...string) *exec.Cmd {
				c := exec.Command(shell[0], append(append(slices.Clone(shell[1:]), recipe(name)), args...)...)
				c.Env = append(os.Environ(), "FTGO=/nowhere/ftgo")
				return c
			}
			out, err := cmd("-p", "1", "-h").Output()
			if text := string(out); err != nil || !strings.HasPrefix(text, "usage: "+name+" ") ||
				!strings.Contains(text, "\n    ") || !strings.HasSuffix(text, "Needs root.\n") {
				t.Errorf("%s %s -h: %v\n%s", shell, name, err, out)
			}
			for _, args := range [][]string{nil, {"-d"}, {"-q"}} {
				out, err := cmd(args...).CombinedOutput()
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
					t.Errorf("%s %s %q: %v\n%s", shell, name, args, err, out)
				}
			}
			if out, err := cmd("/bin/true", "x").CombinedOutput(); err == nil || !bytes.Contains(out, []byte(name+": no /nowhere/ftgo in $PATH")) {
				t.Errorf("%s %s without ftgo: %v\n%s", shell, name, err, out)
			}
		}
	}
}

// TestRecipesTypes: types in recipes have the whole paths of their packages, because a program may have other
// packages of the same name.
func TestRecipesTypes(t *testing.T) {
	asserted := regexp.MustCompile(`\.\(\*([a-z]+)\.\w+\)[.$']`)
	for _, name := range recipes(t) {
		text, err := os.ReadFile(recipe(name))
		fixture.NoError(t, err)
		for _, m := range asserted.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "sync" { // whose path has no more
				t.Errorf("%s has %s", name, m[0])
			}
		}
	}
}

// TestRecipesOptionalValues: a value that may be left out is not taken for BINARY, which
// is PROGRAM then.
func TestRecipesOptionalValues(t *testing.T) {
	for args, want := range map[string]string{
		"-s 3 -- /bin/true": "-s 3 /bin/true",
		"-s /bin/true":      "-s /bin/true",
	} {
		c := exec.Command(recipe("gomutex"), strings.Fields(args)...)
		c.Env = append(os.Environ(), "FTGO=echo")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), " "+want+" *sync") {
			t.Errorf("gomutex %s: %v, ftgo gets %s", args, err, out)
		}
	}
}

// cooked is what a recipe has shown of a run of testdata/chores, and what that logged.
type cooked struct{ shown, logged string }

// cook runs a recipe on testdata/chores.
func cook(t *testing.T, name, chore string, flags ...string) cooked {
	t.Helper()
	return cookOf(t, fixture.Build(t, "chores"), name, chore, flags...)
}

func cookOf(t *testing.T, target, name, chore string, flags ...string) cooked {
	t.Helper()
	data, log := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "log")
	args := append([]string{"-q", "-w", data}, flags...)
	cmd := exec.Command(recipe(name), append(args, "--", target, "-log", log, chore)...)
	cmd.Env = append(os.Environ(), "FTGO="+fixture.Command(t, "cmd/ftgo"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	read := func(file string) string {
		b, err := os.ReadFile(file)
		fixture.NoError(t, err)
		return string(b)
	}
	return cooked{read(data), read(log)}
}

// fields are the lines of a text without what differs, with one blank between fields.
func fields(text string, without ...string) (lines []string) {
	for line := range strings.Lines(text) {
		for _, w := range without {
			line = regexp.MustCompile(w).ReplaceAllString(line, "")
		}
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}

// different is how two texts differ.
func different(got, want []string) (wrong []string) {
	if !slices.Equal(got, want) || len(want) == 0 {
		wrong = append(wrong, fmt.Sprintf("shown\n%s\nlogged\n%s", strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
	return wrong
}

const took = `^ *\S+s ` // a duration

// TestKernelRecipesOfLines compares the lines of recipes, but for latencies and the causes
// that errors wrap, with those of the target's log.
func TestKernelRecipesOfLines(t *testing.T) {
	tracetest.Kernel(t)
	for _, test := range []struct {
		recipe, chore string
		build, flags  []string
		ignore        string // lines of the log
		without       []string
	}{
		{recipe: "gotlskeylog", chore: "tls"},
		{recipe: "gotcpdial", chore: "dials", without: []string{took}},
		{recipe: "gotcpdial", chore: "dials", flags: []string{"--errors"}, ignore: "nil", without: []string{took}},
		{recipe: "gohttpclient", chore: "http", ignore: "^served", without: []string{took, "^asked", ` (nil|\*net\.\S+|\*errors\.\S+|http\.http2.*|http2\.\S+)\n`}},
		{recipe: "gohttpd", chore: "http", ignore: "^asked", without: []string{took, "^served", "^ +- "}},
		{recipe: "gohttpd", chore: "http", build: []string{"-ldflags=-s -w"}, ignore: "^asked", without: []string{took, "^served", "^ +- "}},
		{recipe: "gohttpd", chore: "http", flags: []string{"-m", "20"}, ignore: "^asked|/(users|nowhere|silent)", without: []string{took, "^served", "^ +- "}},
		{recipe: "gosql", chore: "sql", without: []string{took}},
		{recipe: "gosql", chore: "sql", flags: []string{"--min=20ms"}, ignore: "users|[1e]$|nothing", without: []string{took}},
		{recipe: "gopanics", chore: "panics", flags: []string{"-l"}, without: []string{"^ .*", `\(.*`}},
	} {
		compare := func(t *testing.T, target string) {
			tries := 1
			if strings.Contains(strings.Join(test.flags, " "), "20") { // milliseconds, which the fast ones may take once
				tries = 3
			}
			tracetest.RightOnce(t, tries, t.Errorf, func() (wrong []string) {
				c := cookOf(t, target, test.recipe, test.chore, test.flags...)
				if test.ignore != "" {
					c.logged = regexp.MustCompile(`(?m)^.*(`+test.ignore+`).*\n`).ReplaceAllString(c.logged, "")
				}
				shown, logged := fields(c.shown, test.without...), fields(c.logged, test.without...)
				// Goroutines of the program may overtake one another.
				return different(slices.Sorted(slices.Values(shown)), slices.Sorted(slices.Values(logged)))
			})
		}
		t.Run(fmt.Sprint(test.recipe, test.build, test.flags), func(t *testing.T) {
			if test.build != nil || test.flags != nil {
				fixture.NeedLong(t)
			}
			compare(t, fixture.Build(t, "chores", test.build...))
			if fixture.Long() {
				compare(t, fixture.BuildWith(t, fixture.Current, "chores", test.build...))
			}
		})
	}
}

// byCaller adds up what a recipe shows by stacks: the numbers before stacks with a function of
// package main, by the innermost of these.
func byCaller(t *testing.T, text string) map[string][]int {
	t.Helper()
	sums := make(map[string][]int)
	var numbers []int
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "            ") || strings.HasPrefix(line, "              ") {
			numbers = nil
			for _, w := range words {
				n, err := strconv.Atoi(w)
				if err != nil {
					break
				}
				numbers = append(numbers, n)
			}
		} else if strings.HasPrefix(words[0], "main.") && numbers != nil {
			if sums[words[0]] == nil {
				sums[words[0]] = make([]int, len(numbers))
			}
			for i, n := range numbers {
				sums[words[0]][i] += n
			}
			numbers = nil
		}
	}
	return sums
}

// TestKernelRecipesOfStacks compares what recipes add up by caller with the target's log.
func TestKernelRecipesOfStacks(t *testing.T) {
	tracetest.Kernel(t)
	t.Run("gopanics", func(t *testing.T) {
		c := cook(t, "gopanics", "panics")
		got := make(map[string]int)
		for _, m := range regexp.MustCompile(`(?m)^ +(\d+)  ([*a-zA-Z.]+)\(`).FindAllStringSubmatch(c.shown, -1) {
			n, _ := strconv.Atoi(m[1])
			got[m[2]] += n
		}
		want := make(map[string]int)
		for _, typ := range fields(c.logged) {
			want[typ]++
		}
		if !maps.Equal(got, want) || len(want) != 5 {
			t.Errorf("shown %v, logged %v\n%s", got, want, c.shown)
		}
		if n := strings.Count(c.shown, "main.fail "); n != 4 { // different values; one panic is not by main.fail
			t.Errorf("%d stacks with main.fail\n%s", n, c.shown)
		}
	})
	t.Run("goshortreads", func(t *testing.T) {
		c := cook(t, "goshortreads", "reads", "--stack=4")
		want := make([]int, 3)
		for _, line := range fields(c.logged) {
			var n, size int
			if _, err := fmt.Sscan(line, &n, &size); err != nil {
				t.Fatal(err)
			}
			if n < size {
				want[0], want[1], want[2] = want[0]+1, want[1]+n, want[2]+size
			}
		}
		if got := byCaller(t, c.shown)["main.read"]; !slices.Equal(got, want) {
			t.Errorf("shown %v, logged %v\n%s", got, want, c.shown)
		}
	})
	t.Run("gorandom", func(t *testing.T) {
		c := cook(t, "gorandom", "random")
		want := make(map[string][]int)
		for _, line := range fields(c.logged) {
			caller, size, _ := strings.Cut(line, " ")
			n, err := strconv.Atoi(size)
			fixture.NoError(t, err)
			caller = map[string]string{"rand.Read": "main.token", "rand.Reader": "main.fromReader"}[caller]
			if want[caller] == nil {
				want[caller] = make([]int, 2)
			}
			want[caller][0]++
			want[caller][1] += n
		}
		if got := byCaller(t, c.shown); !maps.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("shown %v, logged %v\n%s", got, want, c.shown)
		}
	})
}

// TestKernelRecipesOfTables compares ftgo's own tables and histograms with the target's log.
func TestKernelRecipesOfTables(t *testing.T) {
	tracetest.Kernel(t)
	t.Run("gogoroutines", func(t *testing.T) {
		c := cook(t, "gogoroutines", "goroutines")
		for _, line := range fields(c.logged) {
			caller, n, _ := strings.Cut(line, " ")
			if !regexp.MustCompile(`(?m)^ +` + n + ` calls .*\n +` + regexp.QuoteMeta(caller) + ` `).MatchString(c.shown) {
				t.Errorf("%s is not shown\n%s", line, c.shown)
			}
		}
	})
	t.Run("gomutex", func(t *testing.T) {
		c := cook(t, "gomutex", "mutex", "-o", "json")
		var n, held int
		var caller string
		if _, err := fmt.Sscan(c.logged, &caller, &n, &held); err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`"calls":(\d+),"completed":(\d+),.*"ns":\{"min":(\d+),`).FindStringSubmatch(c.shown)
		if m == nil || m[1] != strconv.Itoa(n) || m[2] != m[1] || !strings.Contains(c.shown, caller) {
			t.Fatalf("logged %s\n%s", c.logged, c.shown)
		}
		// All waited for as long as the lock was held when they did, and longer.
		if least, _ := strconv.Atoi(m[3]); least < held {
			t.Errorf("a wait of %d ns, the lock was held for %d", least, held)
		}
	})
	t.Run("gogc", func(t *testing.T) {
		c := cook(t, "gogc", "gc", "-a")
		var got, want []string
		var sweep, pauses int
		for _, line := range fields(c.shown)[1:] {
			var pause, stopping int
			var reason string
			if _, err := fmt.Sscan(line, &pause, &stopping, &reason); err != nil || stopping > pause {
				t.Fatalf("%s: %v", line, err)
			}
			switch {
			case strings.HasSuffix(line, "GC sweep termination"):
				sweep, pauses = pause, pauses+1
			case strings.HasSuffix(line, "GC mark termination"):
				got, pauses = append(got, strconv.Itoa(sweep+pause)), pauses+1
			}
		}
		for _, line := range fields(c.logged) {
			if n, ok := strings.CutPrefix(line, "paused "); ok {
				want = append(want, n)
			} else if line != fmt.Sprint("pauses ", pauses) {
				t.Errorf("%d pauses are shown, logged are %s", pauses, line)
			}
		}
		for _, wrong := range different(got, want) {
			t.Error(wrong)
		}
		if n := strings.Count(c.shown, " read mem stats\n"); n != 1 {
			t.Errorf("%d stops for runtime.ReadMemStats\n%s", n, c.shown)
		}
	})
	t.Run("gorecipe", func(t *testing.T) {
		if c := cook(t, "gorecipe", "gc"); len(fields(c.shown, took)) != strings.Count(c.logged, "paused") {
			t.Errorf("not one line a collection\n%s", c.shown)
		}
	})
	target := fixture.Build(t, "chores")
	for recipe, want := range map[string]string{
		"gofunccount":   `(?m)^main\.read +7 `,
		"gofunclatency": `(?ms)^main\.read +7 .*Function = main\.read\n.*distribution`,
	} {
		t.Run(recipe, func(t *testing.T) {
			c := cook(t, recipe, "reads", "-T", target, "main.read")
			if !regexp.MustCompile(want).MatchString(c.shown) {
				t.Errorf("shows\n%s\nlogged\n%s", c.shown, c.logged)
			}
		})
	}
	t.Run("gofuncslower", func(t *testing.T) {
		tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) { // the fast ones may take 20 ms once
			c := cook(t, "gofuncslower", "sql", "-m", "20", "-t", "-U", target, "main.answer")
			if !regexp.MustCompile(`^\d\d:\d\d:\d\d\S* .*main\.answer\(query="SELECT name FROM slow"\) = nil\n +main\.conn\.QueryContext `).MatchString(c.shown) ||
				strings.Count(c.shown, "main.answer(") != 1 {
				return []string{"shows\n" + c.shown}
			}
			return nil
		})
	})
}
