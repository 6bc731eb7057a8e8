package main

import (
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/tracefs"
)

// readerValue is the flag value of --reader.
type readerValue struct{ r *tracefs.Reader }

var readers = []string{tracefs.Pipe: "pipe", tracefs.Raw: "raw"}

func (v readerValue) String() string {
	if v.r == nil {
		return ""
	}
	return readers[*v.r]
}

func (v readerValue) Type() string { return "READER" }

func (v readerValue) Choices() []string { return readers }

func (v readerValue) Set(text string) error {
	i := slices.Index(readers, text)
	if i < 0 {
		return fmt.Errorf("parse reader %q: neither pipe nor raw", text)
	}
	*v.r = tracefs.Reader(i)
	return nil
}
