// Command thirty has thirty functions whose parameters and results are of the kinds that
// every tracer should know: integers, booleans, strings, slices, structs, pointers,
// errors. It calls each of them -n times and writes a JSON object a call to standard
// output, with values as "ftgo trace -o json" writes them:
//
//	{"function":"main.add","args":{"a":42,"b":13},"results":{"r0":55}}
//
// At the end it prints to standard error how many calls there were and how long they took,
// {"calls":30,"ns":12345}. That time is the calls' alone with -quiet, which writes none
// of them.
//
// Usage: thirty [-n CALLS] [-quiet]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"
)

// target is a function to be called: params are the names of its parameters, results
// those of its results, "" if they have none; args makes the arguments of the nth call.
type target struct {
	name            string
	fn              interface{}
	params, results string
	args            func(n int) []interface{}
}

func main() {
	n := flag.Int("n", 1, "call each function so many times")
	quiet := flag.Bool("quiet", false, "do not write the calls")
	flag.Parse()
	rec := &recorder{out: bufio.NewWriter(os.Stdout), quiet: *quiet}
	// The arguments of one call of each, made beforehand, do for quiet ones.
	prepared := make([][]reflect.Value, len(targets))
	for i, t := range targets {
		prepared[i] = rec.arguments(t, 0)
	}
	began := time.Now()
	for k := 0; k < *n; k++ {
		for i, t := range targets {
			args := prepared[i]
			if !*quiet {
				args = rec.arguments(t, k)
			}
			rec.call(t, args)
		}
	}
	fmt.Fprintf(os.Stderr, `{"calls":%d,"ns":%d}`+"\n", *n*len(targets), time.Since(began).Nanoseconds())
	if err := rec.out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "thirty:", err)
		os.Exit(1)
	}
}

func (rec *recorder) arguments(t target, n int) []reflect.Value {
	var args []reflect.Value
	fn := reflect.TypeOf(t.fn)
	for i, a := range t.args(n) {
		v := reflect.New(fn.In(i)).Elem()
		if a != nil {
			v.Set(reflect.ValueOf(a))
		}
		args = append(args, v)
	}
	return args
}

func (rec *recorder) call(t target, args []reflect.Value) {
	fn := reflect.ValueOf(t.fn)
	if rec.quiet {
		fn.Call(args)
		return
	}
	fmt.Fprintf(rec.out, `{"function":%q,"args":`, t.name)
	rec.object(strings.Fields(t.params), args)
	rec.out.WriteString(`,"results":`)
	out := fn.Call(args)
	names := strings.Fields(t.results)
	if len(names) == 0 {
		for i := range out {
			names = append(names, fmt.Sprint("r", i))
		}
	}
	rec.object(names, out)
	rec.out.WriteString("}\n")
}
