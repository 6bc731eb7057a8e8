package ftrace

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const typical = "          target-14713   [001] DNZff  64725.374051: ftgo_entry_1_5f3a9c1d: (0x49ede0) g=824633720832 id=1 hi=824634245120 sp=824634244000"

func TestNewLineParser(t *testing.T) {
	for _, test := range []struct {
		name    string
		formats []eventFormat
		err     string // "" for none
	}{
		{"no formats", nil, ""},
		{"16 bytes", []eventFormat{{Event: "abcdefghijklmnop", Args: []string{"a"}}}, ""},
		{"15 bytes fit into a thread name", []eventFormat{{Event: "abcdefghijklmno"}}, `"abcdefghijklmno": name is shorter than 16 bytes`},
		{"empty name", []eventFormat{{}}, "no C identifier"},
		{"dash in name", []eventFormat{{Event: "abcdefghijklmn-op"}}, "no C identifier"},
		{"digit first", []eventFormat{{Event: "0abcdefghijklmnop"}}, "no C identifier"},
		{"duplicate", []eventFormat{{Event: "abcdefghijklmnop"}, {Event: "abcdefghijklmnop"}}, `"abcdefghijklmnop": duplicate event`},
		{"argument name", []eventFormat{{Event: "abcdefghijklmnop", Args: []string{"a b"}}}, `argument name "a b" is no C identifier`},
		{"too few lengths", []eventFormat{{Event: "abcdefghijklmnop", Args: []string{"a", "b"}, Len: []int{1}}}, "1 lengths for 2 arguments"},
		{"negative length", []eventFormat{{Event: "abcdefghijklmnop", Args: []string{"a"}, Len: []int{-1}}}, `argument "a" has length -1`},
		{"length above the kernel's", []eventFormat{{Event: "abcdefghijklmnop", Args: []string{"a"}, Len: []int{65}}}, `argument "a" has length 65`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := newLineParser(test.formats)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// TestParseValue has one argument v, and w of two elements.
func TestParseValue(t *testing.T) {
	const max = 1<<64 - 1
	for _, test := range []struct {
		name string
		hex  bool
		text string
		want []uint64 // nil for a refusal at byte col of text, counted from 1
		col  int
	}{
		{"decimal", false, " v=12 w={1,2}", []uint64{12, 1, 2}, 0},
		{"largest", false, " v=18446744073709551615 w={0,0}", []uint64{max, 0, 0}, 0},
		{"too large by one", false, " v=18446744073709551616 w={0,0}", nil, 4},
		{"too large by a digit", false, " v=100000000000000000000 w={0,0}", nil, 4},
		{"negative", false, " v=-12 w={-1,-2}", []uint64{max - 11, max, max - 1}, 0},
		{"most negative", false, " v=-9223372036854775808 w={0,0}", []uint64{1 << 63, 0, 0}, 0},
		{"too negative", false, " v=-9223372036854775809 w={0,0}", nil, 4},
		{"hexadecimal", false, " v=0xc000002380 w={0x0,0xffffffffffffffff}", []uint64{0xc000002380, 0, max}, 0},
		{"17 hexadecimal digits", false, " v=0x10000000000000000 w={0,0}", nil, 6},
		{"upper case", false, " v=0xA w={0,0}", nil, 6},
		{"no digits after 0x", false, " v=0x w={0,0}", nil, 6},
		{"bare hexadecimal", true, " v=c000002380 w={10,0x10}", []uint64{0xc000002380, 0x10, 0x10}, 0},
		{"bare hexadecimal untold", false, " v=c000002380 w={0,0}", nil, 4},
		{"bare hexadecimal has no sign", true, " v=-1 w={0,0}", nil, 4},
		{"fault", false, " v=(fault) w={0,0}", []uint64{0, 0, 0}, 0},
		{"half a fault", false, " v=(fault w={0,0}", nil, 4},
		{"string", false, ` v="text" w={0,0}`, nil, 4},
		{"no value", false, " v= w={0,0}", nil, 4},
		{"sign alone", false, " v=- w={0,0}", nil, 5},
		{"word behind a number", false, " v=12x w={0,0}", nil, 6},
		{"two blanks", false, " v=12  w={0,0}", nil, 6},
		{"other name", false, " u=12 w={0,0}", nil, 1},
		{"other order", false, " w={0,0} v=12", nil, 1},
		{"missing argument", false, " v=12", nil, 6},
		{"cut in the name", false, " v=12 w", nil, 6},
		{"cut after =", false, " v=", nil, 4},
		{"one more argument", false, " v=12 w={0,0} x=1", nil, 14},
		{"trailing blank", false, " v=12 w={0,0} ", nil, 14},
		{"array without brace", false, " v=12 w=1,2", nil, 9},
		{"array too short", false, " v=12 w={1}", nil, 11},
		{"array too long", false, " v=12 w={1,2,3}", nil, 13},
		{"array cut", false, " v=12 w={1,2", nil, 13},
		{"empty array", false, " v=12 w={}", nil, 10},
		{"plain value with braces", false, " v={1} w={0,0}", nil, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := newLineParser([]eventFormat{{
				Event: "ftgo_entry_9_00000000", Args: []string{"v", "w"}, Len: []int{0, 2}, Hex: test.hex,
			}})
			if err != nil {
				t.Fatal(err)
			}
			const head = "               x-1     [000] d...1     1.000000: ftgo_entry_9_00000000: (0x1)"
			var rec record
			err = p.parseLine([]byte(head+test.text), &rec)
			if test.want == nil {
				wantSyntaxError(t, &rec, err, len(head)+test.col, "ftgo_entry_9_00000000")
				return
			}
			if err != nil || rec.Kind != eventRecord || !reflect.DeepEqual(rec.Event.Args, test.want) {
				t.Errorf("%v %x, %v, want %x", rec.Kind, rec.Event.Args, err, test.want)
			}
		})
	}
}

func TestParseColumns(t *testing.T) {
	const (
		tail  = ": ftgo_entry_3_5f3a9c1d: (0x49ede0)"
		event = "ftgo_entry_3_5f3a9c1d"
	)
	for _, test := range []struct {
		name  string
		head  string
		want  Event
		col   int    // of a refusal, counted from 1; 0 for none
		event string // of a refusal
	}{
		{"all columns", "          target-14713   (  14715) [001] d..ff     1.000002", Event{TID: 14713, PID: 14715, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"TGID unknown", "          target-14713   (-------) [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"name forgotten", "           <...>-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"name cut off by a newline", "-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"name imitates columns", " x-1 [7] d 5.0: -14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"name imitates a TGID", "         a-1 (3)-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}, 0, ""},
		{"CPU of five digits", "          target-14713   [12345] d..ff     1.000002", Event{TID: 14713, CPU: 12345, Time: 1_000_002_000}, 0, ""},
		{"largest time", "          target-14713   [001] d..ff 18446744073.709551", Event{TID: 14713, CPU: 1, Time: 18446744073709551000}, 0, ""},
		{"largest count", "          target-14713   [001] d..ff 18446744073709551615", Event{TID: 14713, CPU: 1, Time: 1<<64 - 1}, 0, ""},
		{"time too large", "          target-14713   [001] d..ff 18446744073.709552", Event{}, 38, event},
		{"count too large", "          target-14713   [001] d..ff 18446744073709551616", Event{}, 38, event},
		{"milliseconds", "          target-14713   [001] d..ff     1.002", Event{}, 44, event},
		{"no time", "          target-14713   [001] d..ff ", Event{}, 38, event},
		{"no seconds", "          target-14713   [001] d..ff .000002", Event{}, 38, event},
		{"time touches flags", "          target-14713   [001] d..ff:1.000002", Event{}, 38, event},
		{"two flag words", "          target-14713   [001] d... f    1.000002", Event{}, 36, event},
		{"no CPU", "          target-14713    d..ff     1.000002", Event{}, 23, event},
		{"empty CPU", "          target-14713   [] d..ff     1.000002", Event{}, 27, event},
		{"CPU without bracket", "          target-14713   1] d..ff     1.000002", Event{}, 26, event},
		{"CPU too large", "          target-14713   [2147483648] d..ff     1.000002", Event{}, 27, event},
		{"no thread", "[001] d..ff     1.000002", Event{}, 1, event},
		{"thread without dash", "          target14713   [001] d..ff     1.000002", Event{}, 17, event},
		{"thread too large", "          target-2147483648 [001] d..ff     1.000002", Event{}, 18, event},
		{"TGID too large", "          target-14713   (2147483648) [001] d..ff     1.000002", Event{}, 27, event},
		{"empty TGID", "          target-14713   () [001] d..ff     1.000002", Event{}, 27, event},
		{"TGID of words", "          target-14713   (self) [001] d..ff     1.000002", Event{}, 31, event},
		{"TGID touches the thread", "          target-14713(  14713) [001] d..ff     1.000002", Event{}, 23, event},
		{"CPU touches the thread", "          target-14713[001] d..ff     1.000002", Event{}, 23, event},
		{"inside another event's text", `           bash-99      [001] .....    10.000000: open: path="a-1 [000] d... 9.000000`, Event{}, 64, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rec record
			err := newTraceParser(t).parseLine([]byte(test.head+tail), &rec)
			if test.col != 0 {
				wantSyntaxError(t, &rec, err, test.col, test.event)
				return
			}
			test.want.Format, test.want.Addr = 4, 0x49ede0
			if err != nil || rec.Kind != eventRecord || !reflect.DeepEqual(rec.Event, test.want) {
				t.Errorf("%v %+v, %v, want %+v", rec.Kind, rec.Event, err, test.want)
			}
		})
	}
}

func TestParseLost(t *testing.T) {
	for _, test := range []struct {
		line string
		want record // zero for a refusal
	}{
		{"CPU:1 [LOST 123 EVENTS]", record{Kind: lostRecord, CPU: 1, Lost: 123}},
		{"CPU:1 [LOST 123 EVENTS]\r", record{Kind: lostRecord, CPU: 1, Lost: 123}},
		{"CPU:0 [LOST EVENTS]", record{Kind: lostRecord, Uncounted: true}},
		{"CPU:1 [LOST 18446744073709551615 EVENTS]", record{Kind: lostRecord, CPU: 1, Lost: 1<<64 - 1}},
		{"CPU:1 [LOST 18446744073709551616 EVENTS]", record{}},
		{"CPU:2147483648 [LOST 1 EVENTS]", record{}},
		{"CPU:1 [LOST  EVENTS]", record{}},
		{"CPU:1 [LOST 123 EVENTS] ", record{}},
		{"CPU:1 [LOST 123 EVENTS", record{}},
		{"CPU:1 [LOST -1 EVENTS]", record{}},
		{"CPU: [LOST 123 EVENTS]", record{}},
		{" CPU:1 [LOST 123 EVENTS]", record{}},
		{"CPU:1", record{}},
	} {
		t.Run(test.line, func(t *testing.T) {
			var rec record
			err := newTraceParser(t).parseLine([]byte(test.line), &rec)
			if test.want.Kind == 0 {
				var syntax *syntaxError
				if !errors.As(err, &syntax) || syntax.Event != "" || rec.Kind != 0 {
					t.Errorf("%v, %v, want a syntaxError without event", rec.Kind, err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(rec, test.want) {
				t.Errorf("%+v, %v, want %+v", rec, err, test.want)
			}
		})
	}
}

func TestSyntaxErrorIsBounded(t *testing.T) {
	line := "\x1b[31m" + strings.Repeat("x", 10_000)
	var rec record
	err := newTraceParser(t).parseLine([]byte(line), &rec)
	var syntax *syntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error %v, want a syntaxError", err)
	}
	if syntax.Line != line[:200] {
		t.Errorf("line of %d bytes, want the first 200", len(syntax.Line))
	}
	want := `parse line "\x1b[31m` + strings.Repeat("x", 195) + `"…: column 1: no event of ours`
	if got := err.Error(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	p := newTraceParser(t)
	for _, line := range []string{
		typical,
		"   my worker-5716    (   5743) [000] DBZff 2297574718910: ftgo_entry_0_5f3a9c1d: (0x48bc4e) g=1 id=1 n=-1 sp=0x2c6364190f00 w={0x48bfec,0x0}",
		"CPU:1 [LOST 123 EVENTS]",
		" =>  <000000000048bc4e>",
		"# tracer: nop",
		"",
	} {
		t.Run(line, func(t *testing.T) {
			var rec record
			text := []byte(line)
			n := testing.AllocsPerRun(100, func() {
				if err := p.parseLine(text, &rec); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations a line", n)
			}
		})
	}
}

func wantSyntaxError(t *testing.T, rec *record, err error, col int, event string) {
	t.Helper()
	var syntax *syntaxError
	if !errors.As(err, &syntax) || rec.Kind != 0 {
		t.Fatalf("%v %+v, error %v, want a syntaxError", rec.Kind, rec.Event, err)
	}
	if syntax.Col != col || syntax.Event != event {
		t.Errorf("%v, of event %q, want column %d, event %q", syntax, syntax.Event, col, event)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{5, 1000} {
		formats := traceFormats
		for i := len(formats); i < n; i++ {
			formats = append(formats[:i:i], eventFormat{Event: fmt.Sprintf("ftgo_entry_%d_5f3a9c1d", i)})
		}
		p, err := newLineParser(formats)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			line := []byte(typical)
			var rec record
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := p.parseLine(line, &rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
