package render

import (
	"strings"
	"testing"
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
