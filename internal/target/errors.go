package target

import (
	"errors"
	"fmt"
)

// Kinds of errors, besides those of the file and of the system.
var (
	// ErrUsage: what was asked for can't be meant.
	ErrUsage = errors.New("wrong usage")
	// ErrNothing: the binary has nothing that is meant.
	ErrNothing = errors.New("nothing matched")
)

// kindError is an error of a kind that its text does not tell.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

func usage(err error) error { return &kindError{ErrUsage, err} }

func nothing(err error) error { return &kindError{ErrNothing, err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

func nothingf(format string, args ...any) error { return nothing(fmt.Errorf(format, args...)) }
