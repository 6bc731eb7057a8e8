package parse

import (
	"encoding/binary"
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
	k, err := newFormats(nil, []string{mixedFormat})
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
	if _, err := newFormats(nil, []string{mixedFormat, mixedFormat}); err == nil || !strings.Contains(err.Error(), `event "mixed": ID 372`) {
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
		k, err := newFormats(nil, []string{text})
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
