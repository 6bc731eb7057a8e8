package main

import (
	"bufio"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// parked is a running testdata/park.
type parked struct {
	t   *testing.T
	pid string
	in  io.WriteCloser
	out *bufio.Reader
}

func startPark(t *testing.T, path string, n int) *parked {
	cmd := exec.Command(path, strconv.Itoa(n))
	in, err := cmd.StdinPipe()
	noError(t, err)
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	p := &parked{t, strconv.Itoa(cmd.Process.Pid), in, bufio.NewReader(out)}
	p.read()
	if r := ftgo(t, "goroutines", "-p", p.pid); r.code == 4 {
		t.Skip(r.stderr)
	}
	return p
}

// read returns what the program writes before it is ready.
func (p *parked) read() string {
	var text strings.Builder
	for {
		line, err := p.out.ReadString('\n')
		if noError(p.t, err); line == "ready\n" {
			return text.String()
		}
		text.WriteString(line)
	}
}

var (
	arguments = regexp.MustCompile(`(?m)^([^\t\n].*)\([^()]*(\([^()]*\))?[^()]*\)$`)
	places    = regexp.MustCompile(`(?m) \+0x[0-9a-f]+$|, \d+ minutes`)
	heads     = regexp.MustCompile(`^goroutine (\d+) `)
)

// dumpOf reads a stack dump, without the values of arguments and offsets of instructions, by goroutine.
func dumpOf(text string) map[string]string {
	all := make(map[string]string)
	for one := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		one = places.ReplaceAllString(arguments.ReplaceAllString(strings.TrimSpace(one), "$1(...)"), "")
		if m := heads.FindStringSubmatch(one); m != nil {
			all[m[1]] = one
		}
	}
	return all
}

// TestGoroutinesLikeADump compares goroutines with the dumps that programs write of themselves.
func TestGoroutinesLikeADump(t *testing.T) {
	for _, version := range fixture.Releases() {
		minor, _ := strconv.Atoi(strings.SplitN(fixture.Release(version)+".0", ".", 3)[1])
		if minor < 17 {
			continue
		}
		for _, v := range fixture.Variants {
			stripped := strings.Contains(v.Name, "-s -w")
			if !stripped && (v.Cgo && !fixture.Long() || !fixture.All() && version != fixture.Current) {
				continue
			}
			t.Run(version+"/"+v.Name, func(t *testing.T) {
				n := 100
				if version == fixture.Current && stripped {
					n = 10_000
				}
				path, err := fixture.TryBuildWith(t, version, "park", v.Flags...)
				if err != nil && v.Cgo {
					t.Skip(err)
				}
				noError(t, err)
				p := startPark(t, path, n)
				got := ran(t, "goroutines", "-p", p.pid, "-o", "text")
				_, err = io.WriteString(p.in, "\n")
				noError(t, err)
				theirs, ours := dumpOf(p.read()), dumpOf(got.stdout)
				if _, there := ours["1"]; !there || len(ours) < n+16 {
					t.Errorf("%d goroutines: %s", len(ours), got.stderr)
				}
				delete(ours, "1") // it writes the dump meanwhile
				delete(theirs, "1")
				for id, want := range theirs {
					have := ours[id]
					if minor < 21 && strings.Contains(have, "frames elided") { // it shows the innermost 100
						want, have = want[:2000], have[:2000]
					}
					if delete(ours, id); have != want {
						t.Fatalf("%s\n\nwant\n\n%s", have, want)
					}
				}
				if len(ours) > 0 {
					t.Errorf("ftgo alone has %v", slices.Sorted(maps.Values(ours)))
				}
			})
		}
	}
}

// TestGoroutinesFormats checks what each format says of the same goroutines.
func TestGoroutinesFormats(t *testing.T) {
	p := startPark(t, fixture.Build(t, "park"), 70)
	args := []string{"goroutines", "-p", p.pid}
	var sum float64
	for _, line := range jsonLines(t, ran(t, append(args, "-o", "json")...).stdout, "goroutines") {
		sum += line["goroutines"].(float64)
	}
	folded := 0
	for line := range strings.Lines(ran(t, append(args, "-o", "folded")...).stdout) {
		n, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]))
		noError(t, err)
		folded += n
	}
	if sum < 86 || folded != int(sum) {
		t.Errorf("%v goroutines in JSON, %d in folded stacks", sum, folded)
	}
	if text := ran(t, append(args, "-o", "pprof")...).stdout; !strings.HasPrefix(text, "\x1f\x8b") {
		t.Errorf("profile %.20q", text)
	}
	if rows := strings.Count(ran(t, append(args, "-o", "csv")...).stdout, "\n"); rows < 20 {
		t.Errorf("%d rows", rows)
	}
	for text, more := range map[string][]string{
		"10 goroutines  +0  chan receive": {"--again", "50ms"},
		"main.(*held).take main.go":       nil, "chan receive, locked to thread": nil, "of Go's runtime not shown": {"--since", "1h"},
	} {
		if r := ran(t, append(args, more...)...); !strings.Contains(r.stdout+r.stderr, text) {
			t.Errorf("%q: no %q in\n%s%s", more, text, r.stdout, r.stderr)
		}
	}
	for _, c := range []struct {
		code int
		args []string
	}{{2, nil}, {2, []string{"-p", p.pid, "main.main"}}, {2, []string{"-p", p.pid, "-p", "1"}}, {1, []string{"-p", "4194304"}}} {
		if r := ftgo(t, append([]string{"goroutines"}, c.args...)...); r.code != c.code {
			t.Errorf("%q: status %d: %s", c.args, r.code, r.stderr)
		}
	}
}
