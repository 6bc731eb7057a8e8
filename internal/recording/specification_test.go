package recording

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSpecification checks that Open reads the example in docs/recording.md, and that its table describes each line
// that scripts write.
func TestSpecification(t *testing.T) {
	b, err := os.ReadFile("../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "```\n")
	example, table, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("it has no example")
	}
	lines := strings.SplitAfter(recorded, "\n")
	about := strings.TrimPrefix(lines[1], "# about ")
	var events strings.Builder
	for _, line := range lines {
		if strings.HasPrefix(line, " ") {
			events.WriteString(line)
		}
	}
	hits := func(key string) (from, to string) {
		return "# " + key + " EVENT HITS\n", "# " + key + " e0_0123456789abcd 2\n# " + key + " r1_0123456789abcd 2\n"
	}
	var pairs []string
	for _, key := range []string{"from", "until", "profile"} {
		from, to := hits(key)
		pairs = append(pairs, from, to)
	}
	pairs = append(pairs, "NONCE", "0123456789abcd", "{...}\n", about, "the lines of the kernel's trace_pipe, as they come\n", events.String())
	r, err := play(strings.NewReplacer(pairs...).Replace(example))
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := r.Timebase()
	_, from, until := r.Window(base)
	if err != nil || from.Hits == nil || until.Hits == nil || !r.Complete || len(r.Facts) != len(facts) {
		t.Errorf("%+v to %+v, %v; complete %v, facts %v", from, until, err, r.Complete, r.Facts)
	}
	for _, key := range regexp.MustCompile(`(?m)^# ([a-z-]+)`).FindAllStringSubmatch(example, -1) {
		told := strings.Contains(table, "`"+key[1]+"`") || key[1] == "began"
		if written := strings.Contains(recorder+main, key[1]) || strings.HasPrefix(key[1], "ftgo") || key[1] == "about"; !told || !written {
			t.Errorf("line %q: told %v, written %v", key[0], told, written)
		}
	}
}
