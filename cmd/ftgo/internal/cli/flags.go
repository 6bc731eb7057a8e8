package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/printable"
)

// Flags are the flags of a command.
type Flags struct {
	*pflag.FlagSet
	checks []func(command string) error
	given  []string // the flags that were set, each as --NAME=VALUE
}

func newFlags(command string) *Flags {
	fs := &Flags{FlagSet: pflag.NewFlagSet(command, pflag.ContinueOnError)}
	fs.SortFlags, fs.Usage = false, func() {}
	return fs
}

// set sets a flag. It refuses an empty value, which often comes from an unset variable, and a negative number.
func (fs *Flags) set(f *Flag, text string) error {
	if text == "" {
		return fmt.Errorf("--%s is empty", f.Name)
	}
	fs.given = append(fs.given, "--"+f.Name+"="+text)
	err := fs.Set(f.Name, text)
	if err == nil && f.Value.Type() == "int" && strings.HasPrefix(f.Value.String(), "-") {
		err = fmt.Errorf("--%s %s: negative", f.Name, text)
	}
	return err
}

// suggestion returns the end of the error message for a flag that this command does not have: the commands with the flag,
// or else a flag with a similar name. It returns "" for shorthands and for other errors.
func (fs *Flags) suggestion(err error, all []*Command) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	name := unknown.GetSpecifiedName()
	var with []string
	for _, c := range all {
		if flags := c.Flags(); flags != nil && flags.Lookup(name) != nil {
			with = append(with, c.Name)
		}
	}
	if len(with) > 0 {
		return ", which is of " + orList(with)
	}
	return printable.DidYouMean("--"+name, func(yield func(string) bool) {
		more := true
		fs.VisitAll(func(f *Flag) { more = more && yield("--"+f.Name) })
	})
}

// Check adds a check of values, to run after all flags are parsed.
func (fs *Flags) Check(check func(command string) error) { fs.checks = append(fs.checks, check) }

// check runs all checks.
func (fs *Flags) check() error {
	for _, check := range fs.checks {
		if err := check(fs.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Given returns the words of the command line that set flags of a group, each as --NAME=VALUE.
func (fs *Flags) Given(group Group) (words []string) {
	of := newFlags("")
	group(of)
	for _, word := range fs.given {
		if name, _, _ := strings.Cut(word[len("--"):], "="); of.Lookup(name) != nil {
			words = append(words, word)
		}
	}
	return words
}

// ParseGiven sets flags of a group to the words that Given has returned.
func ParseGiven(command string, words []string, group Group) error {
	fs := newFlags(command)
	group(fs)
	if err := fs.ParseAll(words, fs.set); err != nil {
		return plainError(err)
	}
	return fs.check()
}

// Flag is a flag.
type Flag = pflag.Flag

// Form is the syntax of a flag's values.
type Form[T any] struct {
	Name string // the name of a value in the help, like SECONDS
	Read func(text string) (T, error)
	// Write formats a default for the help. If it is nil or returns "", the help shows no default.
	Write func(T) string
	// Choices are all possible values, if the list is short.
	Choices []string
	// Bare is the value of a flag that is given without a value. If Bare is "", the flag needs a value. A number after
	// the flag is taken as its value.
	Bare string
	// Continues, if set, reports whether the next argument belongs to the value, too. Read then gets both
	// arguments, with a zero byte between them.
	Continues func(value string) bool
}

// Define defines a flag with values in a form.
func Define[T any](fs *Flags, to *T, name, short, about string, form Form[T]) {
	f := fs.VarPF(&value[T]{to: to, form: form}, name, short, about)
	f.NoOptDefVal, f.Annotations = form.Bare, map[string][]string{choices: form.Choices}
}

const choices = "choices"

// Choices returns the possible values of a flag, nil if they were not listed.
func Choices(f *Flag) []string { return f.Annotations[choices] }

// value implements pflag.Value for flags with a Form.
type value[T any] struct {
	to   *T
	form Form[T]
	text string // as given
}

func (v *value[T]) Type() string { return v.form.Name }

func (v *value[T]) String() string {
	if v.form.Write == nil {
		return v.text
	}
	return v.form.Write(*v.to)
}

func (v *value[T]) Set(text string) (err error) {
	read, err := v.form.Read(text)
	if err == nil {
		*v.to, v.text = read, text
	}
	return err
}

func (v *value[T]) continues(text string) bool {
	return v.form.Continues != nil && v.form.Continues(text)
}

// takesNumber reports whether the word after flag f is its value. It is, if it is a number and the value of f is
// optional and not a bool.
func takesNumber(f *Flag, word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil && f.NoOptDefVal != "" && f.Value.Type() != "bool"
}

// HasTerm reports whether a term of a [Rule] is true for the command line. A term that is only a name is true if the flag
// is given, with a value that is neither its default nor 0. A term name=value is true if the flag has that value, even by
// default. The term program is true if -- is given.
func (fs *Flags) HasTerm(term string) bool {
	name, want, hasValue := strings.Cut(term, "=")
	f := fs.Lookup(name)
	switch {
	case term == "program":
		return fs.ArgsLenAtDash() >= 0 || fs.Name() == "demo" // demo runs ftgo itself
	case f == nil:
		return false
	case hasValue:
		return f.Value.String() == want
	}
	text := f.Value.String()
	return f.Changed && text != f.DefValue && text != "0"
}

// JoinValues joins flags and optional values by =, because pflag takes optional values only there: it would read 3
// as a FUNC in -s 3, and as a flag in -s3. It also joins values that have two words.
func (fs *Flags) JoinValues(args []string) []string {
	var out []string
	for len(args) > 0 && args[0] != "--" {
		word, last := fs.joinShorthand(args[0])
		args = args[1:]
		name, value, hasValue := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") {
			last = fs.Lookup(name)
		}
		switch {
		case last == nil || hasValue || len(args) == 0:
		case last.NoOptDefVal == "": // the next word is its value
			out = append(out, word)
			word, value, hasValue, args = args[0], args[0], true, args[1:]
		case takesNumber(last, args[0]):
			word, args = word+"="+args[0], args[1:]
		}
		if last != nil && hasValue && continues(last, value, args) {
			word, args = word+"\x00"+args[0], args[1:]
		}
		out = append(out, word)
	}
	return append(out, args...)
}

// joinShorthand joins a shorthand and the number after it in the same word: -s3 becomes -s=3. last is the flag whose value
// may be the next word, or nil.
func (fs *Flags) joinShorthand(word string) (joined string, last *Flag) {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return word, nil
	}
	for i := 1; i < len(word); i++ {
		f, rest := fs.ShorthandLookup(word[i:i+1]), word[i+1:]
		switch {
		case rest == "":
			return word, f
		case f == nil || f.NoOptDefVal == "" || rest[0] == '=':
			return word, nil
		case takesNumber(f, rest):
			return word[:i+1] + "=" + rest, nil
		}
	}
	return word, nil
}

// continues reports whether a flag's value continues in the first of the words after it.
func continues(f *Flag, value string, behind []string) bool {
	v, ok := f.Value.(interface{ continues(string) bool })
	return ok && len(behind) > 0 && behind[0] != "--" && v.continues(value)
}

// Seconds is the form of times like 5, 0.5 or 100ms.
var Seconds = Form[time.Duration]{Name: "SECONDS", Read: readSeconds, Write: func(d time.Duration) string {
	return strings.TrimPrefix(d.String(), "0s")
}}

func readSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || !(f < 1e9) { // 1e9 s is 30 years; NaN is an error, too
			return 0, fmt.Errorf("parse time %q: neither seconds nor a duration like 100ms", text)
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return 0, fmt.Errorf("parse time %q: not positive", text)
	}
	return d, nil
}

