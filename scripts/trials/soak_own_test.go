package trials

import (
	"errors"
	"maps"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

func TestReadTests(t *testing.T) {
	const text = "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestB\nno newline\x16    --- FAIL: TestB/sub=1 (1.20s)\n" +
		"\x16--- FAIL: TestB (1.20s)\n\x16--- SKIP: TestC (0.00s)\nsays --- PASS: TestD (0.00s)\n" +
		"\x16--- FAIL: TestC/at(0x38094a4fe098) (0.00s)\n\x16--- PASS: TestC/at(0x38094a4fe0a0) (0.00s)\n\x16--- SKIP: TestLarge0x120000 (0.00s)\n"
	want := map[string]string{"TestA": "PASS", "TestB": "FAIL", "TestB/sub=1": "FAIL", "TestC": "SKIP", "TestC/at(0x...)": "FAIL", "TestLarge0x120000": "SKIP"}
	o := readTests(text, nil)
	if !maps.Equal(o.tests, want) || o.timedOut || o.crash != "" {
		t.Errorf("%+v, want %v", o, want)
	}
	if o.took["TestB"] != 1200*time.Millisecond {
		t.Errorf("TestB took %v", o.took["TestB"])
	}
	if b := o.part("TestB"); !maps.Equal(b.tests, map[string]string{"TestB": "FAIL", "TestB/sub=1": "FAIL"}) {
		t.Errorf("part: %v", b.tests)
	}
	const late = "\x16=== RUN   TestE\n\x16=== PAUSE TestE\n\x16=== RUN   TestF\n\x16=== PAUSE TestF\n\x16=== CONT  TestF\npanic: test timed out after 3m0s\n\trunning tests:\n\t\tTestE (2m1s)\n\ngoroutine 1 [running]:\n"
	o = readTests(late, errors.New("exit status 2"))
	if !o.timedOut || o.crash != "" || !maps.Equal(o.begun, map[string]bool{"TestE": false, "TestF": true}) {
		t.Errorf("%+v", o)
	}
	for text, want := range map[string]bool{
		"panic: finalizer did not start\n":     true,
		"panic: runtime error: invalid memory": false,
		"fatal error: unexpected signal\n":     false,
	} {
		if o := readTests("\x16=== RUN   TestG\n"+text, errors.New("exit status 2")); o.panicked != want || o.crash == "" {
			t.Errorf("%q: panicked %v, crash %q", text, o.panicked, o.crash)
		}
	}
	for _, command := range []string{"exit 2", "kill -SEGV $$", "exit 139"} {
		if o := readTests("said", exec.Command("sh", "-c", command).Run()); o.crash == "" {
			t.Errorf("%s is no crash", command)
		}
	}
	if o := readTests("", exec.Command("sh", "-c", "exit 1").Run()); o.crash != "" {
		t.Errorf("failing tests are a crash: %s", o.crash)
	}
}

func TestExactly(t *testing.T) {
	for _, c := range []struct {
		names []string
		test  string
		want  bool
	}{
		{[]string{"TestA"}, "TestA", true},
		{[]string{"TestA"}, "TestAB", false},
		{[]string{"TestA"}, "ATestA", false},
		{[]string{"TestA", "TestÄ"}, "TestÄ", true},
		{nil, "TestA", false},
	} {
		if got := regexp.MustCompile(exactly(c.names...)).MatchString(c.test); got != c.want {
			t.Errorf("%q matches %s: %v", c.names, c.test, got)
		}
	}
}

func TestBatch(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		tests             int
		slow, start, left time.Duration
		n                 int
		share             time.Duration
	}{
		{100, 0, second / 10, 60 * second, 1, 5 * second},
		{100, 0, 2 * second, 60 * second, 6, 7 * second},
		{100, 0, 90 * second, 60 * second, 100, 60 * second},
		{2, 0, second / 10, 60 * second, 1, 60 * second},
		{3, 0, second / 10, 60 * second, 1, 40 * second},
		{100, second, 90 * second, 60 * second, 50, 60 * second},
		{100, second / 100, 90 * second, 60 * second, 100, 60 * second},
		{100, 0, second / 10, 3 * second, 6, 3 * second},
	} {
		tests := make([]timed, c.tests)
		for i := c.tests / 2; i < c.tests; i++ {
			tests[i].took = c.slow
		}
		if n, share := batch(tests, c.start, c.left); n != c.n || share != c.share {
			t.Errorf("%d tests, half of them %v, start %v, left %v: %d of them, %v; want %d, %v", c.tests, c.slow, c.start, c.left, n, share, c.n, c.share)
		}
	}
}

func TestExplained(t *testing.T) {
	for _, c := range []struct {
		difference difference
		want       bool
	}{
		{difference{Without: "PASS", With: "FAIL", Again: "PASS"}, true},
		{difference{Without: "PASS", With: "FAIL", Again: "FAIL", Slowed: "FAIL"}, true},
		{difference{Without: "PASS", With: "FAIL", Again: "FAIL", Slowed: "PASS"}, false},
		{difference{Without: "PASS", With: "FAIL"}, false},
	} {
		r := result{Differ: []difference{c.difference}}
		if got := c.difference.explained(); got != c.want || r.bad() == c.want {
			t.Errorf("%s: explained %v, bad %v", c.difference.text(), got, r.bad())
		}
	}
}
