package render

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// hostileValues are strings with which a target might deceive the reader of a trace, or attack the reader's terminal,
// spreadsheet or parser.
var hostileValues = append(slices.Clone(madeup.HostileNames),
	// Terminals: colours, titles, cursor, erasing, queries, character sets, key bindings.
	"\x1b[31mred\x1b[0m", "\x1b]2;title\x1b\\", "\x1b]52;c;cm0gLXJmIC8=\x07", "\x1b[1A\x1b[2K< goroutine 1 main.get = nil", "\x1b[6n\x1b[c",
	"\x1bc", "\x1b(0lqqk\x1b(B", "\x0e\x0f", "\x1b_Gf=24;\x1b\\", "\x1bP$q\"p\x1b\\", "\x1b[?1049h", "\u009b2J", "\u009d0;x\u009c", "\u0090x\u009c", "\u0084\u0085\u008d",
	"\x9b31m", "\xc2\x9b", "\x1b", "\x7f\x7f\x7f", "a\b\b\b\bwiped", "over\rwritten", "bell\a", "\v\f",
	// Bidirectional and invisible text.
	"\u202emoc.live\u202c", "\u2066\u2067\u2068\u2069", "\u202a\u202b\u202d", "\u061c\u200e\u200f", "\u00ad\u2060\u180e", "\U000e0001\U000e007f",
	// Forged lines.
	"x\", n=3) = (\"ok\", nil)\n  12.3µs  goroutine 2  main.admin(", "a\r\nb", "a\n", "\n", "\u2028> goroutine 1 main.f()", "\u0085x",
	"bash-1 [000] .... 1.000000: p_0: (0x401000) v0=1", "# tracer: nop", "CPU:0 [LOST 9 EVENTS]",
	// JSON.
	`"}`, `","end":"return","ns":0}`, `\`, `\"`, `\u0022`, `\n`, "{\"type\":\"summary\"}\n", `{"unreadable":"no"}`, "null", "]}]}",
	// CSV and TSV.
	"=1+1", "@x", "+x", "-x", "=HYPERLINK(\"http://x\",\"y\")", "a,b;c\td", "a\"\"b", "\"", "'=1", "\xef\xbb\xbf=1",
	// Imitated markers.
	"<unreadable: nil pointer>", `"…+4032`, "nil", "…", "%d%s%n%!", "&{}", "= unwound",
	// Bytes.
	"\xff\xfe\xfd", "\xed\xa0\x80\xed\xb0\x80", "\xc0\xaf", "\xf8\x88\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x80", "\x00\x00\x00", "\ufffd", "\ufffe\uffff\U0010ffff",
	strings.Repeat("A", 1<<16), strings.Repeat("\x1b[", 1<<12), strings.Repeat("\xff", 4096), strings.Repeat("e\u0301", 1000), strings.Repeat("\n", 4096),
)

// around returns a call with a string between other arguments, in a struct, in an error and in a slice of bytes.
func around(s string) Line {
	c := get()
	c.Args = []capture.Value{
		madeup.Named("before", madeup.Num("int", 1)), madeup.Named("s", madeup.Str(s)), madeup.Named("behind", madeup.Num("int", 2)),
		madeup.Named("b", madeup.ByteSlice(s, int64(len(s)), 1<<20)),
		madeup.Named("p", madeup.Pointer(madeup.Struct("main.T", madeup.Named("F", madeup.Str(s)), madeup.Named("G", madeup.Num("int", 3))))),
	}
	c.Results = []capture.Value{madeup.Named("r0", madeup.ErrorString(madeup.Str(s))), madeup.Named("r1", madeup.Num("int", 4))}
	return c
}

func TestHostileValuesInText(t *testing.T) {
	if len(hostileValues) < 40 {
		t.Fatalf("only %d strings", len(hostileValues))
	}
	// The texts before each occurrence of s, and after the last.
	fields := []string{`  12.3µs  goroutine 1  main.get(before=1, s=`, `, behind=2, b=[]byte(`, `), p=&{F:`, ` G:3}) = (*errors.errorString(`, `), 4)`}
	for i, s := range hostileValues {
		rest := line(t, LineOptions{}, around(s))
		checkPrintable(t, rest)
		for n, field := range fields {
			var found bool
			if rest, found = strings.CutPrefix(rest, field); !found {
				t.Fatalf("string %d, %q: %q does not begin with %q", i, s, rest, field)
			}
			if n == len(fields)-1 {
				break
			}
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("string %d, %q: no quoted string at %q", i, s, rest)
			}
			if back, err := strconv.Unquote(quoted); err != nil || back != s {
				t.Fatalf("string %d: %q became %q, %v", i, s, back, err)
			}
			rest = rest[len(quoted):]
		}
		if rest != "" {
			t.Fatalf("string %d, %q: %q is too much", i, s, rest)
		}
	}
}

