package parse

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// mixedFormat has a field of every shape.
const mixedFormat = `name: mixed
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:char comm[8];	offset:12;	size:8;	signed:0;
	field:pid_t next_pid;	offset:20;	size:4;	signed:1;
	field:const char * buf;	offset:24;	size:8;	signed:0;
	field:__data_loc char[] cmd;	offset:32;	size:4;	signed:0;
	field:__u8 addr[4];	offset:36;	size:4;	signed:0;
	field:__rel_loc char[] rel;	offset:40;	size:4;	signed:0;
	field:__data_loc unsigned long[] regs;	offset:44;	size:4;	signed:0;
	field:u16 small;	offset:48;	size:2;	signed:0;
`

// mixedRecord is a record of the event, from a thread.
func mixedRecord(tid uint32) []byte {
	b := make([]byte, 50, 64)
	binary.LittleEndian.PutUint16(b, 372)
	binary.LittleEndian.PutUint32(b[4:], tid)
	copy(b[12:], "a b=\n\x00xx")
	binary.LittleEndian.PutUint32(b[20:], ^uint32(0))
	binary.LittleEndian.PutUint64(b[24:], 0xc000012345)
	binary.LittleEndian.PutUint32(b[32:], 4<<16|50)
	copy(b[36:], "\x7f\x00\x00\x01")
	binary.LittleEndian.PutUint32(b[40:], 3<<16|(54-44))
	binary.LittleEndian.PutUint32(b[44:], 9<<16|50) // beyond the record
	binary.LittleEndian.PutUint16(b[48:], 65535)
	return append(b, "cmd\x00re\x00\x00"...)
}

func TestFieldsOfKernelEvents(t *testing.T) {
	k, err := newKernelFormats([]string{mixedFormat})
	if err != nil {
		t.Fatal(err)
	}
	var ev Event
	if !k.decode(mixedRecord(77), &ev) || ev.TID != 77 || ev.Format != 0 {
		t.Fatalf("event %+v", ev)
	}
	var got []string
	for _, f := range ev.Fields() {
		got = append(got, f.Name+"="+f.String())
	}
	want := `comm="a b=\n" next_pid=-1 buf=0xc000012345 cmd="cmd" addr=7f000001 rel="re" regs= small=65535`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("fields\n%s\nwant\n%s", s, want)
	}
	if _, err := newKernelFormats([]string{mixedFormat, mixedFormat}); err == nil || !strings.Contains(err.Error(), `kernel event "mixed": ID 372`) {
		t.Errorf("two events of one ID: %v", err)
	}
	for n := range 50 {
		if k.decode(mixedRecord(77)[:n], &ev) {
			t.Errorf("%d bytes of a record are read", n)
		}
	}
}

// FuzzFields: whatever the kernel says of a record, and whatever is in it, nothing is
// read outside of it, and what is printed is one line.
func FuzzFields(f *testing.F) {
	f.Add(mixedFormat, mixedRecord(1))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		k, err := newKernelFormats([]string{text})
		if err != nil {
			return
		}
		var ev Event
		if !k.decode(data, &ev) {
			return
		}
		for _, field := range ev.Fields() {
			if s := field.String(); strings.ContainsAny(s, "\n\r\x1b") {
				t.Errorf("%q", s)
			}
		}
	})
}

// TestKernelMerge: each word is "hTIME", a hit that was read, or "kTIME", a kernel event;
// "h-" finds no hit, and "|" ends a read of both. In what comes out "$" is the end.
func TestMergeOfKernelEvents(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"nothing", "h- |", "| $"},
		{"hits alone wait for the pass", "h5 h7 |", "h5 h7 | $"},
		{"events alone", "k5 h- | h- |", "| k5 | $"},
		{"in order of time", "h5 k3 k6 h9 k12 |", "k3 h5 k6 h9 | k12 $"},
		{"a hit that comes late", "k3 h- | h2 k9 | h- |", "| h2 | k3 k9 | $"},
		{"at the same time the hit comes first", "k5 h5 |", "h5 k5 | $"},
		{"the end", "k7 h3", "h3 k7 $"},
		{"the clock begins anew", "h50 k60 h- | h- | h5 k6 h- | h7 |", "h50 | k60 | h5 k6 | h7 | $"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			m := &merge{}
			take := func(ev *Event) {
				got = append(got, fmt.Sprint(map[bool]string{false: "h", true: "k"}[ev.Kernel], ev.Time))
			}
			kernel, err := newKernelFormats([]string{tinyFormat})
			if err != nil {
				t.Fatal(err)
			}
			text, events := (&side{merge: m}).queue(), &side{merge: m, formats: kernel}
			events.add(0, nil)
			for w := range strings.FieldsSeq(c.in) {
				var at uint64
				fmt.Sscanf(w[1:], "%d", &at)
				switch {
				case w == "|":
					m.bound = m.latest
					events.add(0, nil)
					m.pass(take)
					got = append(got, w)
				case w == "h-":
					text.empty()
				case w[0] == 'h':
					text.push(&Event{Time: at})
				default:
					events.add(0, page(at-1, 0, hit(7, 1, 9, at)))
				}
			}
			m.release(^uint64(0), take)
			if s := strings.Join(append(got, "$"), " "); s != c.out {
				t.Errorf("came out as %s, want %s", s, c.out)
			}
		})
	}
}
