package recording

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// recorded is a recording with two calls of a function.
const recorded = `# ftgo-recording 5 0123456789abcd
# about {"made":"v1","command":"probe","binary":{"path":"/bin/f"},"processor":"x86-64","plan":{"mode":0,"funcs":[{"name":"main.f","returns":true}],"events":[` +
	`{"name":"e0_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}],"fields":{"SP":0,"G":1,"Goid":3,"Hi":2,"Lo":-1,"Flags":-1,"Creator":-1,"CreatorGoid":-1,"Start":-1,"Stack":-1,"Values":-1},"sites":[{"kind":0,"addr":2,"func":0}]},` +
	`{"name":"r1_0123456789abcd","args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"}],"fields":{"SP":0,"G":1,"Goid":-1,"Hi":2,"Lo":-1,"Flags":-1,"Creator":-1,"CreatorGoid":-1,"Start":-1,"Stack":-1,"Values":-1},"sites":[{"kind":3,"addr":6,"func":0}]}]}}
# kernel 5.10.0
# trace-clock mono
# wall 1000
# clock first 10 0.000001 30
# clock armed 40 0.000002 60
# clock armed 41 0.000002 45
# began 0123456789abcd
 f-7 (-----) [000] d... 1.000000: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1
 f-7 (    6) [000] d... 1.000001: r1_0123456789abcd: (0x6) sp=90 g=5 hi=100
 f-7 (    6) [000] d... 1.000002: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1
 f-8 (-----) [001] d... 1.000009: r1_0123456789abcd: (0x6) sp=90 g=5 hi=100
# ended 0123456789abcd
# clock ended 1000 0.000009 1200
# lost 3
# profile e0_0123456789abcd 2
# profile r1_0123456789abcd 5
# complete 0123456789abcd
`

// played is a recording and its calls.
type played struct {
	*Recording
	calls []pairing.Call
	hits  *pairing.Counts
}

