package cli

import (
	_ "embed"
	"regexp"
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

//go:embed rules.txt
var rulesText string

// Rules are those of all commands. Errors are made of them.
var Rules = parseRules(rulesText)

// ruleLine is like "probe,demo: stack excludes output=csv|tsv: REASON", where the commands may be
// missing, and "needs" or just "no" may stand for what excludes.
var ruleLine = regexp.MustCompile(`(?m)^(?:(\S+): )?(?:(\S+) (excludes|needs)|no) (.+?): (.+)$`)

func parseRules(text string) (rules []Rule) {
	for _, m := range ruleLine.FindAllStringSubmatch(text, -1) {
		r := Rule{If: m[2], Because: m[5]}
		if m[1] != "" {
			r.On = strings.Split(m[1], ",")
		}
		if terms := strings.Fields(m[4]); m[3] == "needs" {
			r.Needs = terms
		} else {
			r.Not = terms
		}
		rules = append(rules, r)
	}
	return rules
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
			return Usage("%s: %s needs %s: %s", command, spell(about), orList(needs), r.Because)
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

// orList lists words: a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or "+words[last], " or ")
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
