// Command chores does what programs do with the standard library: it serves and asks over
// HTTP and TLS, dials, reads, queries a database, starts goroutines, panics and recovers,
// waits for a mutex. It is the target of scripts/recipes, and keeps a log of its own: a line
// for each thing done, of fields with tabs between them.
//
// Usage: chores [-log FILE] CHORE...
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
)

var chores = map[string]func() error{
	"dials": dials, "gc": collections, "goroutines": goroutines, "http": requests, "mutex": mutexes,
	"panics": panics, "random": random, "reads": reads, "sql": queries, "tls": handshakes,
}

var (
	logMu   sync.Mutex
	logFile *os.File // nil without -log
)

// note writes a line of the log.
func note(fields ...any) {
	logMu.Lock()
	defer logMu.Unlock()
	if logFile == nil {
		return
	}
	line := strings.TrimSuffix(strings.Repeat("%v\t", len(fields)), "\t") + "\n"
	if _, err := fmt.Fprintf(logFile, line, fields...); err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("chores: ")
	name := flag.String("log", "", "write what was done to `FILE`")
	flag.Parse()
	if *name != "" {
		var err error
		if logFile, err = os.Create(*name); err != nil {
			log.Fatal(err)
		}
	}
	for _, name := range flag.Args() {
		chore := chores[name]
		if chore == nil {
			log.Fatalf("no chore %q", name)
		}
		if err := chore(); err != nil {
			log.Fatal(err)
		}
	}
}
