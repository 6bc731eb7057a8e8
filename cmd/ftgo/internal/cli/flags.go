package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// Flags are the flags of a command.
type Flags struct{ *pflag.FlagSet }

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
	// Bare is what the flag means without a value, "" if it takes one. Takes tells then whether
	// the word behind the flag is meant for it.
	Bare  string
	Takes func(word string) bool
	// More, if set, tells whether a value goes on with the word behind it, and a zero byte between.
	More func(value string) bool
}

// Define defines a flag whose values have a form of their own.
func Define[T any](fs *Flags, to *T, name, short, about string, form Form[T]) {
	fs.VarPF(&value[T]{to, form}, name, short, about).NoOptDefVal = form.Bare
}

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

func (v *value[T]) choices() []string { return v.form.Choices }

func (v *value[T]) takes(word string) bool { return v.form.Takes != nil && v.form.Takes(word) }

func (v *value[T]) more(text string) bool { return v.form.More != nil && v.form.More(text) }

// Choices are the values of a flag, nil if there are too many.
func Choices(f *Flag) []string {
	if v, ok := f.Value.(interface{ choices() []string }); ok {
		return v.choices()
	}
	return nil
}

// takes tells whether a word behind a flag is meant for it that may go without.
func takes(f *Flag, word string) bool {
	v, ok := f.Value.(interface{ takes(string) bool })
	return ok && v.takes(word)
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
	case term == "pid=several":
		pids, isList := f.Value.(pflag.SliceValue)
		return isList && len(pids.GetSlice()) > 1
	case valued:
		return f.Value.String() == want
	}
	text := f.Value.String()
	return f.Changed && text != f.DefValue && text != "0"
}
