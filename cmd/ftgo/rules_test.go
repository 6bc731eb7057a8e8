package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// TestRules: each command that a rule names has its flags, and a rule for all is about flags that
// some command has together; each has a reason.
func TestRules(t *testing.T) {
	flagsBy := make(map[string]*cli.Flags)
	for _, c := range allCommands() {
		if c.RunArgs == nil {
			flagsBy[c.Name] = c.Flags()
		}
	}
	// has tells whether a command has all flags of a term, and takes their values.
	has := func(command, term string) bool {
		for one := range strings.SplitSeq(term, "|") {
			name, values, valued := strings.Cut(one, "=")
			if name == "program" || command == "report" && (name == "entries" || name == "several") { // which was recorded, or is of its arguments
				continue
			}
			f := flagsBy[command].Lookup(name)
			if f == nil {
				return false
			}
			for value := range strings.SplitSeq(values, ",") {
				if valued && !slices.Contains(cli.Choices(f), value) {
					return false
				}
			}
		}
		return true
	}
	for _, r := range cli.Rules {
		if r.Because == "" || (r.Not == nil) == (r.Needs == nil) {
			t.Errorf("%+v has no reason, or not one kind of terms", r)
		}
		on := r.On
		if on == nil {
			for name := range flagsBy {
				on = append(on, name)
			}
		}
		for _, term := range slices.Concat(r.Not, r.Needs) {
			both := 0
			for _, name := range on {
				if flagsBy[name] != nil && (r.If == "" || has(name, r.If)) && has(name, term) {
					both++
				} else if r.On != nil {
					t.Errorf("%+v: ftgo %s has no %q, or no %q", r, name, r.If, term)
				}
			}
			if both == 0 {
				t.Errorf("%+v: no command has %q and %q", r, r.If, term)
			}
		}
	}
}
