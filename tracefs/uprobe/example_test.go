package uprobe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// slow prints the calls of a function that take longer than 10 ms, until ctx is done.
func slow(ctx context.Context, path, function string) (err error) {
	binary, err := offsets.Open(path)
	if err != nil {
		return err
	}
	defer binary.Close()
	fn, ok := binary.Lookup(function)
	if !ok {
		return offsets.ErrNoFunc
	}
	fs, err := tracefs.Find()
	if err != nil {
		return err
	}
	plan, err := uprobe.New(binary, []*offsets.Func{fn}, uprobe.Options{Features: fs.Features()})
	if err != nil {
		return err
	}
	session, err := tracefs.Start(ctx, fs, plan.Target(), plan.TraceEvents(), tracefs.Options{})
	if err != nil {
		return err
	}
	// No log.Fatal from here on: the probes must not outlive us.
	defer func() { err = errors.Join(err, session.Close()) }()
	for call, err := range parse.Calls(ctx, session, plan) {
		if err != nil {
			return err
		}
		if d := session.Timebase().Duration(call.Start, call.End); call.Outcome == parse.Returned && d > 10*time.Millisecond {
			fmt.Printf("goroutine %d: %s took %v\n", call.Goid, function, d)
		}
	}
	return nil
}

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := slow(ctx, os.Args[0], "no.such.function"); errors.Is(err, offsets.ErrNoFunc) {
		fmt.Println("no such function")
	}
	// Output: no such function
}
