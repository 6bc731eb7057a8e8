package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// standIns are commands that pages show beside ftgo, for tests without a daemon, a cluster or other machines: those of
// testdata/standins. They refuse what they do not know, and run the rest here.
func standIns(t *testing.T) map[string]string {
	t.Helper()
	scripts := make(map[string]string)
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "cmd/ftgo/testdata/standins/*"))
	noError(t, err)
	for _, file := range files {
		scripts[filepath.Base(file)] = readFile(t, file)
	}
	return scripts
}

// withStandIns is a folder for PATH with ftgo, stand-ins, and other scripts by their names.
func withStandIns(t *testing.T, others map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	scripts := standIns(t)
	maps.Copy(scripts, others)
	for name, script := range scripts {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	if err := os.Symlink(built(t), filepath.Join(dir, "ftgo")); err != nil && others["ftgo"] == "" {
		t.Fatal(err)
	}
	return dir
}
