// Command values is a target for tracers that keeps a log of the values that its
// functions take and give.
//
// It calls each of them -n times with random values of some type, and writes a JSON
// object a call:
//
//	{"function":"main.text","args":{"s":"bob"},"results":{"r0":"bob, bob"}}
//
// A closure's args end with the variables that it captures. Values are written as "ftgo
// trace -o json" does, except that pointers are followed further (four of them in a row),
// and that the message of an error is never cut. Calls are made one after the other, on
// one goroutine; nothing that a value leads to changes during a call. An instance of a
// generic function is named by its type arguments, main.swap[int,string], rather than by
// their shapes.
//
// What is no function to be traced is a method of *recorder or *random, or one of the
// functions that begin with main.main or main.init.
//
// It compiles with Go 1.5 to 1.26, as a module package and in GOPATH mode, so the files
// without build constraints use nothing newer than Go 1.5.
//
// Usage: values [-n CALLS] [-seed N] [-strlen BYTES] [-items N] [-wait] [-o FILE]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"
)

// target is a function to be called.
type target struct {
	name string
	fn   interface{}
	// params and results are their names, with spaces between; unnamed results are r0,
	// r1 ….
	params, results string
	// args makes the arguments; nil is random ones of the parameters' types.
	args func(r *random) []interface{}
}

// targets is added to by the init functions of the other files.
var targets []target

func main() {
	n := flag.Int("n", 100, "call each function so many times")
	seed := flag.Int64("seed", 1, "of the random values")
	strLen := flag.Int("strlen", 64, "bytes shown of a string")
	items := flag.Int("items", 8, "elements shown of a slice or an array")
	wait := flag.Bool("wait", false, "print ready and the process id to standard error, then wait for a line or EOF")
	file := flag.String("o", "", "write to this file instead of standard output")
	flag.Parse()
	if *wait {
		fmt.Fprintln(os.Stderr, "ready", os.Getpid())
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	out := os.Stdout
	if *file != "" {
		var err error
		if out, err = os.Create(*file); err != nil {
			fmt.Fprintln(os.Stderr, "values:", err)
			os.Exit(1)
		}
	}
	rec := &recorder{out: bufio.NewWriter(out), strLen: *strLen, items: *items}
	for _, t := range targets {
		r := &random{Rand: rand.New(rand.NewSource(*seed))}
		for ; r.call < *n; r.call++ {
			rec.run(t, r)
		}
	}
	r := &random{Rand: rand.New(rand.NewSource(*seed))}
	for ; r.call < *n; r.call++ {
		rec.closures(r)
	}
	if err := rec.out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
	if err := out.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
}

// run calls a target once.
func (rec *recorder) run(t target, r *random) {
	fn := reflect.ValueOf(t.fn)
	var args []reflect.Value
	if t.args == nil {
		for i := 0; i < fn.Type().NumIn(); i++ {
			args = append(args, r.value(fn.Type().In(i)))
		}
	} else {
		for i, a := range t.args(r) {
			args = append(args, rec.as(a, fn.Type().In(i)))
		}
	}
	rec.call(t.name, fn, strings.Fields(t.params), strings.Fields(t.results), args, nil)
}

// as makes a reflect.Value of a type: of the zero one if it is the nil interface.
func (rec *recorder) as(v interface{}, t reflect.Type) reflect.Value {
	out := reflect.New(t).Elem()
	if v != nil {
		out.Set(reflect.ValueOf(v))
	}
	return out
}
