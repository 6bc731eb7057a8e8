package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
)

// schemaKey is a key of an object with its schema.
type schemaKey struct {
	name string
	keySchema
}

// keySchema is what docs/schema says of a key.
type keySchema struct {
	Title       string
	Description string
	Type        any
	Properties  schemaKeys
	Required    []string
	Closed      any        `json:"additionalProperties"`
	Items       *keySchema `json:"items"`
}

// schemaKeys are in the order of the file.
type schemaKeys []schemaKey

func (m *schemaKeys) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		one := schemaKey{name: name.(string)}
		if err := d.Decode(&one.keySchema); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

// rows are the keys of an object and of what is in it, as rows of a table.
func (k *keySchema) rows(t *testing.T, prefix string) (rows []string) {
	if k.Closed != false {
		t.Errorf("%s of %q: additionalProperties is not false", prefix, k.Title)
	}
	for _, m := range k.Properties {
		if m.Description == "" {
			t.Errorf("%s%s of %q has no description", prefix, m.name, k.Title)
		}
		about := m.Description
		if !slices.Contains(k.Required, m.name) {
			about = "(may be absent) " + about
		}
		rows = append(rows, fmt.Sprintf("| `%s%s` | %s |", prefix, m.name, about))
		if len(m.Properties) > 0 {
			rows = append(rows, m.rows(t, prefix+m.name+".")...)
		}
		if m.Items != nil && len(m.Items.Properties) > 0 {
			rows = append(rows, m.Items.rows(t, prefix+m.name+"[].")...)
		}
	}
	return rows
}

const (
	keysBegin = "<!-- Written by FTGO_UPDATE=1 go test -run TestFormatsKeys ./cmd/ftgo, from docs/schema. -->\n"
	keysEnd   = "<!-- End of the generated part. -->\n"
)

// TestFormatsKeys: docs/formats.md has all keys of docs/schema with their descriptions.
// FTGO_UPDATE=1 writes them.
func TestFormatsKeys(t *testing.T) {
	if _, err := schema.Named("line"); err != nil {
		t.Fatal(err)
	}
	b := readFile(t, filepath.Join(schema.Dir(), "line.json"))
	var line struct {
		OneOf []struct {
			Ref string `json:"$ref"`
		}
	}
	noError(t, json.Unmarshal([]byte(b), &line))
	known := []string{"line.json", "value.json"}
	var text strings.Builder
	for _, one := range line.OneOf {
		known = append(known, one.Ref)
		b := readFile(t, filepath.Join(schema.Dir(), one.Ref))
		var s keySchema
		noError(t, json.Unmarshal([]byte(b), &s))
		name := strings.TrimSuffix(one.Ref, ".json")
		fmt.Fprintf(&text, "### %s\n\n%s ([schema](schema/%s)):\n\n| key | is |\n|---|---|\n%s\n\n",
			strings.ToUpper(name[:1])+strings.ReplaceAll(name[1:], "-", " "), strings.ToUpper(s.Title[:1])+s.Title[1:], one.Ref, strings.Join(s.rows(t, ""), "\n"))
	}
	files, err := os.ReadDir(schema.Dir())
	noError(t, err)
	for _, f := range files {
		if !slices.Contains(known, f.Name()) {
			t.Errorf("line.json does not lead to %s", f.Name())
		}
	}
	page := filepath.Join(fixture.Root(), "docs", "formats.md")
	b = readFile(t, page)
	before, rest, found := strings.Cut(b, keysBegin)
	got, after, ended := strings.Cut(rest, keysEnd)
	if !found || !ended {
		t.Fatalf("%s has no place for keys:\n%s%s", page, keysBegin, keysEnd)
	}
	want := "\n" + text.String()
	if got == want {
		return
	}
	if os.Getenv("FTGO_UPDATE") == "" {
		t.Fatalf("%s says\n%s\ndocs/schema makes it (FTGO_UPDATE=1)\n%s", page, got, want)
	}
	fixture.Write(t, page, before+keysBegin+want+keysEnd+after)
}

// TestFormatsColumns: docs/formats.md has the headers of CSV.
func TestFormatsColumns(t *testing.T) {
	b := readFile(t, filepath.Join(fixture.Root(), "docs", "formats.md"))
	var header bytes.Buffer
	for name, write := range map[string]func() error{
		"probe": func() error {
			return render.Functions(&header, nil, render.RowOptions{Style: render.Style{Format: render.CSV}, Latency: true})
		},
		"count": func() error {
			return render.Functions(&header, nil, render.RowOptions{Style: render.Style{Format: render.CSV}})
		},
		"trace": func() error {
			return render.NewCallWriter(&header, render.LineOptions{Style: render.Style{Format: render.CSV}}).Header()
		},
		"watch": func() error { return render.VariableHeader(&header, render.CSV) },
		"list":  func() error { return render.List(&header, nil, render.Style{Format: render.CSV}) },
		"heap": func() error {
			return render.Allocations(&header, nil, render.AllocationOptions{Style: render.Style{Format: render.CSV}, Lines: true})
		},
		"diff":   func() error { return compare.Difference(&header, nil, render.Style{Format: render.CSV}) },
		"doctor": func() error { return writeChecks(&header, render.CSV, nil, nil) },
	} {
		header.Reset()
		noError(t, write())
		if !strings.Contains(b, "\n```\n"+header.String()+"```\n") || header.Len() < 10 {
			t.Errorf("docs/formats.md does not have the columns of %s: %s", name, &header)
		}
	}
	header.Reset()
	noError(t, render.Functions(&header, nil, render.RowOptions{Style: render.Style{Format: render.CSV}, Latency: true}))
	always := strings.Split(strings.TrimSpace(header.String()), ",")
	header.Reset()
	more := render.RowOptions{Style: render.Style{Format: render.CSV}, Latency: true, Sched: true, Errors: true, Budgeted: true}
	noError(t, render.Functions(&header, nil, more))
	for column := range strings.SplitSeq(strings.TrimSpace(header.String()), ",") {
		if !slices.Contains(always, column) && !strings.Contains(b, "`"+column+"`") {
			t.Errorf("docs/formats.md does not have the column %s of probe", column)
		}
	}
}
