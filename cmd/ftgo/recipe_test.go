package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestRecipes: the list has all recipes, each can be run, and nothing of one is left.
func TestRecipes(t *testing.T) {
	r := ftgo(t, "recipes")
	listed := recipes(r.stdout)
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "scripts", "recipes", "go*"))
	if err != nil || r.code != 0 {
		t.Fatalf("%v, status %d\n%s", err, r.code, r.stderr)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for _, file := range files {
		name := filepath.Base(file)
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not listed", name)
		}
		if r := ftgo(t, "recipe", name, "-h"); r.code != 0 || r.stderr != "" {
			t.Errorf("%s -h: status %d\n%s", name, r.code, r.stderr)
		}
	}
	if len(listed) != len(files) {
		t.Errorf("%d are listed, %d are there", len(listed), len(files))
	}
	if r := ftgo(t, "recipe", "gohttpd"); r.code != cli.ExitUsage {
		t.Errorf("without arguments: status %d\n%s", r.code, r.stderr)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
