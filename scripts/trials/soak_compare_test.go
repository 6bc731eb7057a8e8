package trials

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// standard are the packages of the standard library whose tests are run by default, from those
// that call little to those that call much.
const standard = `errors unicode/utf8 unicode/utf16 path html mime container/heap container/list container/ring
encoding/hex encoding/base64 encoding/binary encoding/csv encoding/gob encoding/json encoding/xml
net/url path/filepath text/tabwriter text/scanner text/template html/template go/parser go/format go/token
hash/crc32 hash/fnv hash/maphash image image/color image/gif image/jpeg image/png index/suffixarray
io io/fs bufio bytes strings strconv fmt log log/slog expvar flag
compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib archive/tar archive/zip
context sync sync/atomic time os os/exec os/signal os/user maps slices sort iter reflect regexp regexp/syntax
crypto/aes crypto/cipher crypto/des crypto/ecdsa crypto/ed25519 crypto/elliptic crypto/hmac crypto/md5 crypto/rand
crypto/rc4 crypto/rsa crypto/sha1 crypto/sha256 crypto/sha512 crypto/tls crypto/x509
database/sql math math/big math/bits math/cmplx math/rand math/rand/v2 net/netip net/textproto net/mail net/rpc
net/http/httptest net/http net unique weak runtime/debug runtime/pprof runtime/trace runtime`

// program is a test binary.
type program struct{ dir, file string }

// testRun is the output of a run of a test.
type testRun struct {
	tests    map[string]string // PASS, FAIL or SKIP of the test and its subtests
	timedOut bool
	crash    string
}

// of returns how a test ended.
func (o testRun) of(test string) string { return cmp.Or(o.tests[test], "missing") }

// The lines of package testing: with -test.v=test2json each begins with ^V, in whichever column the test has ended
// its output.
var (
	ended    = regexp.MustCompile(`(?m)(?:^|\x16) *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)`)
	address  = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	panicked = regexp.MustCompile(`(?m)^panic: (.*)`)
	isTest   = regexp.MustCompile(`^(Test|Example|Fuzz)`)
)

func readTests(out string, exit error) testRun {
	o := testRun{tests: make(map[string]string), timedOut: strings.Contains(out, "panic: test timed out after ")}
	for _, m := range ended.FindAllStringSubmatch(out, -1) {
		// The names of some subtests contain an address, which is another one each time.
		name, sub, _ := strings.Cut(m[2], "/")
		if sub != "" {
			name += "/" + address.ReplaceAllString(sub, "0x...")
		}
		if o.tests[name] != "FAIL" {
			o.tests[name] = m[1]
		}
	}
	// Tests end with 0 or 1, and with 2 when their time is out.
	if exit != nil && !o.timedOut {
		var status *exec.ExitError
		if !errors.As(exit, &status) || status.ExitCode() != 1 {
			o.crash = exit.Error() + "\n" + out[max(0, len(out)-4000):]
		}
	}
	return o
}

func TestReadTests(t *testing.T) {
	const text = "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestB\nno newline\x16    --- FAIL: TestB/sub=1 (1.20s)\n" +
		"\x16--- FAIL: TestB (1.20s)\n\x16--- SKIP: TestC (0.00s)\nsays --- PASS: TestD (0.00s)\n" +
		"\x16--- FAIL: TestC/at(0x38094a4fe098) (0.00s)\n\x16--- PASS: TestC/at(0x38094a4fe0a0) (0.00s)\n"
	want := map[string]string{"TestA": "PASS", "TestB": "FAIL", "TestB/sub=1": "FAIL", "TestC": "SKIP", "TestC/at(0x...)": "FAIL"}
	if o := readTests(text, nil); !maps.Equal(o.tests, want) || o.timedOut || o.crash != "" {
		t.Errorf("%+v, want %v", o, want)
	}
	for command, crash := range map[string]bool{"exit 0": false, "exit 1": false, "exit 2": true, "kill -SEGV $$": true} {
		if o := readTests("", exec.Command("sh", "-c", command).Run()); (o.crash != "") != crash {
			t.Errorf("%s: crash %q", command, o.crash)
		}
	}
}

// packages runs the tests of each package in each mode.
func (s *soak) packages(packages []string) {
	if len(packages) == 0 {
		packages = strings.Fields(standard)
	}
	for _, name := range packages {
		for _, mode := range modes("probe,count") {
			s.each(result{Package: name, Mode: mode, Run: *runFlag}, (*soak).compare)
		}
	}
}

// build compiles the tests of a package of the standard library.
func (s *soak) build(name string) *program {
	p := &program{dir: filepath.Join(goroot(s), "src", name), file: filepath.Join(s.state, strings.ReplaceAll(name, "/", "-")+".test")}
	if _, err := os.Stat(p.file); err != nil || *again {
		build := command(s, 15*time.Minute, "go", "test", "-c", "-o", p.file, name)
		build.Dir = p.dir
		_, err := build.run()
		check(s, err)
	}
	return p
}

