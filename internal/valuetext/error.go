package valuetext

import (
	"reflect"
	"slices"
	"syscall"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var stringType, _ = gotype.Basic("string")

// pathError is {Op, Path string; Err error} (io/fs/fs.go; os.PathError before Go 1.16).
var pathError = []string{"Op", " ", "Path", ": ", "Err"}

// errorForms are what the Error methods write of the fields of what a pointer points to, and
// what they write between those, for the types of the standard library that most errors have.
var errorForms = map[string][]string{
	"*errors.errorString": {"s"},   // errors/errors.go
	"*fmt.wrapError":      {"msg"}, // fmt/errors.go
	"*fmt.wrapErrors":     {"msg"},
	"*fs.PathError":       pathError, // the runtime has no import paths
	"*io/fs.PathError":    pathError,
	"*os.PathError":       pathError,
	"*os.SyscallError":    {"Syscall", ": ", "Err"}, // os/error.go
}

// ErrorMessage returns what the Error method of the value in an interface would, if it has one
// of errorForms or is a syscall.Errno. It is a string, cut where a part of it is.
func ErrorMessage(v *capture.Value) (message capture.Value, ok bool) {
	if v.Type == nil || v.Type.Kind != reflect.Interface || !known(v.Elem) {
		return capture.Value{}, false
	}
	message = capture.Value{Name: v.Name, Type: stringType}
	form, ok := errorForms[v.Dynamic]
	if v.Dynamic == "syscall.Errno" && v.Elem.Type != nil && v.Elem.Type.Kind == reflect.Uint {
		// The numbers of this machine, which is the target's.
		addText(&message, syscall.Errno(v.Elem.Num).Error())
		return message, true
	}
	for i, part := range form {
		if i%2 == 1 {
			addText(&message, part)
			continue
		}
		f := fieldOf(v.Elem.Elem, part)
		if part == "Err" && known(f) {
			cause, ok := ErrorMessage(f)
			if !ok {
				return message, false
			}
			f = &cause
		}
		if !known(f) || f.Type == nil || f.Type.Kind != reflect.String {
			return message, false
		}
		add(&message, f)
	}
	return message, ok
}

func addText(message *capture.Value, text string) {
	add(message, &capture.Value{Type: stringType, Bytes: []byte(text), Len: int64(len(text))})
}

// add appends a string; what would stand behind a cut is only counted.
func add(message, s *capture.Value) {
	if !message.Cut() {
		message.Bytes = append(message.Bytes, s.Bytes...)
	}
	message.Len += s.Len
}

// fieldOf returns a field of a struct, nil if there is none of that name.
func fieldOf(v *capture.Value, name string) *capture.Value {
	if !known(v) {
		return nil
	}
	i := slices.IndexFunc(v.Fields, func(f capture.Value) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &v.Fields[i]
}
