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
}

func newFlags(command string) *Flags {
	fs := &Flags{FlagSet: pflag.NewFlagSet(command, pflag.ContinueOnError)}
	fs.SortFlags, fs.Usage = false, func() {}
	return fs
}

// set sets a flag, but to no empty text, which is what a variable stands for that is not set, and to no number below 0.
func (fs *Flags) set(f *Flag, text string) error {
	if text == "" {
		return fmt.Errorf("--%s is empty", f.Name)
	}
	err := fs.Set(f.Name, text)
	if err == nil && f.Value.Type() == "int" && strings.HasPrefix(f.Value.String(), "-") {
		err = fmt.Errorf("--%s %s: negative", f.Name, text)
	}
	return err
}

// meant says which commands have a flag, or else asks for the one that may have been meant, if err is
// that there is none of the name.
func (fs *Flags) meant(err error, all []*Command) string {
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

// Check has values checked once all flags were read.
func (fs *Flags) Check(check func(command string) error) { fs.checks = append(fs.checks, check) }

// Flag is one of them.
type Flag = pflag.Flag

// Form is how the values of a flag are written.
type Form[T any] struct {
	Name string // what a value is called, like SECONDS
	Read func(text string) (T, error)
	// Write writes a value for the help to show as the default. Nil shows none.
	Write func(T) string
	// Choices are all values, if they are few words.
	Choices []string
	// Bare is what the flag means without a value, "" if it takes one. A number behind the flag is then meant for it.
	Bare string
	// More, if set, tells whether a value goes on with the word behind it, and a zero byte between.
	More func(value string) bool
}

// Define defines a flag whose values have a form of their own.
func Define[T any](fs *Flags, to *T, name, short, about string, form Form[T]) {
	f := fs.VarPF(&value[T]{to, form}, name, short, about)
	f.NoOptDefVal, f.Annotations = form.Bare, map[string][]string{choices: form.Choices}
}

// choices is the annotation of a flag that has all its values.
const choices = "choices"

// Choices are the values of a flag, nil if there are too many.
func Choices(f *Flag) []string { return f.Annotations[choices] }

// value is the pflag.Value of all such flags.
type value[T any] struct {
	to   *T
	form Form[T]
}

func (v *value[T]) Type() string { return v.form.Name }

func (v *value[T]) String() string {
	if v.form.Write == nil {
		return ""
	}
	return v.form.Write(*v.to)
}

func (v *value[T]) Set(text string) (err error) {
	read, err := v.form.Read(text)
	if err == nil {
		*v.to = read
	}
	return err
}

func (v *value[T]) more(text string) bool { return v.form.More != nil && v.form.More(text) }

// takes tells whether a word behind a flag is meant for it that may go without.
func takes(f *Flag, word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil && f.NoOptDefVal != "" && f.Value.Type() != "bool"
}

// Given tells whether a term of a [Rule] is true of the command line. A flag with its default,
// or 0, is as if it was not there.
func (fs *Flags) Given(term string) bool {
	name, want, valued := strings.Cut(term, "=")
	f := fs.Lookup(name)
	switch {
	case term == "program":
		return fs.ArgsLenAtDash() >= 0
	case f == nil:
		return false
	case valued:
		return f.Value.String() == want
	}
	text := f.Value.String()
	return f.Changed && text != f.DefValue && text != "0"
}

// Join puts an = before values that may be left out, because pflag looks for them
// nowhere else: of -s 3 it would leave 3 to be a FUNC, and of -s3 a flag. It also makes
// one word of values that are two.
func (fs *Flags) Join(args []string) []string {
	var out []string
	for len(args) > 0 && args[0] != "--" {
		word, last := fs.joinShorthand(args[0])
		args = args[1:]
		name, value, whole := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") {
			last = fs.Lookup(name)
		}
		switch {
		case last == nil || whole || len(args) == 0:
		case last.NoOptDefVal == "": // it takes any word
			out = append(out, word)
			word, value, whole, args = args[0], args[0], true, args[1:]
		case takes(last, args[0]):
			word, args = word+"="+args[0], args[1:]
		}
		if last != nil && whole && more(last, value, args) {
			word, args = word+"\x00"+args[0], args[1:]
		}
		out = append(out, word)
	}
	return append(out, args...)
}

