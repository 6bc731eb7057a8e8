package render

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
)

// golden compares what write writes with testdata/NAME.golden, or rewrites that
// with FTGO_UPDATE=1.
func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	fixture.NoError(t, write(&got))
	if schema.IsLines(got.String()) {
		if err := schema.Check(got.String()); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("FTGO_UPDATE") == "1" {
		fixture.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	fixture.NoError(t, err)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", path, got.Bytes(), want)
	}
}

func histogram(values ...int64) *stats.Histogram {
	h := new(stats.Histogram)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// spread records n latencies from lo on, each a little longer than the last.
func spread(n int, lo int64) *stats.Histogram {
	h := new(stats.Histogram)
	for range n {
		h.Record(lo)
		lo += lo/10 + 1
	}
	return h
}

// ordinary is a run without losses.
func ordinary() []stats.Func {
	return []stats.Func{
		{Name: "main.(*Store).Get", Calls: 15501, Completed: 15501, Latency: spread(60, 812), Seconds: 10},
		{Name: "main.fib", Calls: 23, Completed: 23, Latency: spread(23, 95), Seconds: 10},
		{Name: "net/http.(*conn).serve", Calls: 7, Completed: 7, Latency: spread(7, 3e9), Seconds: 10},
		{Name: "main.once", Calls: 1, Completed: 1, Latency: histogram(4350), Seconds: 10},
		{Name: "main.never", Latency: histogram(), Seconds: 10},
	}
}

// valued are rows of values, the last of which is of another function if several are wanted.
func valued(several bool) []stats.Func {
	amounts := func(values ...int64) *stats.Amounts { return &stats.Amounts{Histogram: *histogram(values...)} }
	rows := []stats.Func{
		{Value: "/api/users/1234/orders/5678/lines?page=12&size=100", Calls: 120, Completed: 120, Latency: spread(120, 800), Amounts: amounts(1_500_000, 2_500_000)},
		{Value: "\x1b[31m\n=1+1", Calls: 7, Completed: 7, Latency: spread(7, 3e9), Missed: 3, Amounts: amounts(4, 5, 6)},
		{Value: "nil pointer", Kind: stats.NoValue, Calls: 2, Completed: 2, Latency: spread(2, 50), Amounts: &stats.Amounts{Left: 2}},
		{Kind: stats.Others, Calls: 1000, Completed: 999, Unwound: 1, Latency: spread(100, 95), Amounts: amounts(1, 2, 3)},
	}
	for i := range rows {
		rows[i].Name = "net/http.serverHandler.ServeHTTP"
		if several && i > 0 {
			rows[i].Name, rows[i].Func = "main.handle", 1
		}
	}
	return rows
}

// eventful is a run with everything that can go wrong.
func eventful() []stats.Func {
	return []stats.Func{
		{Name: "main.hot", Calls: 450000, Completed: 252220, Lost: 197780, Latency: spread(90, 300), Seconds: 10},
		{Name: "main.(*Parser).MustParse", Calls: 101, Completed: 98, Unwound: 3, Latency: spread(98, 1000), Seconds: 10},
		{Name: "main.serve", Calls: 2, Open: 2, Latency: histogram(), Seconds: 10},
		{Name: "main.exit", Calls: 1, Note: "entry only: no return site", Latency: histogram(), Seconds: 10},
	}
}

// extreme has the longest numbers, names of 30 columns, and every column.
func extreme() []stats.Func {
	const trillion = 1_000_000_000_000
	long := histogram(999, 3_600_000_000_000, 9_999_499_999_999, 90_000_000_000_000)
	return []stats.Func{
		{Name: "github.com/a/pkg.(*Type).Do30c", Calls: trillion, Completed: trillion, Latency: long, Seconds: 1000.1},
		{Name: "github.com/a/b/c/pkg.(*VeryLongTypeName).VeryLongMethodName", Calls: trillion,
			Unwound: trillion, Open: trillion, Lost: trillion, Latency: long, Seconds: 8.1e6},
		{Name: "main.Map[go.shape.int,go.shape.string]", Calls: 1, Latency: histogram(4350, 4350, 4351, 12345678)},
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
