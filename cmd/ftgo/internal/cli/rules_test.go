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
		{"probe", []string{"pid", "program"}, "probe: -p and -- PROGRAM exclude each other: PROGRAM is the process to trace"},
		{"probe", []string{"stack", "output=tsv"}, "probe: --stack and -o tsv exclude each other: cells cannot hold stacks"},
		{"trace", []string{"stack", "output=tsv"}, ""},
		{"list", []string{"program"}, "list: no -- PROGRAM: it starts no program; start it separately and use -p"},
		{"probe", []string{"program"}, ""},
		{"report", []string{"min"}, "report: --min needs --as trace: tables have no lines of calls"},
		{"report", []string{"min", "as=trace"}, ""},
		{"report", []string{"top", "as=trace"}, "report: --top needs --as probe or --as count: only tables have rows of functions"},
		{"report", []string{"errors", "as=trace", "entries"}, "report: --entries and --errors exclude each other: it does not record the ends of calls"},
		{"report", []string{"output=folded", "as=trace"}, "report: -o folded needs --as probe: only probe has latencies and callers of functions"},
		{"probe", []string{"sched"}, "probe: --sched needs -p, --container, --cgroup, -- PROGRAM or --dry-run: the states of threads are known only for a process that is selected at the start"},
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
