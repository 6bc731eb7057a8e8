package capture

import (
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// pathError is the form of fs.PathError, {Op, Path string; Err error} (io/fs/fs.go; os.PathError before Go 1.16).
const pathError = "{Op} {Path}: {Err}"

// errorForms describes the results of the Error methods of common error types in the standard library: {X} is the field
// X of the struct that the interface points to, {q X} the field in quotes.
var errorForms = map[string]string{
	"*errors.errorString":           "{s}",   // errors/errors.go
	"*fmt.wrapError":                "{msg}", // fmt/errors.go
	"*fmt.wrapErrors":               "{msg}",
	"*fs.PathError":                 pathError, // runtime type names have no import paths
	"*io/fs.PathError":              pathError,
	"*os.PathError":                 pathError,
	"*os.SyscallError":              "{Syscall}: {Err}", // os/error.go
	"*strconv.NumError":             "strconv.{Func}: parsing {q Num}: {Err}",
	"*url.Error":                    "{Op} {q URL}: {Err}", // net/url/url.go
	"*net/url.Error":                "{Op} {q URL}: {Err}",
	"*exec.Error":                   "exec: {q Name}: {Err}", // os/exec/exec.go
	"*os/exec.Error":                "exec: {q Name}: {Err}",
	"context.deadlineExceededError": "context deadline exceeded",
	"*poll.DeadlineExceededError":   "i/o timeout", // internal/poll/fd.go
	"poll.errNetClosing":            "use of closed network connection",
}

// ErrorMessage returns the result of the Error method of the value in an interface, as a string. ok is false if its
// type is not in errorForms and is not syscall.Errno, or a field is not known. The message is cut where one of its
// fields is cut. If the message of the cause is not known, the cause's type stands in parentheses instead, and Len is
// -1.
func (v *Value) ErrorMessage() (message Value, ok bool) {
	message = Value{Name: v.Name, Type: stringType}
	if v.Type == nil || v.Type.Kind != reflect.Interface || !known(v.Elem) {
		return message, false
	}
	if v.Dynamic == "syscall.Errno" && v.Elem.Type != nil && v.Elem.Type.Kind == reflect.Uint {
		// Linux has the same numbers on amd64 and arm64.
		message.addText(syscall.Errno(v.Elem.Num).Error())
		return message, true
	}
	form, ok := errorForms[v.Dynamic]
	for ok && form != "" {
		before, rest, _ := strings.Cut(form, "{")
		message.addText(before)
		if rest == "" {
			break
		}
		field, after, _ := strings.Cut(rest, "}")
		ok, form = message.addField(v.Elem.Elem, field), after
	}
	return message, ok
}

// addField appends a field of an error. It returns false if the field is not known.
func (message *Value) addField(parent *Value, field string) bool {
	name, quoted := strings.CutPrefix(field, "q ")
	f := parent.field(name)
	if name == "Err" && known(f) {
		cause, ok := f.ErrorMessage()
		if !ok && f.Dynamic == "" {
			return false
		} else if !ok { // the fields of the cause are not fetched
			message.addText("(" + f.Dynamic + ")")
			message.Len = -1
			return true
		}
		f = &cause
	}
	if !known(f) || f.Type == nil || f.Type.Kind != reflect.String {
		return false
	}
	if quoted && !f.Cut() {
		message.addText(strconv.Quote(string(f.Bytes)))
		return true
	} else if quoted {
		message.addText(`"`)
	}
	message.add(f)
	return true
}

func (message *Value) addText(text string) {
	message.add(&Value{Type: stringType, Bytes: []byte(text), Len: int64(len(text))})
}

// add appends a string. If the message is cut already, only its length grows.
func (message *Value) add(s *Value) {
	if !message.Cut() {
		message.Bytes = append(message.Bytes, s.Bytes...)
	}
	if message.Len += s.Len; s.Len < 0 {
		message.Len = -1
	}
}
