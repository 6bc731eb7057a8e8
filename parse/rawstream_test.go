package parse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
)

// rawSource gives the pages of some passes, and then an error.
type rawSource struct {
	formats []string
	passes  [][]recordedPage
	err     error
}

func (s *rawSource) Read(context.Context, []byte) (int, error) {
	return 0, errors.New("text was read")
}

func (s *rawSource) Formats() ([]string, error) { return s.formats, nil }

func (s *rawSource) Process(tid, printed int) int { return tid - 2 + printed }

func (s *rawSource) ReadPages(_ context.Context, page func(int, []byte)) (n int, err error) {
	if len(s.passes) == 0 {
		return 0, s.err
	}
	for _, p := range s.passes[0] {
		page(p.cpu, p.page)
		n++
	}
	s.passes = s.passes[1:]
	return n, nil
}

// rawPlan describes raw records of testPlan's events, and makes them: of thread 9, the
// words being the address and the arguments.
func rawPlan(tb testing.TB) (formats []string, hit func(event int, words ...uint64) []byte) {
	tb.Helper()
	plan := testPlan()
	for i := range plan.Events {
		text := fmt.Sprintf("ID: %d\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"+
			"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n", 100+i)
		for k, a := range plan.Events[i].Args {
			text += fmt.Sprintf("\tfield:s64 %s;\toffset:%d;\tsize:8;\tsigned:1;\n", a.Name, 16+8*k)
		}
		formats = append(formats, text)
	}
	return formats, func(event int, words ...uint64) []byte {
		b := append(word(uint32(2+2*len(words)), 0), byte(100+event), 0, 0, 0, 9, 0, 0, 0)
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
}

// TestRawStream makes calls of pages of two CPUs: the goroutine moves while it is in one.
func TestRawStream(t *testing.T) {
	formats, hit := rawPlan(t)
	args := func(addr, depth uint64, more ...uint64) []uint64 {
		return append([]uint64{addr, 1048576 - depth, 49152, 1048576, 1015808}, more...)
	}
	entry, end := hit(0, args(0x1000, 100, 1)...), hit(2, args(0x3000, 100)...)
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		passes [][]recordedPage
		err    error
		want   []string
	}{
		{"end seen first", [][]recordedPage{
			{{0, nil}, {1, page(30, 0, end)}, {1, nil}},
			{{0, page(10, 0, entry)}, {0, nil}, {1, nil}},
			{{0, nil}, {1, nil}},
		}, io.EOF, []string{"f 7 10-30 return"}},
		{"what was held back at the end", [][]recordedPage{{{0, page(10, 0, entry)}, {1, page(30, 0, end)}}}, io.EOF, []string{"f 7 10-30 return"}},
		{"error", [][]recordedPage{{{0, page(10, 0, entry)}, {0, nil}}}, broken, []string{"f 7 10-0 open", "broken"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := testPlan()
			var got []string
			for call, err := range Calls(t.Context(), &rawSource{formats, c.passes, c.err}, plan) {
				if err != nil {
					got = append(got, err.Error())
					continue
				}
				got = append(got, fmt.Sprintf("%s %d %d-%d %v", plan.Funcs[call.Func].Name, call.PID, call.Start, call.End, call.Outcome))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	for _, err := range Calls(t.Context(), &rawSource{formats: formats[:1]}, testPlan()) {
		if err == nil {
			t.Error("formats of other events were taken")
		}
	}
}
