package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestCheckRules checks that an error names the flags and the reason of the rule.
func TestCheckRules(t *testing.T) {
	for _, c := range []struct {
		command string
		given   []string
		want    string
	}{
		{"probe", nil, ""},
		{"probe", []string{"sched", "pid"}, ""},
		{"probe", []string{"pid", "program"}, "probe: -p and -- PROGRAM exclude each other: PROGRAM is the process that is traced"},
		{"probe", []string{"stack", "output=tsv"}, "probe: --stack and -o tsv exclude each other: cells have no room for stacks"},
		{"trace", []string{"stack", "output=tsv"}, ""},
		{"list", []string{"program"}, "list: no -- PROGRAM: it runs no program; start that by itself, and take its -p"},
		{"probe", []string{"program"}, ""},
		{"report", []string{"min"}, "report: --min needs --as trace: tables have no lines of calls"},
		{"report", []string{"min", "as=trace"}, ""},
		{"report", []string{"top", "as=trace"}, "report: --top needs --as probe or --as count: tables alone have rows of functions"},
		{"report", []string{"errors", "as=trace", "entries"}, "report: --entries and --errors exclude each other: the ends of calls are not seen"},
		{"report", []string{"output=folded", "as=trace"}, "report: -o folded needs --as probe: only that has latencies and callers of functions"},
		{"probe", []string{"sched"}, "probe: --sched needs -p, --container, --cgroup, -- PROGRAM or --dry-run: what threads did before their process is known can't be told"},
	} {
		got := ""
		if err := CheckRules(c.command, func(term string) bool { return slices.Contains(c.given, term) }); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.command, c.given, got, c.want)
		}
	}
}

// TestParseRules checks that every line is a rule.
func TestParseRules(t *testing.T) {
	if lines := strings.Fields(strings.ReplaceAll(rulesText, " ", "_")); len(Rules) != len(lines) {
		t.Errorf("%d rules in %d lines", len(Rules), len(lines))
	}
}
