package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/testdata/madeup"
)

func TestParseFormat(t *testing.T) {
	for _, f := range []Format{Table, JSON, CSV, TSV} {
		if got, err := ParseFormat(f.String()); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %v, %v", f.String(), got, err)
		}
	}
	for _, name := range []string{"", "JSON", "xml", "\x1b"} {
		_, err := ParseFormat(name)
		if err == nil {
			t.Errorf("ParseFormat(%q) succeeded", name)
			continue
		}
		if message := err.Error(); !strings.Contains(message, "table, json, csv, tsv") || strings.Contains(message, "\x1b") {
			t.Errorf("ParseFormat(%q): error %q does not name the known formats safely", name, message)
		}
	}
}

// all calls f with the output of everything that writes text, given these names.
func all(t *testing.T, names []string, f func(what, text string)) {
	var rows []stats.Func
	var list []target.Row
	var skipped []stats.Skipped
	for _, name := range names {
		rows = append(rows, stats.Func{Name: name, Calls: 3, Completed: 2, Lost: 1, Note: name, Latency: histogram(812, 4350)})
		list = append(list, target.Row{Name: name, ABI: name, Entry: name, Note: name})
		skipped = append(skipped, stats.Skipped{Function: name, Reason: name})
	}
	run := func(what string, write func(io.Writer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		f(what, b.String())
		if err := write(brokenWriter{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: error of a broken writer = %v", what, err)
		}
	}
	for _, format := range []Format{Table, JSON, CSV, TSV} {
		run("functions "+format.String(), func(w io.Writer) error {
			return Functions(w, rows, Options{Format: format, Latency: true, Width: 80})
		})
		run("list "+format.String(), func(w io.Writer) error { return List(w, list, Options{Format: format, Width: 80}) })
	}
	run("summary", func(w io.Writer) error { return SummaryJSON(w, stats.Summary{Skipped: skipped}, nil) })
	run("histograms", func(w io.Writer) error { return Histograms(w, rows, Options{Hist: true}) })
	for i := range skipped {
		run("footer", func(w io.Writer) error {
			return Footer(w, rows[i:], stats.Summary{Hits: 1, LatencyMeasured: true, Clock: names[i], Skipped: skipped[i:]})
		})
	}
}

// TestHostileRows: names cannot control a terminal, and one with a newline makes no row
// of its own.
func TestHostileRows(t *testing.T) {
	all(t, madeup.HostileNames, func(what, text string) {
		if !utf8.ValidString(text) {
			t.Errorf("%s: invalid UTF-8 in %q", what, text)
		}
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) && !(r == '\t' && strings.HasSuffix(what, "tsv")) {
				t.Errorf("%s: %U in %q", what, r, text)
				return
			}
		}
		lines, want := strings.Count(text, "\n"), len(madeup.HostileNames)
		switch what {
		case "functions table", "functions csv", "functions tsv", "list table", "list csv", "list tsv":
			want++
		case "summary":
			want = 1
		case "histograms", "footer":
			return
		}
		if lines != want {
			t.Errorf("%s: %d lines, want %d:\n%s", what, lines, want, text)
		}
		if what == "summary" || strings.HasSuffix(what, "json") {
			for line := range strings.Lines(text) {
				validJSON(t, line)
			}
		}
	})
}
