package parse

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// pieces is all that a splitter makes of a stream.
type pieces struct {
	Lines   []string
	Rest    string
	Dropped int
}

func (p pieces) String() string {
	return fmt.Sprintf("lines %q rest %q dropped %d", p.Lines, p.Rest, p.Dropped)
}

func (p pieces) equal(q pieces) bool { return reflect.DeepEqual(p, q) }

func splitWhole(text []byte) pieces { return splitChunks(text, max(len(text), 1)) }

func splitChunks(text []byte, size int) pieces {
	return splitAll(slices.Collect(slices.Chunk(text, size)))
}

// splitAll spoils the room after use, as the next read into it does.
func splitAll(chunks [][]byte) pieces {
	var (
		s splitter
		p pieces
	)
	for _, chunk := range chunks {
		for part := range slices.Chunk(chunk, maxLine) {
			s.feed(copy(s.room(), part), func(line []byte) { p.Lines = append(p.Lines, string(line)) })
			for i := range s.room() {
				s.room()[i] = '!'
			}
		}
	}
	p.Rest, p.Dropped = string(s.rest()), s.dropped
	return p
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, test := range []struct {
		name   string
		chunks []string
		want   pieces
	}{
		{"nothing", nil, pieces{}},
		{"empty chunk", []string{""}, pieces{}},
		{"whole lines", []string{"a\nb\n", "c\n"}, pieces{Lines: []string{"a", "b", "c"}}},
		{"line over chunks", []string{"a", "b", "c\nd"}, pieces{Lines: []string{"abc"}, Rest: "d"}},
		{"newline alone in a chunk", []string{"a", "\n", "\n"}, pieces{Lines: []string{"a", ""}}},
		{"carriage return kept", []string{"a\r\n"}, pieces{Lines: []string{"a\r"}}},
		{"longest line", []string{long + "\na\n"}, pieces{Lines: []string{long, "a"}}},
		{"longest line over chunks", []string{long[1:], "x", "\na\n"}, pieces{Lines: []string{long, "a"}}},
		{"too long in a chunk", []string{"a\n" + long + "x\nb\n"}, pieces{Lines: []string{"a", "b"}, Dropped: 1}},
		{"too long over chunks", []string{"a\nx", long, "tail", "\nb\n"}, pieces{Lines: []string{"a", "b"}, Dropped: 1}},
		{"too long at its newline", []string{long, "x\nb\n"}, pieces{Lines: []string{"b"}, Dropped: 1}},
		{"too long and unfinished", []string{long, "x", "y"}, pieces{Dropped: 1}},
		{"two too long", []string{long, "x\n" + long, "x\nb"}, pieces{Rest: "b", Dropped: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var chunks [][]byte
			for _, chunk := range test.chunks {
				chunks = append(chunks, []byte(chunk))
			}
			if got := splitAll(chunks); !got.equal(test.want) {
				t.Errorf("%.300v, want %.300v", got, test.want)
			}
		})
	}
}

func TestSplitterAllocatesNothing(t *testing.T) {
	var s splitter
	chunk := []byte("of a line\nwhole line\nbeginning ")
	lines := 0
	n := testing.AllocsPerRun(100, func() {
		s.feed(copy(s.room(), chunk), func([]byte) { lines++ })
	})
	if n != 0 || lines == 0 {
		t.Errorf("%v allocations a chunk, %d lines", n, lines)
	}
}

func BenchmarkSplitter(b *testing.B) {
	chunk := bytes.Repeat([]byte(typical+"\n"), 50)
	var s splitter
	lines := 0
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		s.feed(copy(s.room(), chunk), func([]byte) { lines++ })
	}
	b.ReportMetric(float64(lines)/float64(b.N), "lines/op")
}
