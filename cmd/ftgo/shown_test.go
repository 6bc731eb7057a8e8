package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// shownCommands returns the commands that README, CONTRIBUTING, docs/*.md, the help text and the manual
// pages show, by where. TestKernelExamples runs those that are shown with their output, TestManyMachines
// scripts between fences.
func shownCommands(t *testing.T) map[string][]string {
	t.Helper()
	shown := make(map[string][]string)
	pages, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "*.md"))
	noError(t, err)
	dev, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "dev", "*.md"))
	noError(t, err)
	pages = append(pages, dev...)
	for _, page := range append(pages, filepath.Join(fixture.Root(), "README.md"), filepath.Join(fixture.Root(), "CONTRIBUTING.md")) {
		_, commands := blocksIn(readFile(t, page))
		shown[filepath.Base(page)] = commands
	}
	for name, page := range manPages(t) {
		for line := range strings.Lines(manSection(page, "EXAMPLES")) {
			if command, ok := strings.CutPrefix(strings.Replace(line, "# ", "$ ", 1), "$ "); ok {
				name := "the page of ftgo " + name
				shown[name] = append(shown[name], plainText(strings.TrimSpace(command)))
			}
		}
	}
	var text bytes.Buffer
	help(&text, allCommands())
	for line := range strings.Lines(text.String()) {
		command, _, explained := strings.Cut(strings.TrimSpace(line), "   ")
		if explained && strings.HasPrefix(command, "ftgo ") {
			shown["the help text"] = append(shown["the help text"], command)
		}
	}
	return shown
}

// dryFtgo is a shell script that runs ftgo up to where it would touch the kernel.
const dryFtgo = `#!/bin/sh
case "$* " in
*" --container "* | *" --cgroup "*) exec %[1]s "$@" -h ;; # TestKernelContainersPage has some
doctor\ * | top\ * | export\ * | cover\ * | "goroutines --since "* | "recipe go"*) exec %[1]s "$@" -h ;;
probe\ * | count\ * | trace\ * | watch\ * | demo\ *) command=$1; shift; exec %[1]s "$command" --dry-run "$@" ;;
"clean ") exec %[1]s clean -h ;;
*) exec %[1]s "$@" ;;
esac
`

// shownFiles are what commands are shown to read.
func shownFiles(t *testing.T) map[string]string {
	get := behaviour{"main.get", 1000, 76e3, 2}
	files := map[string]string{"rec": madeUp, "old.json": ranWith(t, 1, "web1", get), "new.json": ranWith(t, 2, "web1", get)}
	for i, host := range []string{"web1", "web2", "web3"} {
		files[host+".json"] = ranWith(t, uint64(i), host, get)
		files["old/"+host+".json"], files["new/"+host+".json"] = files[host+".json"], files[host+".json"]
	}
	return files
}

// TestShownCommands: what is shown is understood, and selects something. It leaves the
// kernel alone: it works for everybody.
func TestShownCommands(t *testing.T) {
	fixture.NeedLong(t)
	dir := t.TempDir()
	for name, from := range map[string]string{"server": "shown", "tool": "shown", "lookup": "lookup"} {
		noError(t, os.Symlink(fixture.Build(t, from), filepath.Join(dir, name)))
	}
	read := shownFiles(t)
	noError(t, os.WriteFile(filepath.Join(dir, "ftgo"), fmt.Appendf(nil, dryFtgo, built(t)), 0o755))
	noError(t, os.WriteFile(filepath.Join(dir, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	running := exec.Command(filepath.Join(dir, "server"))
	stdin, err := running.StdinPipe()
	noError(t, err)
	noError(t, running.Start())
	t.Cleanup(func() {
		stdin.Close()
		running.Wait()
	})
	for where, commands := range shownCommands(t) {
		for _, command := range commands {
			name, rest, _ := strings.Cut(strings.TrimPrefix(command, "sudo "), " ")
			if name != "ftgo" {
				continue
			}
			t.Run(command, func(t *testing.T) {
				if strings.Contains(command, " libc ") {
					fixture.NeedCompiler(t, "gcc") // else it is linked without
				}
				for name, text := range read { // anew, since commands write some
					fixture.Write(t, filepath.Join(dir, name), text)
				}
				running := fmt.Sprintf("-p %d ", running.Process.Pid)
				command := strings.NewReplacer("-p 1234 ", running, "-p shop ", running).Replace(command + " ")
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
				if r := outcome(cmd); r.code != 0 || r.stdout == "" && !strings.ContainsAny(rest, ">w") {
					t.Errorf("%s shows it: status %d\n%s%s", where, r.code, r.stdout, r.stderr)
				}
			})
		}
	}
}

// TestShownOtherCommands: what else is shown in README and docs/*.md begins with a file or
// a program that is there, or that tests have a stand-in for.
func TestShownOtherCommands(t *testing.T) {
	known := standIns(t)
	for where, commands := range shownCommands(t) {
		folder := fixture.Root()
		for _, command := range commands {
			words := strings.Fields(strings.TrimPrefix(command, "sudo "))
			for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "export") { // the environment
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
			switch name := strings.TrimSuffix(words[0], ","); {
			case name == "ftgo" || name == "source" || known[name] != "":
			case name == "cd":
				folder = filepath.Join(folder, words[1])
			case strings.Contains(name, "/"):
				if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
					t.Errorf("%s shows %q: %v", where, command, err)
				}
			default:
				if _, err := exec.LookPath(name); err != nil {
					t.Errorf("%s shows %q: %v", where, command, err)
				}
			}
		}
	}
}

// TestShownFlags: flags that pages name are flags of some command.
func TestShownFlags(t *testing.T) {
	known := map[string]bool{}
	for _, c := range allCommands() {
		if flags := c.Flags(); flags != nil {
			flags.VisitAll(func(f *cli.Flag) { known[f.Name] = true })
		}
	}
	pages := proseOf(t)
	flag := regexp.MustCompile("`(?:ftgo [a-z]+ |[a-z]+ )?--([a-z][a-z-]*)")
	seen := 0
	for page, text := range pages {
		if filepath.Base(page) == "compared.md" {
			continue // which has other tools' flags, too
		}
		others := standIns(t)["docker"]
		if filepath.Base(page) != "containers.md" {
			others = ""
		}
		for _, m := range flag.FindAllStringSubmatch(text, -1) {
			if seen++; !known[m[1]] && !strings.Contains(others, "--"+m[1]) {
				t.Errorf("%s names --%s, which no command has", page, m[1])
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d flags are named", seen)
	}
}

// proseOf returns the texts of README, CONTRIBUTING and all pages of docs by path.
func proseOf(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	for _, glob := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(fixture.Root(), glob))
		noError(t, err)
		for _, file := range files {
			pages[file] = readFile(t, file)
		}
	}
	return pages
}

// TestShownLinks: links within the project lead somewhere, and to each page of docs leads
// one.
func TestShownLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	pages := proseOf(t)
	linked := make(map[string]bool)
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(page), m[1])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			linked[to], linked[filepath.Dir(to)] = true, true
		}
	}
	for page := range pages {
		if !linked[page] && !linked[filepath.Dir(page)] {
			t.Errorf("no page leads to %s", page)
		}
	}
}
