package target

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
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
	_, err = capture.ParsePath(item)
	switch {
	case fetch && renamed:
		if s.Fetch = from; !typed {
			s.Type = "x64"
		}
		return s, checkFetch(s.Fetch, s.Type)
	case fetch, renamed, err == nil:
		return s, fmt.Errorf("%q is neither goargN, goretN nor a fetcharg with a name, as in k=+0(%s)", item, exampleRegister)
	}
	return s, fmt.Errorf("%q is not a variable or a part of one: %w", item, err)
}

// maxFetch is the maximum length of "FETCHARG:TYPE". The kernel accepts 63 bytes for "NAME=FETCHARG:TYPE"
// (MAX_ARGSTR_LEN in kernel/trace/trace_probe.h), and the name that ftgo gives it is short. A fetcharg of this length has fewer
// nested memory accesses than the kernel accepts (FETCH_INSN_MAX).
const maxFetch = 56

var (
	fetchType = regexp.MustCompile(`^[usx](8|16|32|64)$`)
	fetchAddr = regexp.MustCompile(`^@\+?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18})$`)
)

// exampleRegister is the fetcharg of a register, for messages.
var exampleRegister = arch.Processors[0].Machine().Resume.Fetch()

// fetchBase returns the innermost operand of a fetcharg, which is a register or an address. It also returns the offsets:
// the kernel adds the first offset to the operand, and each further offset to the pointer that it has read.
func fetchBase(fetch string) (base string, offsets []int64) {
	for base = fetch; ; {
		n := capture.OffsetLen(base)
		if n == 0 || !strings.HasSuffix(base, ")") {
			slices.Reverse(offsets)
			return base, offsets
		}
		offset, _ := strconv.ParseInt(base[:n-1], 0, 64) // OffsetLen takes numbers alone
		offsets, base = append(offsets, offset), base[n:len(base)-1]
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

// signature returns the signature of a function that the pattern selects. If the FUNC argument lists types, signature
// lays out parameters of these types as if the types were from debug information. Otherwise it takes the signature from
// the file, and adds the selected registers and fetchargs.
func (a *funcArg) signature(b *offsets.Binary, f *offsets.Func) (*offsets.Signature, error) {
	if a.hasSignature {
		s, err := a.layOut(b, f)
		if err != nil {
			return nil, fmt.Errorf("lay out parameters of %s: %w", f.Name, err)
		}
		return s, nil
	}
	s, err := b.Signature(f)
	if err != nil {
		if slices.ContainsFunc(a.params, func(sel selection) bool { return sel.Path != "" && !capture.OutsideArgs(sel.Path) }) {
			return nil, err
		}
		s = &offsets.Signature{}
	}
	s.Note = ""
	for _, sel := range a.params {
		if err := sel.add(b, f, s); err != nil {
			return nil, fmt.Errorf("lay out parameters of %s: %s: %w", f.Name, sel.Name, err)
		}
	}
	return s, nil
}

// layOut assigns parameters and results to registers and the stack, by their types.
func (a *funcArg) layOut(b *offsets.Binary, f *offsets.Func) (s *offsets.Signature, err error) {
	s = &offsets.Signature{}
	if s.Params, err = typed(b, a.params); err != nil {
		return nil, err
	}
	if s.Results, err = typed(b, a.results); err != nil {
		return nil, err
	}
	if len(s.Params) > 0 && symname.Split(f.Name).Pointer && nonPointerKinds[s.Params[0].Type.Kind] {
		return nil, errors.New("the first parameter of a method is its receiver, here a pointer: (t ptr, …)")
	}
	b.Internals().LayOut(f, s)
	return s, nil
}

// nonPointerKinds are the kinds of values that can't be a pointer receiver. A pointer receiver takes one integer register.
var nonPointerKinds = map[reflect.Kind]bool{
	reflect.String: true, reflect.Slice: true, reflect.Interface: true, reflect.Struct: true, reflect.Array: true, reflect.Float64: true,
}

// sourceType parses a type.
func sourceType(b *offsets.Binary, text string) (*gotype.Type, error) {
	return gotype.Parse(text, func(name string) (*gotype.Type, bool) {
		t, err := knownType(b, name)
		return t, err == nil
	})
}

// knownType finds a type of the program among the types of Go's runtime, or else in debug information.
func knownType(b *offsets.Binary, name string) (*gotype.Type, error) {
	t, err := b.Internals().RuntimeTypeNamed(name)
	if err != nil {
		if known, ok := b.Internals().TypeNamed(name); ok {
			return known, nil
		}
	}
	return t, err
}

func typed(b *offsets.Binary, variables []selection) (out []offsets.Variable, err error) {
	for _, v := range variables {
		t, err := sourceType(b, v.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		out = append(out, offsets.Variable{Name: v.Name, Type: t})
	}
	return out, nil
}

// add adds the value to a signature if the value is a fetcharg or in a register. Other values are parts of variables that
// are already in the signature.
func (sel *selection) add(b *offsets.Binary, f *offsets.Func, s *offsets.Signature) error {
	switch {
	case sel.Fetch != "":
		if base, _ := fetchBase(sel.Fetch); strings.HasPrefix(base, "%") && !b.File().Processor.Machine().Fetches(arch.Reg(base[1:])) {
			return fmt.Errorf("%s is not a register of %s", base, b.File().Processor.Machine().Name)
		}
		s.Params = append(s.Params, sel.fetched())
	case sel.register > 0:
		v, err := sel.inRegister(b, f)
		if err != nil {
			return err
		}
		if sel.Result {
			s.Results = append(s.Results, v)
		} else {
			s.Params = append(s.Params, v)
		}
	}
	return nil
}

// fetched returns the value of a fetcharg, of a type like s32 or x64.
func (sel *selection) fetched() offsets.Variable {
	t := &gotype.Type{Name: sel.Type, Kind: reflect.Uint, Size: 8, Align: 8}
	if strings.HasPrefix(sel.Type, "s") {
		t.Kind = reflect.Int
	}
	if bits, err := strconv.Atoi(sel.Type[1:]); err == nil {
		t.Size = int64(bits / 8)
	}
	return offsets.Variable{Name: sel.Name, Type: t, Pieces: []offsets.Piece{{Size: t.Size, Fetch: sel.Fetch}}}
}

// inRegister returns the value that begins in integer register sel.register. If a function takes all parameters on the
// stack, the value begins in the parameter word with this number. To find the place, inRegister lays out a function with
// sel.register-1 words as its first parameters, followed by the value.
func (sel *selection) inRegister(b *offsets.Binary, f *offsets.Func) (v offsets.Variable, err error) {
	if v.Type, err = sourceType(b, sel.Type); err != nil {
		return v, err
	}
	typ := v.Type
	if v.Through = sel.through; v.Through != nil {
		v.Type, _ = gotype.Basic("uintptr")
	}
	minor, _ := b.GoVersion()
	registers := len(b.File().Processor.Machine().Go(minor, f.ABI == offsets.ABI0).Ints)
	switch {
	case f.ABI == offsets.SystemV:
		return v, errors.New("goargN and goretN are Go's own registers, which this function does not use: give its signature")
	case registers > 0 && sel.register > registers:
		return v, fmt.Errorf("only %d of Go's registers are for integers", registers)
	case registers == 0 && sel.Result:
		return v, errors.New("results of this function follow its parameters on the stack: give its signature")
	}
	word, _ := gotype.Basic("uintptr")
	s := offsets.Signature{Params: slices.Repeat([]offsets.Variable{{Type: word}}, sel.register-1)}
	s.Params = append(s.Params, v)
	b.Internals().LayOut(&offsets.Func{ABI: f.ABI}, &s) // a function without a name takes no dictionary parameter
	v.Name, v.Type, v.Pieces, err = sel.Name, typ, s.Params[sel.register-1].Pieces, s.Params[sel.register-1].Err
	if err != nil {
		return v, err
	}
	for _, p := range v.Pieces {
		switch {
		case registers > 0 && p.InMemory:
			return v, fmt.Errorf("a %s does not fit into the registers from there on", sel.Type)
		case !p.InMemory && p.Register == "":
			return v, errors.New("goargN and goretN are registers for integers, and its type is floating point")
		}
	}
	return v, nil
}
