package offsets

import (
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/processors"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets/arch"
)

var goRegister = regexp.MustCompile(`^go(arg|ret)([0-9]+)$`)

func (g *Given) readSelection(items []string) error {
	seen := make(map[string]bool)
	for _, item := range items {
		s, err := parseSelection(item)
		if err != nil {
			return err
		}
		if seen[s.Name] {
			return fmt.Errorf("two are called %q", s.Name)
		}
		seen[s.Name] = true
		g.Select = append(g.Select, s)
	}
	return nil
}

func parseSelection(item string) (Selection, error) {
	name, source, renamed := strings.Cut(item, "=")
	name, source = strings.TrimSpace(name), strings.TrimSpace(source)
	if !renamed {
		source = item
		name, _, _ = strings.Cut(item, ":")
	} else if !token.IsIdentifier(name) && !token.IsKeyword(name) {
		return Selection{}, fmt.Errorf("%q is no name", name)
	}
	s := Selection{Name: name}
	from, typ, typed := strings.Cut(source, ":")
	if typed && typ == "" {
		return Selection{}, fmt.Errorf("type expected behind %q", source)
	}
	if m := goRegister.FindStringSubmatch(from); m != nil {
		// More than any function takes in registers or has words of parameters.
		n, err := strconv.Atoi(m[2])
		if err != nil || n == 0 || n > 512 {
			return Selection{}, fmt.Errorf("%s: registers are numbered from 1", from)
		}
		if s.Type = typ; !typed {
			s.Type = "int"
		}
		if m[1] == "arg" {
			s.argument = n
		} else {
			s.Result = n
		}
		return s, nil
	}
	if from != "" && strings.IndexByte("%@+-", from[0]) >= 0 {
		if !renamed {
			return Selection{}, fmt.Errorf("%q has no name, as in k=+0(%s)", item, processors.Example)
		}
		s.Fetch, s.Type = from, typ
		if !typed {
			s.Type = "x64"
		}
		return s, checkFetch(s.Fetch, s.Type)
	}
	if renamed {
		return Selection{}, fmt.Errorf("%q is neither goargN, goretN nor a fetcharg such as +0(%s)", source, processors.Example)
	}
	if _, err := valuepath.Parse(item); err != nil {
		return Selection{}, fmt.Errorf("%q is no variable or part of one", item)
	}
	s.Path = item
	return s, nil
}

const (
	// maxFetches is how many memory accesses the kernel takes in each other
	// (FETCH_INSN_MAX in kernel/trace/trace_probe.h is 16; one is for the register, one
	// for the end).
	maxFetches = 14
	// maxFetch bounds a fetcharg with its type: "NAME=FETCHARG:TYPE" has at most 63 bytes
	// (MAX_ARGSTR_LEN in kernel/trace/trace_probe.h), and the name is short.
	maxFetch = 56
)

var (
	fetchType = regexp.MustCompile(`^[usx](8|16|32|64)$`)
	fetchAddr = regexp.MustCompile(`^@\+?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18})$`)
	fetchFrom = regexp.MustCompile(`^[+-](0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})\(`)
)

// fetchBase is what is not in parentheses, a register or an address, and in how many of them
// the rest is.
func fetchBase(fetch string) (base string, depth int) {
	for base = fetch; ; depth++ {
		from := fetchFrom.FindString(base)
		if from == "" || !strings.HasSuffix(base, ")") {
			return base, depth
		}
		base = base[len(from) : len(base)-1]
	}
}

// fetched tells whether some processor has a register of a name.
func fetched(r arch.Reg) bool {
	return processors.Find(func(p arch.Processor) bool { return p.Fetches(r) }) != nil
}

// checkFetch tells whether a fetcharg is one, so that it can stand in a definition
// (Documentation/trace/uprobetracer.rst): "%REG", "@ADDR", "@+OFFSET", "+|-N(FETCHARG)".
func checkFetch(fetch, typ string) error {
	base, depth := fetchBase(fetch)
	register, isRegister := strings.CutPrefix(base, "%")
	switch {
	case !fetchAddr.MatchString(base) && !(isRegister && fetched(arch.Reg(register))):
		return fmt.Errorf("%q is no fetcharg: %q is neither a register such as %s nor an address", fetch, base, processors.Example)
	case depth > maxFetches:
		return fmt.Errorf("fetcharg %q reads through more than %d pointers", fetch, maxFetches)
	case !fetchType.MatchString(typ):
		return fmt.Errorf("type %q of fetcharg %q is none of u8, s16, x64 …", typ, fetch)
	case len(fetch)+len(":")+len(typ) > maxFetch:
		return errors.New("fetcharg " + strconv.Quote(fetch) + " is too long for the kernel")
	}
	return nil
}
