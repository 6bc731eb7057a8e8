package main

import (
	"slices"
	"strings"
	"testing"
)

func TestJoinValues(t *testing.T) {
	flags := flagsOf("probe")
	for _, c := range []struct{ args, want string }{
		{"-s 3 ./server main.f", "-s=3 ./server main.f"},
		{"-s3 ./server", "-s=3 ./server"},
		{"-qs 3 x", "-qs=3 x"}, {"-qs3", "-qs=3"}, {"-s=3 4", "-s=3 4"}, {"-sq 3", "-sq 3"},
		{"--stack 3 x", "--stack=3 x"}, {"--stack=2 3", "--stack=2 3"}, {"--stack ./server", "--stack ./server"},
		{"-s ./server main.f", "-s ./server main.f"}, {"-s 99 x", "-s=99 x"}, {"-s", "-s"},
		// It is another flag's value, or PROGRAM's.
		{"-x -s 3", "-x -s 3"}, {"--exclude --stack 3", "--exclude --stack 3"}, {"-xs 3", "-xs 3"},
		{"x -- -s 3", "x -- -s 3"}, {"--nope 3 -Z 3 - 3", "--nope 3 -Z 3 - 3"}, {"--hist 3 -q 3", "--hist 3 -q 3"},
	} {
		if got := flags.JoinValues(strings.Fields(c.args)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q is read as %q, not %q", c.args, got, c.want)
		}
	}
}

// TestJoinFormat: the names of a template's values are a word behind it.
func TestJoinFormat(t *testing.T) {
	flags := flagsOf("trace")
	for _, c := range []struct{ args, want string }{
		{"--format k=%d n ./server", "--format k=%d|n ./server"}, {"--format=k=%d n ./server", "--format=k=%d|n ./server"},
		{"--format k ./server", "--format k ./server"}, {"--format=100%% ./server", "--format=100%% ./server"}, {"--format %d", "--format %d"},
		{"--format %d -- ./server", "--format %d -- ./server"}, {"-q --format %q|%d key,n -T x", "-q --format %q|%d|key,n -T x"},
		{"-x --format %d n", "-x --format %d n"}, {"x -- --format %d n", "x -- --format %d n"},
	} {
		got := strings.ReplaceAll(strings.Join(flags.JoinValues(strings.Fields(c.args)), " "), "\x00", "|")
		if got != c.want {
			t.Errorf("%q is read as %q, not %q", c.args, got, c.want)
		}
	}
}