func checkPrintable(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			t.Fatalf("%U in %q", r, text)
		}
	}
}

// callCells is the number of cells of a call in CSV and TSV.
const callCells = 11

// checkBack checks the arguments of a call of [around], as JSON.
func checkBack(t *testing.T, args []byte, s string) {
	t.Helper()
	var back struct {
		Before, Behind int
		S              json.RawMessage
		P              struct {
			F json.RawMessage
			G int
		}
	}
	fixture.NoError(t, json.Unmarshal(args, &back))
	if got, inside := stringBack(t, back.S), stringBack(t, back.P.F); got != s || inside != s || back.Before != 1 || back.Behind != 2 || back.P.G != 3 {
		t.Fatalf("%q became %q, %q, %+v", s, got, inside, back)
	}
}

// stringBack decodes a string that [capture.Value.AppendJSON] encoded.
func stringBack(t *testing.T, text []byte) string {
	t.Helper()
	var s string
	if json.Unmarshal(text, &s) == nil {
		return s
	}
	var binary struct{ Bytes string }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&binary); err != nil {
		t.Fatalf("%s is no string: %v", text, err)
	}
	raw, err := base64.StdEncoding.DecodeString(binary.Bytes)
	if err != nil || utf8.Valid(raw) {
		t.Fatalf("%s: %q, %v", text, raw, err)
	}
	return string(raw)
}

// TestCells checks that no cell is a formula, a second cell or a second line.
func TestCells(t *testing.T) {
	for in, want := range map[string]string{
		"main.(*T).Get": "main.(*T).Get", "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": `\x09=1`, "\r=1": `\x0d=1`, "a\nb": `a\x0ab`, "a=b": "a=b", "": "", `struct { A int "json:\"a,b\"" }`: `struct { A int "json:\"a,b\"" }`,
	} {
		row := Row{{"a", in}, {"b", 7}}
		record, err := csv.NewReader(bytes.NewReader(row.append(nil, CSV))).Read()
		if err != nil || !slices.Equal(record, []string{want, "7"}) || string(row.append(nil, TSV)) != want+"\t7\n" {
			t.Errorf("%q: %q, %q, want %q, %v", in, record, row.append(nil, TSV), want, err)
		}
	}
}

