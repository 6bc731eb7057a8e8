package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const typical = "          target-14713   [001] DNZff  64725.374051: ftgo_entry_1_5f3a9c1d: (0x49ede0) g=824633720832 id=1 hi=824634245120 sp=824634244000"

func TestNewLineParser(t *testing.T) {
	for _, test := range []struct {
		name    string
		formats []Format
		err     string // "" for none
	}{
		{"no formats", nil, ""},
		{"16 bytes", []Format{{Event: "abcdefghijklmnop", Args: []string{"a"}}}, ""},
		{"15 bytes fit into a thread name", []Format{{Event: "abcdefghijklmno"}}, `"abcdefghijklmno": name is shorter than 16 bytes`},
		{"empty name", []Format{{}}, "not a C identifier"},
		{"dash in name", []Format{{Event: "abcdefghijklmn-op"}}, "not a C identifier"},
		{"digit first", []Format{{Event: "0abcdefghijklmnop"}}, "not a C identifier"},
		{"duplicate", []Format{{Event: "abcdefghijklmnop"}, {Event: "abcdefghijklmnop"}}, `"abcdefghijklmnop": duplicate event`},
		{"argument name", []Format{{Event: "abcdefghijklmnop", Args: []string{"a b"}}}, `argument name "a b" is not a C identifier`},
		{"too few lengths", []Format{{Event: "abcdefghijklmnop", Args: []string{"a", "b"}, Len: []int{1}}}, "1 lengths for 2 arguments"},
		{"negative length", []Format{{Event: "abcdefghijklmnop", Args: []string{"a"}, Len: []int{-1}}}, `argument "a" has length -1`},
		{"length above the kernel's", []Format{{Event: "abcdefghijklmnop", Args: []string{"a"}, Len: []int{65}}}, `argument "a" has length 65`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFormats(test.formats, nil)
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
		text string
		want []uint64 // nil for a refusal
	}{
		{"decimal", " v=12 w={1,2}", []uint64{12, 1, 2}},
		{"largest", " v=18446744073709551615 w={0,0}", []uint64{max, 0, 0}},
		{"too large by one", " v=18446744073709551616 w={0,0}", nil},
		{"too large by a digit", " v=100000000000000000000 w={0,0}", nil},
		{"negative", " v=-12 w={-1,-2}", []uint64{max - 11, max, max - 1}},
		{"most negative", " v=-9223372036854775808 w={0,0}", []uint64{1 << 63, 0, 0}},
		{"too negative", " v=-9223372036854775809 w={0,0}", nil},
		{"hexadecimal", " v=0xc000002380 w={0x0,0xffffffffffffffff}", []uint64{0xc000002380, 0, max}},
		{"17 hexadecimal digits", " v=0x10000000000000000 w={0,0}", nil},
		{"upper case", " v=0xA w={0,0}", nil},
		{"no digits after 0x", " v=0x w={0,0}", nil},
		{"bare hexadecimal", " v=c000002380 w={0,0}", nil},
		{"fault", " v=(fault) w={0,0}", []uint64{0, 0, 0}},
		{"half a fault", " v=(fault w={0,0}", nil},
		{"string", ` v="text" w={0,0}`, nil},
		{"no value", " v= w={0,0}", nil},
		{"sign alone", " v=- w={0,0}", nil},
		{"word behind a number", " v=12x w={0,0}", nil},
		{"two blanks", " v=12  w={0,0}", nil},
		{"other name", " u=12 w={0,0}", nil},
		{"other order", " w={0,0} v=12", nil},
		{"missing argument", " v=12", nil},
		{"cut in the name", " v=12 w", nil},
		{"cut after =", " v=", nil},
		{"one more argument", " v=12 w={0,0} x=1", nil},
		{"trailing blank", " v=12 w={0,0} ", nil},
		{"array without brace", " v=12 w=1,2", nil},
		{"array too short", " v=12 w={1}", nil},
		{"array too long", " v=12 w={1,2,3}", nil},
		{"array cut", " v=12 w={1,2", nil},
		{"empty array", " v=12 w={}", nil},
		{"plain value with braces", " v={1} w={0,0}", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := newFormats([]Format{{
				Event: "ftgo_entry_9_00000000", Args: []string{"v", "w"}, Len: []int{0, 2},
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			const head = "               x-1     [000] d...1     1.000000: ftgo_entry_9_00000000: (0x1)"
			var ev Event
			kind := p.parse([]byte(head+test.text), &ev)
			if read := kind == eventLine; read != (test.want != nil) || read && !slices.Equal(ev.Args, test.want) {
				t.Errorf("kind %d, %x, want %x", kind, ev.Args, test.want)
			}
		})
	}
}

func TestParseColumns(t *testing.T) {
	const tail = ": ftgo_entry_3_5f3a9c1d: (0x49ede0)"
	for _, test := range []struct {
		name string
		head string
		want Event // zero for a refusal
	}{
		{"all columns", "          target-14713   (  14715) [001] d..ff     1.000002", Event{TID: 14713, PID: 14715, CPU: 1, Time: 1_000_002_000}},
		{"TGID unknown", "          target-14713   (-------) [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}},
		{"name forgotten", "           <...>-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}},
		{"name cut off by a newline", "-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}},
		{"name imitates columns", " x-1 [7] d 5.0: -14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}},
		{"name imitates a TGID", "         a-1 (3)-14713   [001] d..ff     1.000002", Event{TID: 14713, CPU: 1, Time: 1_000_002_000}},
		{"CPU of five digits", "          target-14713   [12345] d..ff     1.000002", Event{TID: 14713, CPU: 12345, Time: 1_000_002_000}},
		{"largest time", "          target-14713   [001] d..ff 18446744073.709551", Event{TID: 14713, CPU: 1, Time: 18446744073709551000}},
		{"largest count", "          target-14713   [001] d..ff 18446744073709551615", Event{TID: 14713, CPU: 1, Time: 1<<64 - 1}},
		{"time too large", "          target-14713   [001] d..ff 18446744073.709552", Event{}},
		{"count too large", "          target-14713   [001] d..ff 18446744073709551616", Event{}},
		{"milliseconds", "          target-14713   [001] d..ff     1.002", Event{}},
		{"no time", "          target-14713   [001] d..ff ", Event{}},
		{"no seconds", "          target-14713   [001] d..ff .000002", Event{}},
		{"time touches flags", "          target-14713   [001] d..ff:1.000002", Event{}},
		{"two flag words", "          target-14713   [001] d... f    1.000002", Event{}},
		{"no CPU", "          target-14713    d..ff     1.000002", Event{}},
		{"empty CPU", "          target-14713   [] d..ff     1.000002", Event{}},
		{"CPU without bracket", "          target-14713   1] d..ff     1.000002", Event{}},
		{"CPU too large", "          target-14713   [2147483648] d..ff     1.000002", Event{}},
		{"no thread", "[001] d..ff     1.000002", Event{}},
		{"thread without dash", "          target14713   [001] d..ff     1.000002", Event{}},
		{"thread too large", "          target-2147483648 [001] d..ff     1.000002", Event{}},
		{"TGID too large", "          target-14713   (2147483648) [001] d..ff     1.000002", Event{}},
		{"empty TGID", "          target-14713   () [001] d..ff     1.000002", Event{}},
		{"TGID of words", "          target-14713   (self) [001] d..ff     1.000002", Event{}},
		{"TGID touches the thread", "          target-14713(  14713) [001] d..ff     1.000002", Event{}},
		{"CPU touches the thread", "          target-14713[001] d..ff     1.000002", Event{}},
		{"inside another event's text", `           bash-99      [001] .....    10.000000: open: path="a-1 [000] d... 9.000000`, Event{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ev Event
			kind := newTraceParser(t).parse([]byte(test.head+tail), &ev)
			refused := test.want.TID == 0
			test.want.Format, test.want.Addr = 4, 0x49ede0
			if (kind == eventLine) == refused || !refused && !reflect.DeepEqual(ev, test.want) {
				t.Errorf("kind %d, %+v, want %+v", kind, ev, test.want)
			}
		})
	}
}

func TestParseLost(t *testing.T) {
	for line, want := range map[string]lineKind{
		"CPU:1 [LOST 123 EVENTS]":                   otherLine,
		"CPU:1 [LOST 123 EVENTS]\r":                 otherLine,
		"CPU:0 [LOST EVENTS]":                       otherLine,
		"CPU:1 [LOST 184467440737095516150 EVENTS]": unreadable,
		"CPU:2147483648 [LOST 1 EVENTS]":            unreadable,
		"CPU:1 [LOST  EVENTS]":                      unreadable,
		"CPU:1 [LOST 123 EVENTS] ":                  unreadable,
		"CPU:1 [LOST 123 EVENTS":                    unreadable,
		"CPU:1 [LOST -1 EVENTS]":                    unreadable,
		"CPU: [LOST 123 EVENTS]":                    unreadable,
		" CPU:1 [LOST 123 EVENTS]":                  unreadable,
		"CPU:1":                                     unreadable,
	} {
		if kind := newTraceParser(t).parse([]byte(line), new(Event)); kind != want {
			t.Errorf("%q is of kind %d, want %d", line, kind, want)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{5, 1000} {
		formats := traceFormats
		for i := len(formats); i < n; i++ {
			formats = append(formats[:i:i], Format{Event: fmt.Sprintf("ftgo_entry_%d_5f3a9c1d", i)})
		}
		p, err := newFormats(formats, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			line := []byte(typical)
			var ev Event
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if kind := p.parse(line, &ev); kind != eventLine {
					b.Fatal(kind)
				}
			}
		})
	}
}

// FuzzNumbers compares with strconv.
func FuzzNumbers(f *testing.F) {
	for _, number := range []string{"", "7", "18446744073709551615", "18446744073709551616", "18446744073709551620", "ffffffffffffffff", "10000000000000000", "98765432101234567890999"} {
		f.Add(number, "")
		f.Add(number, "x")
	}
	f.Fuzz(func(t *testing.T, number, rest string) {
		if strings.ContainsAny(number, "ABCDEF+-_") || rest != "" && strings.ContainsAny(rest[:1], "0123456789abcdef") {
			return
		}
		for base, parse := range map[int]func([]byte, int) (uint64, int, bool){10: decimal, 16: hex} {
			v, next, ok := parse([]byte(number+rest), 0)
			want, err := strconv.ParseUint(number, base, 64)
			if err == nil && (v != want || next != len(number) || !ok) || err != nil && ok && next == len(number) {
				t.Errorf("%q in base %d: %d up to %d, %v; want %d, %v", number, base, v, next, ok, want, err)
			}
		}
	})
}