func play(text string) (*played, error) {
	r, err := Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	p := &played{Recording: r}
	of := func(tid, printed int) (int, bool) { return r.Process(tid, printed), true }
	s, err := pairing.NewStream(r.Plan, r, pairing.Options{Of: of})
	take := func(it *pairing.Item) {
		if it.Kind == pairing.Ended {
			p.calls = append(p.calls, *it.Call)
		}
	}
	for err == nil {
		for it, failed := range s.Read(context.Background()) {
			if err = failed; err == nil {
				take(it)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	for it := range s.Finish() {
		take(it)
	}
	p.hits = s.Counts(pairing.Counters{})
	return p, nil
}

func TestRecording(t *testing.T) {
	for name, text := range map[string]string{"lines": recorded, "serial line": strings.ReplaceAll(recorded, "\n", "\r\n"),
		"process of an earlier thread": strings.Replace(recorded, "(-----)", "(    5)", 1)} {
		r, err := play(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(r.calls) != 2 || r.calls[0].Outcome != pairing.Returned || r.calls[1].Outcome != pairing.Returned || r.calls[0].PID != 6 || r.calls[1].PID != 6 {
			t.Errorf("%s: calls %+v", name, r.calls)
		}
		profile, _ := r.Profile()
		lost, _ := r.Overruns()
		if !r.Complete || len(profile) != 2 || profile[0][0] != 2 || profile[1][0] != 5 || lost != 3 {
			t.Errorf("%s: complete %v, hits %v, lost %d", name, r.Complete, profile, lost)
		}
		if r.Facts["kernel"] != "5.10.0" || r.moments["armed"].ns != 43 || r.moments["armed"].ticks != 2000 || r.moments["first"].ticks != 1000 || r.moments["ended"].ns != 1100 {
			t.Errorf("%s: %v %+v %+v %+v", name, r.Facts, r.moments["first"], r.moments["armed"], r.moments["ended"])
		}
	}
}

// TestRecordingHostile checks that Open refuses invalid files, and that the name of a thread can't forge the end of the
// events.
func TestRecordingHostile(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a trace alone", recorded[:strings.Index(recorded, "# began")], "", "no recording"},
		{"nothing", recorded, "", "no recording"},
		{"binary", recorded, "\x7fELF\x00\x01\x02\n\xff", "no recording"},
		{"of the future", "recording 5", "recording 6", `version 6 of the format, not 5: read it with the ftgo that made it, version "v1"`},
		{"of the past", "recording 5", "recording 4", `version 4 of the format, not 5: read it with the ftgo that made it, version "v1"`},
		{"of the past, by nobody", recorded, "# ftgo-recording 2 0123456789abcd", `version ""`},
		{"header without end", recorded[strings.Index(recorded, "# began"):], "", "ends before its events begin"},
		{"without a plan", recorded[strings.Index(recorded, "# about"):strings.Index(recorded, "# kernel")], "", "no plan"},
		{"no JSON", `{"made"`, `{made`, "description: "},
		{"short names", "0123456789abcd", "0", "16 bytes"},
		{"clock that runs backwards", "armed 40 0.000002 60", "armed 60 0.000002 40", "clock"},
		{"huge clock", "first 10 0.000001", "first 10 99999999999999999999999", "clock"},
		{"huge count", "profile e0_0123456789abcd 2", "profile e0_0123456789abcd 99999999999999999999", "value out of range"},
		{"negative count", "profile e0_0123456789abcd 2", "profile e0_0123456789abcd -2", "invalid syntax"},
		{"hits of another event", "profile e0_0123456789abcd", "profile evil", "not defined"},
		{"hits missing", "# profile r1_0123456789abcd 5\n", "", "hits of 0 sites"},
		{"huge loss", "lost 3", "lost 18446744073709551616", "value out of range"},
		{"note of nobody", "# lost 3", "# noted first 7", "is missing"},
		{"note of another time", "# lost 3", "# noted armed 7 5", "is missing"},
		{"note of a negative process", "# lost 3", "# noted ended 7 -5", "is missing"},
		{"events behind the end", "# lost 3", " f-7 (6) [000] d... 1.0", "behind its events"},
	} {
		text := strings.Replace(recorded, c.from, c.to, -1)
		if _, err := play(text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	forged := strings.Replace(recorded, " f-7 (    6) [000] d... 1.000002", "x\n# ended 012345\n-7 (    6) [000] d... 1.000002", 1)
	if r, err := play(forged); err != nil || !r.Complete || len(r.calls) != 2 {
		t.Errorf("a thread's name: %v, calls %+v", err, r.calls)
	}
	for i := strings.Index(recorded, "# began") + 30; i < len(recorded)-1; i++ {
		r, err := play(recorded[:i])
		if err != nil && !strings.Contains(err.Error(), "read recording") || err == nil && r.Complete {
			t.Fatalf("cut off at byte %d: %v", i, err)
		}
	}
}

// TestRecordingNoted checks that the kernel's table at the end corrects the process of a thread whose lines have no
// process, or that of an earlier thread with the same ID, but not if a later thread has got the ID since.
func TestRecordingNoted(t *testing.T) {
	for _, c := range []struct {
		name, column, notes string
		want                int
	}{
		{"no notes", "    6", "", 6},
		{"earlier thread", "    5", "# noted first 7 5\n# noted ended 7 6\n", 6},
		{"never noted before", "-----", "# noted ended 7 6\n", 6},
		{"of other threads", "    6", "# noted first 9 6\n# noted ended 9 5\n", 6},
		{"later thread", "    6", "# noted first 7 5\n# noted ended 7 4\n", 6},
		{"later thread of a number that was new", "    6", "# noted ended 7 4\n", 6},
	} {
		text := strings.NewReplacer("(-----)", "("+c.column+")", "(    6)", "("+c.column+")", "# complete", c.notes+"# complete").Replace(recorded)
		r, err := play(text)
		if err != nil || len(r.calls) != 2 || r.calls[0].PID != c.want || r.calls[1].PID != c.want {
			t.Errorf("%s: %v, calls %+v", c.name, err, r.calls)
		}
	}
}

// TestRecordingTornClock checks that a reading with digits from two times is ignored, however close it seems, whether
// it comes first or last, but not readings of a clock that went back.
func TestRecordingTornClock(t *testing.T) {
	for _, c := range []struct {
		readings string
		ns       int64
		ticks    uint64
		width    time.Duration
	}{
		{"# clock ended 1000 0.000009 1200\n# clock ended 1001 0.000001 1001\n", 1100, 9000, 200},
		{"# clock ended 1001 0.000001 1001\n# clock ended 1000 0.000009 1200\n", 1100, 9000, 200},
		{"# clock ended 1000 0.000001 1300\n# clock ended 1000 0.000001 1200\n", 1100, 1000, 200},
	} {
		r, err := play(strings.Replace(recorded, "# clock ended 1000 0.000009 1200\n", c.readings, 1))
		if err != nil {
			t.Fatal(err)
		}
		if m := r.moments["ended"]; m.ns != c.ns || m.ticks != c.ticks || m.width != c.width {
			t.Errorf("%q: %+v", c.readings, m)
		}
	}
}

// FuzzRecording checks, for any file, that every event is counted once and that nothing panics.
func FuzzRecording(f *testing.F) {
	f.Add(recorded)
	f.Add(recorded[:len(recorded)/2])
	f.Add(strings.Replace(recorded, "# lost", "# noted first 7 5\n# noted ended 7 6\n# lost", 1))
	f.Add(strings.Replace(recorded, `{"kind":3`, `{"kind":8`, 1))
	f.Add(strings.Replace(recorded, `"mode":0`, `"mode":0,"by_stack":true,"stack":2`, 1))
	f.Add("# ftgo-recording 5 \x1b[2J\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := play(text)
		if err != nil {
			return
		}
		if lines := uint64(strings.Count(text, "\n")) + 1; r.hits.Delivered+r.hits.Unparsed > lines {
			t.Errorf("%d events and %d others of %d lines", r.hits.Delivered, r.hits.Unparsed, lines)
		}
		if uint64(len(r.calls)) > r.hits.Delivered {
			t.Errorf("%d calls of %d events", len(r.calls), r.hits.Delivered)
		}
		if profile, _ := r.Profile(); (profile != nil) != r.Complete {
			t.Errorf("complete %v, hits %v", r.Complete, profile)
		}
	})
}

// TestUnchanged checks that Unchanged compares the content of a file, but reads no file larger than maxFile.
func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("text"))
	f := File{Path: path, Size: 4, SHA256: hex.EncodeToString(sum[:])}
	if !f.Unchanged() {
		t.Error("the file is not here")
	}
	if err := os.WriteFile(path, []byte("tact"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f.Unchanged() {
		t.Error("another one of the same length is here")
	}
	if f.Size = 1 << 42; os.Truncate(path, f.Size) == nil && f.Unchanged() {
		t.Error("a file of holes is here")
	}
}

// TestOpenAnother checks that a recording is not read with another binary than the one that was traced.
func TestOpenAnother(t *testing.T) {
	path := fixture.Build(t, "flood")
	b, err := offsets.Open(path)
	fixture.NoError(t, err)
	_, sum, err := b.File().Checksum()
	fixture.NoError(t, err)
	b.Close()
	f := File{Path: path, SHA256: sum}
	b, err = f.Open(path)
	fixture.NoError(t, err)
	b.Close()
	if b, err := f.Open(fixture.Build(t, "lookup")); err == nil {
		t.Errorf("%s was taken for %s", b.File().Path(), path)
	}
}

func TestMain(m *testing.M) { fixture.Main(m) }
