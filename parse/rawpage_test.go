package parse

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

const rawDir = "../testdata/raw/"

// recordedFormats are the events of the recorded pages.
var recordedFormats = []Format{{
	Event: "ftgo_entry_0_5f3a9c1d",
	Args:  []string{"n", "b", "c", "h", "i", "w", "v", "q", "a", "d", "e"},
	Len:   []int{0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 3},
}}

type recordedPage struct {
	cpu  int
	page []byte
}

func readRaw(tb testing.TB, name string) (*formats, []recordedPage) {
	tb.Helper()
	formats, err := newFormats(recordedFormats, []string{string(readFile(tb, rawDir+name+".format"))})
	if err != nil {
		tb.Fatal(err)
	}
	const size = 4096
	var pages []recordedPage
	for b := readFile(tb, rawDir+name+".pages"); len(b) > size; b = b[1+size:] {
		pages = append(pages, recordedPage{int(b[0]), b[1 : 1+size]})
	}
	if len(pages) == 0 {
		tb.Fatalf("no page in %s", name)
	}
	return formats, pages
}

// TestRawPages compares recorded pages with what the kernel itself made text of.
func TestRawPages(t *testing.T) {
	for _, name := range []string{"types", "pauses", "lost"} {
		t.Run(name, func(t *testing.T) {
			lines, err := newFormats(recordedFormats, nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			var ev Event
			for line := range strings.Lines(string(readFile(t, rawDir+name+".trace"))) {
				switch kind := lines.parse([]byte(strings.TrimSuffix(line, "\n")), &ev); kind {
				case unreadable:
					t.Fatalf("line %q", line)
				case eventLine:
					ev.PID = 0 // records hold no process
					want = append(want, fmt.Sprint(ev))
				}
			}
			if len(want) == 0 {
				t.Fatal("no event in the text")
			}
			formats, pages := readRaw(t, name)
			var got []string
			for _, p := range pages {
				raw := formats.page(p.cpu, p.page)
				for ok, more := raw.next(&ev); more; ok, more = raw.next(&ev) {
					if !ok {
						t.Error("a record that can't be read")
					}
					got = append(got, fmt.Sprint(ev))
				}
			}
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("events\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// tinyFormat is an event with one value.
const tinyFormat = `name: tiny
ID: 7
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;
	field:u64 x;	offset:16;	size:8;	signed:0;
`

func tiny(tb testing.TB) *formats {
	formats, err := newFormats([]Format{{Event: "tiny_5f3a9c1d0000", Args: []string{"x"}}}, []string{tinyFormat})
	if err != nil {
		tb.Fatal(err)
	}
	return formats
}

// word is the first of a record.
func word(kind, delta uint32) []byte {
	return binary.LittleEndian.AppendUint32(nil, kind|delta<<5)
}

// hit is a record of the tiny event.
func hit(id uint16, delta uint32, tid uint32, x uint64) []byte {
	b := word(6, delta)
	b = binary.LittleEndian.AppendUint16(b, id)
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, tid)
	b = binary.LittleEndian.AppendUint64(b, 0x401000)
	return binary.LittleEndian.AppendUint64(b, x)
}

// page joins records to a page.
func page(stamp, flags uint64, records ...[]byte) []byte {
	var data []byte
	for _, r := range records {
		data = append(data, r...)
	}
	b := binary.LittleEndian.AppendUint64(nil, stamp)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data))|flags)
	return append(b, data...)
}

func tell(formats *formats, cpu int, page []byte) string {
	var words []string
	var ev Event
	raw := formats.page(cpu, page)
	for ok, more := raw.next(&ev); more; ok, more = raw.next(&ev) {
		word := "bad"
		if ok {
			word = fmt.Sprintf("%d@%d", ev.Args[0], ev.Time)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestRawPage(t *testing.T) {
	join := func(b ...[]byte) (all []byte) {
		for _, s := range b {
			all = append(all, s...)
		}
		return all
	}
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	one := hit(7, 5, 9, 1)
	for _, c := range []struct {
		name string
		page []byte
		want string
	}{
		{"empty", page(100, 0), ""},
		{"deltas add up", page(100, 0, one, hit(7, 6, 9, 2)), "1@105, 2@111"},
		{"long data", page(100, 0, join(word(0, 5), number(4+24), one[4:])), "1@105"},
		{"time extend", page(100, 0, join(word(rawTimeExtend, 3), number(2)), one), fmt.Sprintf("1@%d", 100+3+2<<27+5)},
		{"time stamp", page(100, 0, join(word(rawTimeStamp, 3), number(2)), one), fmt.Sprintf("1@%d", 3+2<<27+5)},
		{"time stamp takes the top bits", page(1<<60+100, 0, join(word(rawTimeStamp, 3), number(2)), one), fmt.Sprintf("1@%d", 1<<60+3+2<<27+5)},
		{"time stamp that has wrapped", page(1<<60-1, 0, join(word(rawTimeStamp, 3), number(2)), one), fmt.Sprintf("1@%d", 1<<60+3+2<<27+5)},
		{"rest is padding", page(100, 0, one, word(rawPadding, 0), one), "1@105"},
		{"dropped event", page(100, 0, join(word(rawPadding, 7), number(8), number(0)), one), "1@112"},
		{"unknown event", page(100, 0, hit(8, 5, 9, 1), hit(7, 6, 9, 2)), "bad, 2@111"},
		{"no thread", page(100, 0, hit(7, 5, 1<<31, 1)), "bad"},
		{"lost", append(page(100, rawMissed|rawMissedStored, one), 12, 0, 0, 0, 0, 0, 0, 0), "1@105"},
		{"lost, uncounted", page(100, rawMissed, one), "1@105"},
		{"no room for a header", make([]byte, 15), "bad"},
		{"more committed than there is", page(100, 1<<13, one), "bad"},
		{"record beyond the end", page(100, 0, one, word(6, 5)), "1@105, bad"},
		{"long data beyond the end", page(100, 0, one, word(0, 5), number(1<<31)), "1@105, bad"},
		{"long data without its own length", page(100, 0, one, word(0, 5), number(3)), "1@105, bad"},
		{"time extend cut off", page(100, 0, one, word(rawTimeExtend, 5)), "1@105, bad"},
		{"half a word", page(100, 0, one, []byte{1, 2}), "1@105, bad"},
		{"record shorter than its fields", page(100, 0, join(word(2, 5), one[4:12]), one), "bad, 1@110"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tell(tiny(t), 3, c.page); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRawFormatErrors(t *testing.T) {
	tinyArgs := []Format{{Event: "tiny_5f3a9c1d0000", Args: []string{"x"}}}
	for _, c := range []struct {
		name    string
		formats []Format
		old     string
		new     string
		want    string
	}{
		{"no ID", tinyArgs, "ID: 7", "", "no ID"},
		{"ID too large", tinyArgs, "ID: 7", "ID: 65536", "out of range"},
		{"no such field", []Format{{Event: "tiny_5f3a9c1d0000", Args: []string{"y"}}}, "", "", `no field "y"`},
		{"no process", tinyArgs, "common_pid", "common_tgid", `no field "common_pid"`},
		{"type elsewhere", tinyArgs, "offset:0", "offset:2", "common_type"},
		{"strange size", tinyArgs, "offset:16;\tsize:8", "offset:16;\tsize:3", `field "x"`},
		{"array of another length", []Format{{Event: "tiny_5f3a9c1d0000", Args: []string{"x"}, Len: []int{3}}}, "", "", `field "x"`},
		{"string", tinyArgs, "u64 x", "__data_loc char[] x", "not a number"},
		{"offset beyond any page", tinyArgs, "offset:16", "offset:1000000", "does not describe"},
		{"negative offset", tinyArgs, "offset:16", "offset:-1", "-1"},
		{"no name", tinyArgs, "u64 x", "u64 7x", "does not describe"},
		{"more events than texts", append(tinyArgs, tinyArgs...), "", "", "1 texts for 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := tinyFormat
			if c.old != "" {
				text = strings.Replace(text, c.old, c.new, 1)
			}
			if _, err := newFormats(c.formats, []string{text}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := newFormats(append(tinyArgs, Format{Event: "other_5f3a9c1d000"}), []string{tinyFormat, tinyFormat}); err == nil || !strings.Contains(err.Error(), "ID 7") {
		t.Errorf("two events with one ID: %v", err)
	}
}

// FuzzRawPage reads anything as a page.
func FuzzRawPage(f *testing.F) {
	var formats *formats
	for _, name := range []string{"types", "pauses", "lost"} {
		var pages []recordedPage
		formats, pages = readRaw(f, name)
		for _, p := range pages {
			f.Add(p.page)
		}
	}
	f.Add(page(1, rawMissed, word(rawPadding, 9)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var ev Event
		records := 0
		raw := formats.page(1, b)
		last := raw.last()
		for ok, more := raw.next(&ev); more; ok, more = raw.next(&ev) {
			records++
			if ok && (len(ev.Args) != 18 || ev.TID < 0 || ev.CPU != 1 || ev.Format != 0) {
				t.Fatalf("event %+v", ev)
			}
		}
		if records > len(b)/4+2 {
			t.Errorf("%d records in %d bytes", records, len(b))
		}
		if raw.time != last {
			t.Errorf("the last record is of %d, foretold %d", raw.time, last)
		}
		if _, more := raw.next(&ev); more {
			t.Error("a record behind the last")
		}
	})
}
