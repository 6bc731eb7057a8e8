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