// joinShorthand does so for a value that is in one word with its flag. last is the flag
// whose value may be the next word, nil if there is none.
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
		case takes(f, rest):
			return word[:i+1] + "=" + rest, nil
		}
	}
	return word, nil
}

// more tells whether a flag's value goes on with the first of the words behind it.
func more(f *Flag, value string, behind []string) bool {
	v, ok := f.Value.(interface{ more(string) bool })
	return ok && len(behind) > 0 && behind[0] != "--" && v.more(value)
}

// Seconds is the form of times like 5, 0.5 or 100ms.
var Seconds = Form[time.Duration]{Name: "SECONDS", Read: readSeconds, Write: time.Duration.String}

func readSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || !(f < 1e9) { // 1e9 s is 30 years; NaN fails, too
			return 0, fmt.Errorf("parse time %q: neither seconds nor a duration like 100ms", text)
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return 0, fmt.Errorf("parse time %q: not positive", text)
	}
	return d, nil
}

// Size is the form of sizes like 512K, in KB.
var Size = Form[int]{Name: "SIZE", Read: readSize, Write: func(kb int) string { return fmt.Sprintf("%dK", kb) }}

// maxSizeKB is 1 TB: what the kernel can't give, it refuses.
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

// OneOf is the form of one of a few words, which are of a kind. wrong ends the error of others.
func OneOf(name, kind, wrong string, words ...string) Form[string] {
	return Form[string]{
		Name: name, Choices: words, Write: func(word string) string { return word },
		Read: func(text string) (string, error) {
			if !slices.Contains(words, text) {
				return "", fmt.Errorf("parse %s %q: %s", kind, text, wrong)
			}
			return text, nil
		},
	}
}

// Headings are what flags are about, in the order of the help text, and the flags of each.
//
//go:embed headings.txt
var Headings string

// VisitHeadings calls f with each heading under which there are flags, and with these flags. Each flag
// stands under one heading, in every command that has it.
func (fs *Flags) VisitHeadings(f func(title string, flags []*Flag)) {
	for line := range strings.Lines(Headings) {
		title, names, _ := strings.Cut(line, ":")
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

const (
	// HelpColumn is where the texts of flags begin.
	HelpColumn = 26
	// PlainWidth is the width of help that is not written to a terminal.
	PlainWidth = 80
	// leastText is how many columns a flag's text has on the narrowest terminal.
	leastText = 20
)

// Help is the part of a help text that lists flags, for a terminal of some width.
func (fs *Flags) Help(width int) string {
	var b strings.Builder
	fs.VisitHeadings(func(title string, flags []*Flag) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, f := range flags {
			short := ""
			if f.Shorthand != "" {
				short = "-" + f.Shorthand + ", "
			}
			left := strings.TrimSuffix(fmt.Sprintf("  %4s--%s %s", short, f.Name, ValueName(f)), " ")
			if len(left) > HelpColumn-2 {
				b.WriteString(left + "\n")
				left = ""
			}
			for _, line := range printable.Wrap(About(f), max(width-HelpColumn, leastText)) {
				fmt.Fprintf(&b, "%-*s%s\n", HelpColumn, left, line)
				left = ""
			}
		}
	})
	return b.String()
}

// ValueName is what a flag's value is called, in brackets where it may be left out.
func ValueName(f *Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	if name != "" && f.NoOptDefVal != "" {
		return "[" + name + "]"
	}
	return name
}

// About is a flag's sentence, and its default.
func About(f *Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if !slices.Contains([]string{"", "0", "0s", "0K", "false", "[]"}, f.DefValue) {
		text += " (default " + f.DefValue + ")"
	}
	return text
}
