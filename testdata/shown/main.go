// Command shown has the names that the README, the help text and the manual pages use in
// their examples: tests run these on it. It waits until its standard input ends.
package main

import (
	"io"
	"net/http"
	_ "net/http/pprof" // for ftgo heap
	"os"
)

type limits struct{ Max int }

var (
	counter int
	cfg     struct{ Limits limits }
)

//go:noinline
func get(key string, n int) (value string, err error) {
	counter++
	return key[min(n, len(key)):], nil
}

//go:noinline
func handle(w http.ResponseWriter, req *http.Request) {
	value, _ := get(req.URL.Path, cfg.Limits.Max)
	io.WriteString(w, value)
}

//go:noinline
func parse(text string) int { return len(text) + counter }

func main() {
	s := &http.Server{Handler: http.HandlerFunc(handle)}
	if parse(os.Args[0]) < 0 {
		s.ListenAndServe()
	}
	io.Copy(io.Discard, os.Stdin)
}