func TestHostileValuesInRows(t *testing.T) {
	for _, s := range hostileValues {
		c := around(s)
		text := line(t, LineOptions{Style: Style{Format: JSON}}, c)
		checkPrintable(t, text)
		var asJSON struct{ Args, Results json.RawMessage }
		fixture.NoError(t, json.Unmarshal([]byte(text), &asJSON))
		checkBack(t, asJSON.Args, s)
		results := string(asJSON.Results)
		c.Function = s
		text = line(t, LineOptions{Style: Style{Format: CSV}}, c)
		checkPrintable(t, text)
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(records) != 1 {
			t.Fatalf("%q: %d records, %v", s, len(records), err)
		}
		tabs := line(t, LineOptions{Style: Style{Format: TSV}}, c)
		if strings.Contains(tabs, "\n") {
			t.Fatalf("%q: more than a line", s)
		}
		for f, record := range map[Format][]string{CSV: records[0], TSV: strings.Split(tabs, "\t")} {
			if len(record) != callCells {
				t.Fatalf("%v of %q: %d cells, want %d", f, s, len(record), callCells)
			}
			for _, cell := range record {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("%v of %q: cell %q is a formula", f, s, cell)
				}
			}
			want := []string{"2024-02-29T12:00:00.123456789Z", string(appendCell(nil, TSV, s)), "1", "4711", "4712", "1", "0", "12300", "return"}
			if !slices.Equal(record[:9], want) {
				t.Errorf("%v of %q: cells %q, want %q", f, s, record[:9], want)
			}
			checkBack(t, []byte(record[9]), s)
			if record[10] != results {
				t.Errorf("%v of %q: results %s, want %s", f, s, record[10], results)
			}
		}
	}
}

// TestHostileNames checks names of functions, types and variables, and reasons, because the binary contains them.
func TestHostileNames(t *testing.T) {
	format, err := ParseCallFormat("%s %v %q", []string{"func", "i", "func"})
	fixture.NoError(t, err)
	for _, s := range hostileValues {
		i := madeup.Named("i", madeup.Interface("any", madeup.Num("int", 3)))
		i.Dynamic = s
		bytesOf := madeup.ByteSlice("x", 1, 1)
		bytesOf.Type.Name = s
		why := madeup.Unreadable(s)
		why.Name = s
		f := capture.Value{Type: madeup.Typed(s, reflect.Func, 8), Num: 1, Dynamic: s}
		c := Line{
			Time: callStart, Function: s, Thread: Thread{Goid: 1}, End: "return", ArgsNote: s,
			Args:    []capture.Value{i, why, madeup.Unfetched(s), bytesOf, f, madeup.Struct(s, madeup.Named(s, madeup.Num("int", 1)), madeup.Named(s, madeup.Num("int", 2)))},
			Results: []capture.Value{why},
		}
		for _, o := range []LineOptions{{}, {Template: format}, {Style: Style{Format: JSON}}, {Style: Style{Format: CSV}}, {Style: Style{Format: TSV}}} {
			text := line(t, o, c)
			if o.Format == TSV {
				text = strings.ReplaceAll(text, "\t", "")
			}
			checkPrintable(t, text)
			if o.Format == JSON && !json.Valid([]byte(text)) {
				t.Errorf("no JSON: %s", text)
			}
		}
	}
}

// FuzzValue checks that a string as text and JSON stays on one line and loses nothing.
func FuzzValue(f *testing.F) {
	for _, s := range hostileValues {
		if len(s) < 1<<10 {
			f.Add(s, uint8(0))
			f.Add(s, uint8(7))
		}
	}
	f.Fuzz(func(t *testing.T, s string, more uint8) {
		v := madeup.CutStr(s, int64(len(s))+int64(more))
		text := v.Text()
		checkPrintable(t, text)
		quoted, err := strconv.QuotedPrefix(text)
		fixture.NoError(t, err)
		back, err := strconv.Unquote(quoted)
		if err != nil || !strings.HasPrefix(s, back) || more == 0 && back != s || len(s)-len(back) >= utf8.UTFMax {
			t.Fatalf("%q became %s, %v", s, text, err)
		}
		tail := ""
		if missing := len(s) + int(more) - len(back); missing > 0 {
			tail = "…+" + strconv.Itoa(missing)
		}
		if text != quoted+tail {
			t.Fatalf("%q became %s, want %s at the end", s, text, tail)
		}
		asJSON := v.AppendJSON(nil)
		checkPrintable(t, string(asJSON))
		if !json.Valid(asJSON) {
			t.Fatalf("no JSON: %s", asJSON)
		}
		if more == 0 {
			if got := stringBack(t, asJSON); got != s {
				t.Fatalf("%q became %q", s, got)
			}
		}
	})
}
