package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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

// tinyEvents are the tiny event.
func tinyEvents() []Format {
	return []Format{{Event: "tiny_0123456789abcdef", Args: []string{"x"}}}
}

// TestReaderOfPages reads pages of two CPUs.
func TestReaderOfPages(t *testing.T) {
	earlier, later := page(10, 0, hit(7, 0, 9, 1)), page(30, 0, hit(7, 0, 9, 2))
	for _, c := range []struct {
		name   string
		passes [][]recordedPage
		want   string
	}{
		{"later one seen first", [][]recordedPage{
			{{0, nil}, {1, later}, {1, nil}},
			{{0, earlier}, {0, nil}, {1, nil}},
			{{0, nil}, {1, nil}},
		}, "1@10 2@30"},
		{"what was held back at the end", [][]recordedPage{{{0, earlier}, {1, later}}}, "1@10 2@30"},
	} {
		var got []string
		take := func(ev *Event) { got = append(got, fmt.Sprintf("%d@%d", ev.Args[0], ev.Time)) }
		r, err := NewReader(tinyEvents(), &rawSource{[]string{tinyFormat}, c.passes, io.EOF}, nil)
		for err == nil {
			_, err = r.Read(t.Context(), take)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		r.Finish(take)
		if hits, kernel := r.Unparsed(); hits+kernel != 0 {
			t.Errorf("%s: %d unparsed", c.name, hits+kernel)
		}
		if s := strings.Join(got, " "); s != c.want || !r.Settled() {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	if _, err := NewReader(tinyEvents(), &rawSource{formats: []string{"ID: 7"}}, nil); err == nil {
		t.Error("the format of another event was taken")
	}
}

// textSource gives a text again and again.
type textSource string

func (s textSource) Read(_ context.Context, buf []byte) (int, error) { return copy(buf, s), nil }

// TestReaderAllocatesNothing: lines of all kinds, cut at the end of a read, and out of order.
func TestReaderAllocatesNothing(t *testing.T) {
	const worker = "   my worker-5716    (   5743) [000] DBZff %s: ftgo_entry_0_5f3a9c1d: (0x48bc4e) g=1 id=1 n=-1 sp=0x2c6364190f00 w={0x48bfec,0x0}\n"
	text := typical[40:] + "\n" + typical + "\n" + strings.Replace(worker, "%s", "64725374051000", 1) + strings.Replace(worker, "%s", "7", 1) + typical +
		"\nCPU:1 [LOST 123 EVENTS]\n =>  <000000000048bc4e>\n# tracer: nop\n\nno line of ours\n" + typical[:40]
	r, err := NewReader(traceFormats, textSource(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	take := func(*Event) { events++ }
	read := func() {
		if _, err := r.Read(t.Context(), take); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		read()
	}
	if n := testing.AllocsPerRun(100, read); n != 0 || events < 4*100 {
		t.Errorf("%v allocations a read, %d events", n, events)
	}
}
