// Command types prints what package reflect says of its types, with the addresses of
// their descriptions. It builds with Go 1.4 and later.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

type word string

func (w word) Error() string { return string(w) }

type embedded struct{ A, b int8 }

type pointerOnly struct{ p *int }

type all struct {
	embedded
	*pointerOnly
	Flag   bool
	_      int32
	Float  float32
	Wide   complex128
	List   []embedded
	Grid   [3][2]uint16
	Index  map[string]*all
	Pipe   <-chan time.Time
	Call   func(int, ...string) error
	Any    interface{}
	Reader io.Reader
	Raw    unsafe.Pointer
	Local  struct{ X, Y uintptr }
	empty  struct{}
	Last   [0]func()
}

// words are the two words of an interface.
func words(p unsafe.Pointer) [2]uintptr { return *(*[2]uintptr)(p) }

// base is where the program's file is mapped.
func base() uint64 {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		panic(err)
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var start uint64
		if _, err := fmt.Sscanf(s.Text(), "%x-", &start); err == nil && strings.HasSuffix(s.Text(), exe) {
			return start
		}
	}
	panic("the program's file is not mapped")
}

// direct tells whether an interface's second word is a value of the type itself, by
// putting one into an interface.
func direct(t reflect.Type) bool {
	if t.Size() != unsafe.Sizeof(uintptr(0)) || t.Kind() == reflect.Interface {
		return false
	}
	v := reflect.New(t)
	mark := unsafe.Pointer(&seen)
	*(*unsafe.Pointer)(unsafe.Pointer(v.Pointer())) = mark
	boxed := v.Elem().Interface()
	return words(unsafe.Pointer(&boxed))[1] == uintptr(mark)
}

var seen = make(map[reflect.Type]bool)

func walk(t reflect.Type) {
	if seen[t] {
		return
	}
	seen[t] = true
	addr := words(unsafe.Pointer(&t))[1]
	fmt.Printf("type\t%x\t%v\t%s\t%d\t%d\t%s\n", addr, direct(t), t.Kind(), t.Size(), t.Align(), t)
	switch t.Kind() {
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			fmt.Printf("field\t%d\t%v\t%s\t%s\n", f.Offset, f.Anonymous, f.Name, f.Type)
		}
		for i := 0; i < t.NumField(); i++ {
			walk(t.Field(i).Type)
		}
	case reflect.Array:
		fmt.Printf("len\t%d\n", t.Len())
		fmt.Printf("elem\t%s\n", t.Elem())
		walk(t.Elem())
	case reflect.Ptr, reflect.Slice, reflect.Chan:
		fmt.Printf("elem\t%s\n", t.Elem())
		walk(t.Elem())
	case reflect.Map:
		walk(t.Key())
		walk(t.Elem())
	case reflect.Func:
		for i := 0; i < t.NumIn(); i++ {
			walk(t.In(i))
		}
		for i := 0; i < t.NumOut(); i++ {
			walk(t.Out(i))
		}
	case reflect.Interface:
		fmt.Printf("methods\t%v\n", t.NumMethod() > 0)
	}
}

func main() {
	fmt.Printf("base\t%x\n", base())
	_, pathError := os.Open("/nonexistent")
	plain := errors.New("plain")
	wrapped := fmt.Errorf("wrapped: %"+"w", plain)
	refused := error(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
	number := 1
	for _, v := range []interface{}{
		plain, wrapped, pathError, refused, syscall.ENOENT, time.Second, time.Now(), "text", 1, &number,
		word("w"), &all{}, all{}, []byte(nil), [1]*int{}, pointerOnly{}, struct{ F func() }{}, struct{}{},
		make(chan<- int), main, reflect.ValueOf(1), os.Stdout,
	} {
		t := reflect.TypeOf(v)
		if got := words(unsafe.Pointer(&v))[0]; got != words(unsafe.Pointer(&t))[1] {
			panic("the interface's first word is not its type's address")
		}
		walk(t)
	}
	for _, e := range []error{plain, pathError, syscall.ENOENT, word("w")} {
		fmt.Printf("itab\t%x\t%T\n", words(unsafe.Pointer(&e))[0], e)
	}
	var text io.Reader = strings.NewReader("")
	fmt.Printf("itab\t%x\t%T\n", words(unsafe.Pointer(&text))[0], text)
	var any interface{} = text
	made := any.(io.RuneScanner) // an itab that the program makes
	fmt.Printf("itab\t%x\t%T\n", words(unsafe.Pointer(&made))[0], made)
	for _, f := range []func(){main, func() { number++ }} {
		pc := **(**uintptr)(unsafe.Pointer(&f))
		fmt.Printf("func\t%x\t%s\n", pc, runtime.FuncForPC(pc).Name())
	}
}
