package procfs

import (
	"strings"
	"testing"
	"time"
)

// laterFields are the fields of stat from the fifth on.
const laterFields = " 1 1 0 -1 4194560 10 0 0 0 250 50 0 0 20 0 3 0 8833 2433024 182\n"

func TestParseStat(t *testing.T) {
	good := Stat{State: "S", Parent: 42, Threads: 3, CPU: 3 * time.Second, Started: 8833}
	ending := good
	ending.Ending = true
	for name, c := range map[string]struct {
		line string
		want Stat
		err  string
	}{
		"plain":                   {"7 (sleep) S 42" + laterFields, good, ""},
		"blanks":                  {"7 (a b  c) S 42" + laterFields, good, ""},
		"looks like what follows": {"7 () Z 1 1 () S 42" + laterFields, good, ""},
		"new line":                {"7 (x\ny) S 42" + laterFields, good, ""},
		"ending":                  {"7 (sleep) S 42" + strings.Replace(laterFields, "4194560", "4194564", 1), ending, ""},
		"cut off":                 {"7 (sleep) S 42 1 1", Stat{}, "parse stat: 6 fields"},
		"empty":                   {"", Stat{}, "parse stat: 2 fields"},
		"no number":               {"7 (sleep) S 42" + strings.Replace(laterFields, "8833", "-8833", 1), Stat{}, `parse field 22 of stat: strconv.ParseUint: parsing "-8833"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(c.line)
			if c.err == "" && (err != nil || got != c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
			if c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
}

func TestStatAlive(t *testing.T) {
	for stat, want := range map[Stat]bool{
		{State: "S", Threads: 1}: true,
		{State: "Z", Threads: 1}: false,
		{State: "X", Threads: 0}: false,
		{State: "Z", Threads: 2}: true, // its first thread has ended
	} {
		if got := stat.Alive(); got != want {
			t.Errorf("%+v: alive %v", stat, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("7 (sleep) S 42" + laterFields)
	f.Add("7 () Z 1 1 () S 42" + laterFields)
	f.Fuzz(func(t *testing.T, line string) {
		if stat, err := parseStat(line); err == nil && strings.ContainsAny(stat.State, " \n") {
			t.Errorf("%q: state %q", line, stat.State)
		}
	})
}
