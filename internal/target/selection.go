package target

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
)

// selection is a value to show: a variable or a part of it, the value in a register, or the value of a fetcharg.
type selection struct {
	// Name is the text before "=", or else the path.
	Name string
	// Path leads to a variable or a part of it: "n", "req.URL.Path", "s.items[0].name",
	// "*p".
	Path string
	// register is N of goargN or goretN, counted from 1. The Nth integer register holds the value or its first word. It
	// holds a goargN when a call begins, and a goretN when a call ends. Result is true for a goretN.
	register int
	Result   bool
	// through is the list of offsets from the register through pointers to the value, see Through of [offsets.Variable].
	through []int64
	// Fetch is a fetcharg of the kernel: "+0(%ax)".
	Fetch string
	// Type is the type of a register's value in Go's syntax, or the kernel's type of Fetch: "x64".
	Type string
}

// parseSelections parses the values to show. It leaves out "_", as in Go.
func parseSelections(items []string) (all []selection, err error) {
	for _, item := range items {
		s, err := parseSelection(item)
		if err != nil {
			return nil, err
		}
		if item != "_" {
			all = append(all, s)
		}
	}
	return all, nil
}

// checkUnique returns an error if two values have the same name.
func checkUnique(all []selection) error {
	seen := make(map[string]bool)
	for _, s := range all {
		if seen[s.Name] {
			return fmt.Errorf("two are called %q", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

var goRegister = regexp.MustCompile(`^go(arg|ret)([0-9]+)$`)

// isPath reports whether an item is a variable, or a path from a variable or a register to a part of its value.
func isPath(item string) bool {
	steps, err := capture.ParsePath(item)
	return err == nil && (len(steps) > 1 || capture.RegisterLen(item) == 0)
}

func parseSelection(item string) (s selection, err error) {
	if isPath(item) {
		return selection{Name: item, Path: item}, nil
	}
	name, source, renamed := strings.Cut(item, "=")
	name, source = strings.TrimSpace(name), strings.TrimSpace(source)
	if !renamed {
		source = item
		name, _, _ = strings.Cut(item, ":")
	} else if !token.IsIdentifier(name) && !token.IsKeyword(name) {
		return s, fmt.Errorf("%q is not a name", name)
	}
	from, typ, typed := strings.Cut(source, ":")
	if typed && typ == "" {
		return s, fmt.Errorf("type expected behind %q", source)
	}
	s = selection{Name: name, Type: typ}
	base, through := fetchBase(from)
	if m := goRegister.FindStringSubmatch(base); m != nil {
		// No function has as many registers or words of parameters.
		if s.register, err = strconv.Atoi(m[2]); err != nil || s.register == 0 || s.register > 512 {
			return s, fmt.Errorf("%s: registers are numbered from 1", base)
		}
		s.through = through
		if s.Result = m[1] == "ret"; !typed {
			s.Type = "int"
		}
		return s, nil
	}
	fetch := from != "" && strings.IndexByte("%@+-", from[0]) >= 0
	switch {
	case fetch && !renamed:
		return s, fmt.Errorf("%q has no name, as in k=+0(%s)", item, exampleRegister)
	case fetch:
		if s.Fetch = from; !typed {
			s.Type = "x64"
		}
		return s, checkFetch(s.Fetch, s.Type)
	case renamed:
		return s, fmt.Errorf("%q is neither goargN, goretN nor a fetcharg such as +0(%s)", source, exampleRegister)
	}
	if _, err := capture.ParsePath(item); err != nil {
		return s, fmt.Errorf("%q is not a variable or a part of one: %w", item, err)
	}
	return s, fmt.Errorf("%q is not a variable or a part of one", item)
}

// maxFetch is the maximum length of "FETCHARG:TYPE". The kernel accepts 63 bytes for "NAME=FETCHARG:TYPE"
// (MAX_ARGSTR_LEN in kernel/trace/trace_probe.h), and the name that ftgo gives it is short. A fetcharg of this length has fewer
// nested memory accesses than the kernel accepts (FETCH_INSN_MAX).
const maxFetch = 56

var (
	fetchType = regexp.MustCompile(`^[usx](8|16|32|64)$`)
	fetchAddr = regexp.MustCompile(`^@\+?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18})$`)
	fetchFrom = regexp.MustCompile(`^[+-](0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})\(`)
)

// exampleRegister is the fetcharg of a register, for messages.
var exampleRegister = arch.Processors[0].Machine().Filler.Fetch()

// fetchBase returns the innermost operand of a fetcharg, which is a register or an address. It also returns the offsets:
// the kernel adds the first offset to the operand, and each further offset to the pointer that it has read.
func fetchBase(fetch string) (base string, offsets []int64) {
	for base = fetch; ; {
		from := fetchFrom.FindString(base)
		if from == "" || !strings.HasSuffix(base, ")") {
			slices.Reverse(offsets)
			return base, offsets
		}
		offset, _ := strconv.ParseInt(strings.TrimSuffix(from, "("), 0, 64) // matches fetchFrom
		offsets, base = append(offsets, offset), base[len(from):len(base)-1]
	}
}

// checkFetch returns an error if the kernel would refuse a fetcharg or its type. A fetcharg is "%REG", "@ADDR", "@+OFFSET"
// or "+|-N(FETCHARG)" (Documentation/trace/uprobetracer.rst).
func checkFetch(fetch, typ string) error {
	base, _ := fetchBase(fetch)
	register, isRegister := strings.CutPrefix(base, "%")
	some := arch.Find(func(p arch.Processor) bool { return p.Machine().Fetches(arch.Reg(register)) })
	switch {
	case !fetchAddr.MatchString(base) && (!isRegister || some == nil):
		return fmt.Errorf("%q is not a fetcharg: %q is neither a register such as %s nor an address", fetch, base, exampleRegister)
	case !fetchType.MatchString(typ):
		return fmt.Errorf("unknown type %q of fetcharg %q (want u8, s16, x64 …)", typ, fetch)
	case len(fetch)+len(":")+len(typ) > maxFetch:
		return fmt.Errorf("fetcharg %q is too long for the kernel", fetch)
	}
	return nil
}
