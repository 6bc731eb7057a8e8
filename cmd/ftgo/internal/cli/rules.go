package cli

import (
	"slices"
	"strings"
)

// Rule says what flags of a command go together. A term is a flag's name, which means that it is
// given; "flag=value"; "pid=several"; or "program", what stands behind --. "flag|another" and
// "flag=one|another" are either of two.
type Rule struct {
	On []string // the commands; all that have the flags if there are none
	// If is the term that the rule is about. Without one it is about Not.
	If string
	// Not are terms that If excludes. Needs are terms of which it takes one.
	Not, Needs []string
	// Because is the reason.
	Because string
}

// Rules are those of all commands. Errors are made of them.
var Rules = []Rule{
	{If: "pid", Not: []string{"program"}, Because: "PROGRAM is the process that is traced"},
	{If: "fork", Needs: []string{"pid", "program"}, Because: "without one every process of BINARY is traced"},
	{If: "comm", Not: []string{"pid", "fork"}, Because: "each says which processes are traced"},
	{If: "sched", Not: []string{"per-pid"}, Because: "what calls waited for is added up over all processes"},
	{On: []string{"list", "script"}, Not: []string{"program"}, Because: "it runs no program"},
	{On: []string{"trace", "watch"}, Not: []string{"top"}, Because: "tables are for probe"},
	{On: []string{"trace"}, Not: []string{"interval"}, Because: "tables are for probe"},

	{If: "output=folded|pprof", Not: []string{"interval"}, Because: "a profile is of a whole run"},
	{On: []string{"probe", "demo"}, If: "stack", Not: []string{"output=csv|tsv"}, Because: "cells have no room for stacks"},
	{If: "max-rate", Not: []string{"stack", "output=folded|pprof", "with"}, Because: "stacks and kernel events take all calls"},
	{On: []string{"trace"}, If: "with", Not: []string{"output=csv|tsv"}, Because: "kernel events are no rows of calls"},
	{If: "sched", Not: []string{"entries"}, Because: "latencies are split, and --entries has none"},
	{If: "sched", Not: []string{"format"}, Because: "templates have no names for the parts of latencies"},
	{If: "sched", Not: []string{"output=folded|pprof"}, Because: "profiles have no place for the parts of latencies"},
	{If: "sched", Needs: []string{"pid", "program", "dry-run"}, Because: "what threads did before their process is known can't be told"},

	{If: "in-kernel", Not: []string{"max-rate"}, Because: "the kernel times all calls"},
	{If: "in-kernel", Not: []string{"errors"}, Because: "the kernel keeps no results"},
	{If: "in-kernel", Not: []string{"stack", "output=folded|pprof"}, Because: "the kernel keeps no stacks"},
	{If: "in-kernel", Not: []string{"sched", "with", "calls"}, Because: "no single call is seen"},
	{If: "in-kernel", Not: []string{"raw-latency"}, Because: "nothing is taken off latencies in any case"},
	{If: "in-kernel", Not: []string{"buffer", "reader"}, Because: "no events are streamed"},
	{If: "in-kernel", Not: []string{"fail-if"}, Because: "percentiles are known by bounds alone"},
	{If: "in-kernel", Not: []string{"fork", "comm", "per-pid", "pid=several"}, Because: "the kernel's histograms do not tell processes apart"},
	{If: "in-kernel", Not: []string{"wait"}, Because: "the process must be there, or be started"},
	{If: "in-kernel", Needs: []string{"pid", "program", "dry-run"}, Because: "the kernel's histograms do not tell processes apart"},

	{If: "entries", Not: []string{"inside", "tree", "depth"}, Because: "the ends of calls are not seen"},
	{On: []string{"trace", "report"}, If: "entries", Not: []string{"errors", "min"}, Because: "results and latencies are not seen"},
	{If: "start-order", Not: []string{"begins", "entries"}, Because: "only lines of whole calls are put in order"},
	{If: "start-order", Not: []string{"tree"}, Because: "trees have calls in that order"},
	{If: "format", Not: []string{"begins", "tree"}, Because: "templates are for lines of whole calls"},
	{If: "output=json|csv|tsv|chrome", Not: []string{"format", "begins", "tree"}, Because: "these are for text"},
	{If: "output=chrome", Not: []string{"start-order"}, Because: "it has calls in the order of their begins"},
	{On: []string{"trace"}, If: "output=chrome", Not: []string{"entries"}, Because: "it has whole calls"},

	{On: []string{"script"}, If: "where|inside", Needs: []string{"as=trace"}, Because: "tables are of all calls"},
	{On: []string{"script"}, If: "entries", Needs: []string{"as=trace"}, Because: "tables are of whole calls"},
	{On: []string{"script"}, If: "errors", Needs: []string{"as=probe"}, Because: "trace records results in any case, and count none"},
	{On: []string{"script"}, If: "stack", Not: []string{"as=count"}, Because: "counting sees no callers"},

	{On: []string{"report"}, If: "hist", Needs: []string{"as=probe"}, Because: "only that has latencies of functions"},
	{On: []string{"report"}, If: "output=folded|pprof", Needs: []string{"as=probe"}, Because: "only that adds up callers"},
	{On: []string{"report"}, If: "top|fail-if", Needs: []string{"as=probe", "as=count"}, Because: "tables alone have rows of functions"},
	{On: []string{"report"}, If: "calls|where|errors|min|goid|tree|depth|begins|start-order|timestamp|format", Needs: []string{"as=trace"}, Because: "tables have no lines of calls"},
	{On: []string{"report"}, If: "output=chrome", Needs: []string{"as=trace"}, Because: "tables have no lines of calls"},
}

// CheckRules is an error if a command line breaks a rule. given tells which terms are true of it.
func CheckRules(command string, given func(term string) bool) error {
	// first is the first alternative of the terms that is given.
	first := func(terms ...string) string {
		for _, term := range terms {
			for _, one := range alternatives(term) {
				if given(one) {
					return one
				}
			}
		}
		return ""
	}
	for _, r := range Rules {
		about := first(r.If)
		if r.On != nil && !slices.Contains(r.On, command) || r.If != "" && about == "" {
			continue
		}
		with := first(r.Not...)
		switch {
		case with != "" && r.If == "":
			return Usage("%s: no %s: %s", command, spell(with), r.Because)
		case with != "":
			return Usage("%s: %s and %s exclude each other: %s", command, spell(about), spell(with), r.Because)
		case r.Needs != nil && first(r.Needs...) == "":
			var needs []string
			for _, term := range r.Needs {
				needs = append(needs, spell(term))
			}
			last := len(needs) - 1
			list := strings.Join(needs[:last], ", ")
			if last > 0 {
				list += " or "
			}
			return Usage("%s: %s needs %s: %s", command, spell(about), list+needs[last], r.Because)
		}
	}
	return nil
}

// alternatives are the terms that a term stands for: output=csv|tsv for two.
func alternatives(term string) []string {
	name, values, valued := strings.Cut(term, "=")
	if !valued {
		return strings.Split(term, "|")
	}
	all := strings.Split(values, "|")
	for i := range all {
		all[i] = name + "=" + all[i]
	}
	return all
}

// spell is a term as people type it.
func spell(term string) string {
	name, value, valued := strings.Cut(term, "=")
	text := "--" + name
	switch {
	case term == "program":
		return "-- PROGRAM"
	case term == "pid=several":
		return "several -p"
	case name == "pid":
		text = "-p"
	case name == "output":
		text = "-o"
	}
	if valued {
		text += " " + value
	}
	return text
}