// run runs a test in a process of its own; slowly means that the process is stopped most of the time.
func (p *program) run(s *soak, slowly bool, timeout time.Duration, name string) testRun {
	// The timeout does not count what runs before the test, nor the time in which stacks are printed on a busy machine.
	const hung = 2 * time.Minute
	c := command(s, timeout+hung, p.file, "-test.v=test2json", "-test.short", "-test.parallel=1", "-test.timeout="+timeout.String(),
		"-test.run=^"+regexp.QuoteMeta(name)+"$")
	c.Dir, c.Stderr = p.dir, c.stdout
	c.WaitDelay = 10 * time.Second
	check(s, c.start())
	if slowly {
		go stopMostly(c.ctx, c.Process.Pid)
	}
	end, err := c.wait() // it ends the children of a test that has timed out, too
	check(s, interrupted.Err())
	o := readTests(end.stdout, err)
	// Some tests panic by themselves when nearly all of their time has passed.
	m := panicked.FindStringSubmatch(end.stdout)
	if m != nil && !strings.HasPrefix(m[1], "runtime error") && !end.expired && end.ended.Sub(end.launched) > timeout*9/10 {
		o.timedOut, o.crash = true, ""
	}
	return o
}

// stopMostly stops a process group most of the time, as if every function had become slower.
func stopMostly(ctx context.Context, group int) {
	for ctx.Err() == nil {
		_ = syscall.Kill(-group, syscall.SIGSTOP)
		time.Sleep(30 * time.Millisecond)
		_ = syscall.Kill(-group, syscall.SIGCONT)
		time.Sleep(2 * time.Millisecond)
	}
}

// compare runs each test of r's package without probes, and then, the quickest first, with probes as long as the
// budget lasts. It notes what differs.
func (s *soak) compare(r *result) {
	p := s.build(r.Package)
	type timed struct {
		name string
		took time.Duration
		testRun
	}
	list := command(s, childLimit, p.file, "-test.list="+cmp.Or(r.Run, "."))
	list.Dir = p.dir
	o, err := list.run()
	check(s, err)
	var tests []timed
	for _, name := range strings.Fields(o.stdout) {
		if !isTest.MatchString(name) {
			continue
		}
		begin := time.Now()
		without := p.run(s, false, *budget/20, name)
		if without.crash != "" {
			s.Fatalf("%s without probes: %s", name, without.crash)
		}
		tests = append(tests, timed{name, time.Since(begin), without})
		r.Without += time.Since(begin).Seconds()
	}
	slices.SortStableFunc(tests, func(a, b timed) int { return cmp.Compare(a.took, b.took) })

	x := s.probing(r.Mode, p.file)
	check(s, x.begin())
	check(s, x.ready())
	begin := time.Now()
	for _, t := range tests {
		r.Tests += len(t.tests)
		left := *budget - time.Since(begin)
		if t.timedOut || left < time.Second || r.Crash != "" {
			r.Uncompared = append(r.Uncompared, t.name)
			continue
		}
		with := p.run(s, false, min(left, max(5*time.Second, left/4)).Round(time.Second), t.name)
		switch {
		case with.crash != "":
			r.Crash = t.name + ": " + with.crash
		case with.timedOut:
			r.Uncompared = append(r.Uncompared, t.name)
		default:
			s.compareTest(r, p, t.name, t.testRun, with)
		}
	}
	r.Seconds = time.Since(begin).Seconds()
	_ = x.signal(syscall.SIGINT) // if it has ended by itself, end returns why
	if _, err := x.end(); err != nil {
		r.Crash = err.Error()
		return
	}
	r.add(x.summary)
	// A test that differs may do so because it is slow.
	for i := range r.Differ {
		if d := &r.Differ[i]; d.Again != d.Without {
			top, _, _ := strings.Cut(d.Test, "/")
			d.Slowed = p.run(s, true, 10*time.Minute, top).of(d.Test)
		}
	}
}

// compareTest notes whether a test ended with probes as it did without, and if not, how it ends in another run.
func (s *soak) compareTest(r *result, p *program, name string, without, with testRun) {
	if maps.Equal(with.tests, without.tests) {
		r.Same += len(without.tests)
		return
	}
	again := p.run(s, false, *budget, name)
	all := maps.Clone(with.tests)
	maps.Copy(all, without.tests)
	for _, test := range slices.Sorted(maps.Keys(all)) {
		if without.of(test) == with.of(test) {
			r.Same++
		} else {
			r.Differ = append(r.Differ, difference{Test: test, Without: without.of(test), With: with.of(test), Again: again.of(test)})
		}
	}
}
