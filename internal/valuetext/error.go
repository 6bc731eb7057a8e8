package valuetext

import (
	"reflect"
	"syscall"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var stringType, _ = gotype.Basic("string")

// ErrorMessage returns what the Error method of the value in an interface would, for
// the types of the standard library that most errors have:
//
//   - *errors.errorString (errors/errors.go) {s string}
//   - *fmt.wrapError, *fmt.wrapErrors (fmt/errors.go) {msg string; …}
//   - *fs.PathError (io/fs/fs.go; os.PathError before Go 1.16) {Op, Path string; Err error}
//   - *os.SyscallError (os/error.go) {Syscall string; Err error}
//   - syscall.Errno, a number
//
// It is a string, cut where a part of it is.
func ErrorMessage(v *capture.Value) (message capture.Value, ok bool) {
	if v.Type == nil || v.Type.Kind != reflect.Interface || !known(v.Elem) {
		return capture.Value{}, false
	}
	message = capture.Value{Name: v.Name, Type: stringType}
	switch v.Dynamic {
	case "*errors.errorString":
		ok = addString(&message, v.Elem, "s")
	case "*fmt.wrapError", "*fmt.wrapErrors":
		ok = addString(&message, v.Elem, "msg")
	case "*fs.PathError", "*io/fs.PathError", "*os.PathError": // the runtime has no import paths
		if !addString(&message, v.Elem, "Op") {
			return message, false
		}
		addText(&message, " ")
		if !addString(&message, v.Elem, "Path") {
			return message, false
		}
		ok = addCause(&message, v.Elem)
	case "*os.SyscallError":
		ok = addString(&message, v.Elem, "Syscall") && addCause(&message, v.Elem)
	case "syscall.Errno":
		// The numbers of this machine, which is the target's.
		if ok = v.Elem.Type != nil && v.Elem.Type.Kind == reflect.Uint; ok {
			addText(&message, syscall.Errno(v.Elem.Num).Error())
		}
	}
	return message, ok
}

// addString adds a field of what a pointer points to.
func addString(message *capture.Value, pointer *capture.Value, name string) bool {
	f := fieldOf(pointer.Elem, name)
	if !known(f) || f.Type == nil || f.Type.Kind != reflect.String {
		return false
	}
	add(message, f)
	return true
}

// addCause adds the message of the field Err of what a pointer points to.
func addCause(message *capture.Value, pointer *capture.Value) bool {
	cause := fieldOf(pointer.Elem, "Err")
	if !known(cause) {
		return false
	}
	inner, ok := ErrorMessage(cause)
	if ok {
		addText(message, ": ")
		add(message, &inner)
	}
	return ok
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
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i]
		}
	}
	return nil
}
