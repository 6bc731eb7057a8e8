// Package schema checks output of ftgo against docs/schema, for tests.
package schema

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// Dir is the folder of the schemas.
func Dir() string { return filepath.Join(fixture.Root(), "docs", "schema") }

var (
	mu       sync.Mutex
	compiled = make(map[string]*jsonschema.Schema)
)

// Named is the schema in docs/schema/NAME.json.
func Named(name string) (*jsonschema.Schema, error) {
	mu.Lock()
	defer mu.Unlock()
	if s := compiled[name]; s != nil {
		return s, nil
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	s, err := c.Compile(filepath.Join(Dir(), name+".json"))
	compiled[name] = s
	return s, err
}

// enough lines of a type are checked.
const enough = 200

// Check is an error if a line of text, which is what -o json has written, is none that the
// schema of its type describes.
func Check(text string) error {
	seen := make(map[string]int)
	for l := range strings.Lines(text) {
		name, err := kind(l)
		if err != nil {
			return err
		}
		if seen[name]++; seen[name] > enough {
			continue
		}
		s, err := Named(name)
		if err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(l))
		if err != nil {
			return fmt.Errorf("parse %q: %w", l, err)
		}
		if err := s.Validate(value); err != nil {
			return fmt.Errorf("docs/schema/%s.json does not describe %s%w", name, l, err)
		}
	}
	return nil
}

// kind is the name of a line's schema.
func kind(line string) (string, error) {
	var l struct{ Type string }
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return "", fmt.Errorf("parse %q: %w", line, err)
	}
	return l.Type, nil
}

// IsLines tells whether text looks like output of -o json.
func IsLines(text string) bool { return strings.HasPrefix(text, `{"type":`) }
