package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// manPages are the pages of docs/man by the name of their command; "" is that of ftgo.
func manPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "man", "*.1"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	pages := make(map[string]string)
	for _, file := range files {
		b, err := os.ReadFile(file)
		noError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".1")
		pages[strings.TrimPrefix(strings.TrimPrefix(name, "ftgo"), "-")] = string(b)
	}
	return pages
}

// manSection is the text of a section, "" if there is none.
func manSection(page, name string) string {
	_, text, _ := strings.Cut(page, "\n.Sh "+name+"\n")
	text, _, _ = strings.Cut(text, "\n.Sh ")
	return text
}

// TestManPages: there is a page for each command and for nothing else, with all that
// belongs into one.
func TestManPages(t *testing.T) {
	pages := manPages(t)
	want := map[string]bool{"": true}
	for _, c := range allCommands() {
		if c.Name != "help" && c.Name != "version" {
			want[c.Name] = true
		}
	}
	for name := range want {
		page := pages[name]
		if page == "" {
			t.Errorf("ftgo %s has no page in docs/man", name)
			continue
		}
		sections := []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO", "CAVEATS"}
		if flags := flagsOf(name); flags != nil {
			sections = append(sections, "OPTIONS", "FIELDS", "OVERHEAD")
		}
		for _, s := range sections {
			if manSection(page, s) == "" {
				t.Errorf("the page of ftgo %s has no section %s", name, s)
			}
		}
	}
	for name := range pages {
		if !want[name] {
			t.Errorf("docs/man has a page for ftgo %s", name)
		}
	}
	for _, c := range allCommands() {
		if !strings.Contains(pages[""], "\n.It Cm "+c.Name+"\n") {
			t.Errorf("ftgo.1 has no entry for %s", c.Name)
		}
	}
}

// manText escapes what troff(1) takes for its own, or for typography.
func manText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// plainText is what manText was made of.
func plainText(text string) string {
	return strings.NewReplacer(`\e`, `\`, `\-`, `-`, `\(aq`, `'`, `\&`, ``).Replace(text)
}

// TestManExitStatus: ftgo.1 has all statuses of the code, the pages of commands those
// that their flags can lead to.
func TestManExitStatus(t *testing.T) {
	const lists = `(?m)^\.It (\d)$`
	file, err := parser.ParseFile(token.NewFileSet(), "internal/cli/exit.go", nil, 0)
	noError(t, err)
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Exit") {
			all = append(all, spec.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	for name, page := range manPages(t) {
		var got []string
		for _, m := range regexp.MustCompile(lists).FindAllStringSubmatch(manSection(page, "EXIT STATUS"), -1) {
			got = append(got, m[1])
		}
		want := slices.Clone(all)
		flags := flagsOf(name)
		without := func(status int, flag string) {
			if name != "" && (flags == nil || flags.Lookup(flag) == nil) {
				want = slices.DeleteFunc(want, func(s string) bool { return s == strconv.Itoa(status) })
			}
		}
		without(cli.ExitLost, "max-lost")
		if name != "diff" && name != "cover" { // --fail, --fail-under
			without(cli.ExitFailIf, "fail-if")
		}
		without(cli.ExitNothing, "exclude")
		if name == "watch" { // VAR may match nothing, too
			want = slices.Insert(want, cli.ExitNothing, strconv.Itoa(cli.ExitNothing))
		}
		if slices.Contains([]string{"list", "completion", "script", "report", "diff"}, name) { // leave the kernel alone
			want = slices.DeleteFunc(want, func(s string) bool { return s == strconv.Itoa(cli.ExitKernel) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("the page of ftgo %s has the exit statuses %v, not %v", name, got, want)
		}
	}
}

// TestManFields: the columns of tables are in FIELDS of a page.
func TestManFields(t *testing.T) {
	column := regexp.MustCompile(`^"[A-Z][A-Z0-9]+(/s|%)?"$`)
	files, err := filepath.Glob("internal/render/*.go")
	noError(t, err)
	columns := make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		noError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && column.MatchString(lit.Value) {
				columns[strings.Trim(lit.Value, `"`)] = true
			}
			return true
		})
	}
	if !columns["RATE/s"] || !columns["RETURNS"] {
		t.Fatalf("columns are %v", columns)
	}
	var fields strings.Builder
	for _, page := range manPages(t) {
		fields.WriteString(manSection(page, "FIELDS"))
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if !strings.Contains(fields.String(), "\n.It "+name+"\n") && !strings.Contains(fields.String(), "\n.It "+name+" ") && !strings.Contains(fields.String(), " , "+name) {
			t.Errorf("no page has the column %s among its FIELDS", name)
		}
	}
}

// TestManLint: mandoc(1) has nothing to complain about.
func TestManLint(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		if os.Getenv("FTGO_TEST_KERNEL") == "require" {
			t.Fatalf("the pages are not checked: %v", err)
		}
		t.Skip(err)
	}
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "man", "*.1"))
	noError(t, err)
	out, err := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, files...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}

// TestManEnvironment: ftgo.1 has the environment variables that the code asks for.
func TestManEnvironment(t *testing.T) {
	environment := manSection(manPages(t)[""], "ENVIRONMENT")
	getenv := regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("([A-Z_]+)"\)`)
	files, _ := filepath.Glob("*.go")
	below, _ := filepath.Glob("../../internal/*/*.go")
	seen := 0
	for _, name := range append(files, below...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		noError(t, err)
		for _, m := range getenv.FindAllSubmatch(b, -1) {
			if seen++; !strings.Contains(environment, "Ev "+string(m[1])) {
				t.Errorf("ftgo.1 does not have $%s, which %s asks for", m[1], name)
			}
		}
	}
	if seen == 0 {
		t.Error("the code asks for no variable")
	}
}