// Size is the form of sizes like 512K. The value is in KB.
var Size = Form[int]{Name: "SIZE", Read: readSize, Write: func(kb int) string {
	return strings.TrimPrefix(fmt.Sprintf("%dK", kb), "0K")
}}

// maxSizeKB is 1 TB. The kernel also refuses smaller sizes if it lacks the memory.
const maxSizeKB = 1 << 30

func readSize(text string) (int, error) {
	number := strings.TrimRight(text, "KMGkmg")
	unit := map[string]int{"K": 1, "M": 1 << 10, "G": 1 << 20}[strings.ToUpper(text[len(number):])]
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || unit == 0 || n < 0:
		return 0, fmt.Errorf("parse size %q: not like 512K, 64M or 1G", text)
	case n*unit < 4 || n > maxSizeKB/unit:
		return 0, fmt.Errorf("parse size %q: not from 4K to 1024G", text)
	}
	return n * unit, nil
}

// OneOf returns the form of a value that must be one of words. name is the name of the value in the help, and kind says in
// errors what the value is.
func OneOf(name, kind string, words ...string) Form[string] {
	return Form[string]{
		Name: name, Choices: words,
		Write: func(word string) string { return word },
		Read: func(text string) (string, error) {
			if !slices.Contains(words, text) {
				return "", fmt.Errorf("parse %s %q: not %s", kind, text, orList(words))
			}
			return text, nil
		},
	}
}

// Headings is a line for each heading of the help texts, in their order: the heading, its flags, and after a semicolon
// the flags that only the full help lists.
//
//go:embed headings.txt
var Headings string

// VisitHeadings calls f for each heading that has flags of the command. If all is false, it leaves out the flags that only
// the full help lists. A flag has the same heading in all commands.
func (fs *Flags) VisitHeadings(all bool, f func(title string, flags []*Flag)) {
	for line := range strings.Lines(Headings) {
		title, names, _ := strings.Cut(line, ":")
		if frequent, rare, _ := strings.Cut(names, ";"); all {
			names = frequent + rare
		} else {
			names = frequent
		}
		var flags []*Flag
		for name := range strings.FieldsSeq(names) {
			if found := fs.Lookup(name); found != nil {
				flags = append(flags, found)
			}
		}
		if len(flags) > 0 {
			f(title, flags)
		}
	}
}

// PlainWidth is the width of help that is not written to a terminal.
const PlainWidth = 80

// Help returns the help for the flags, wrapped at width columns. If all is false, it leaves out rare flags.
func (fs *Flags) Help(width int, all bool) string {
	var b strings.Builder
	fs.VisitHeadings(all, func(title string, flags []*Flag) {
		under := newFlags("")
		for _, f := range flags {
			under.AddFlag(f)
		}
		fmt.Fprintf(&b, "\n%s:\n%s", title, under.FlagUsagesWrapped(width))
	})
	return b.String()
}

// HelpText returns the name of a flag's value, and the flag's help text with its default.
func HelpText(f *Flag) (value, text string) {
	value, text = pflag.UnquoteUsage(f)
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
		text += " (default " + f.DefValue + ")"
	}
	return value, text
}
