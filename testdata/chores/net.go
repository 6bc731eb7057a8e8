package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"time"

	alike "github.com/ftgo/ftgo/testdata/chores/http"
)

// dials connects to what listens, and tries what does not.
func dials() error {
	for _, c := range []struct {
		address string
		n       int
	}{{"127.0.0.1:0", 3}, {"[::1]:0", 1}} {
		l, err := net.Listen("tcp", c.address)
		if err != nil {
			return err
		}
		address := l.Addr().(*net.TCPAddr)
		dial := func() {
			conn, err := net.Dial("tcp", address.String())
			if err != nil {
				note(address.IP, address.Port, "connect: connection refused")
				return
			}
			conn.Close()
			note(address.IP, address.Port, "nil")
		}
		for range c.n {
			dial()
		}
		l.Close()
		dial() // nobody listens any more
	}
	return nil
}

// serve answers by what the path asks for.
func serve(w http.ResponseWriter, r *http.Request) {
	status := 200
	switch {
	case strings.HasPrefix(r.URL.Path, "/no"):
		status = 404
		http.NotFound(w, r)
	case r.Method == "POST":
		status = 201
		w.WriteHeader(status)
	case strings.HasPrefix(r.URL.Path, "/slow"):
		time.Sleep(20 * time.Millisecond)
		fmt.Fprintln(w, "at last")
	case strings.HasPrefix(r.URL.Path, "/panic"):
		note("served", "panic", r.Method, r.URL.Path)
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/silent": // its status is written behind the handler
	default:
		fmt.Fprintln(w, "hello")
	}
	note("served", status, r.Method, r.URL.Path)
}

// requests are made of servers of its own, over HTTP/1 and HTTP/2, and one of a server that
// has gone. All that was asked has ended then, calls that a panic has gone through, too.
func requests() error {
	_ = alike.String()
	before := runtime.NumGoroutine()
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(serve))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		if s.EnableHTTP2 = two; two {
			s.StartTLS()
		} else {
			s.Start()
		}
		for _, r := range []struct{ method, path string }{
			{"GET", "/users/7"}, {"POST", "/users"}, {"GET", "/nowhere"}, {"GET", "/slow"}, {"GET", "/silent"}, {"HEAD", "/users/8"}, {"GET", "/panic"},
		} {
			if err := ask(s, r.method, r.path); err != nil {
				return err
			}
		}
		s.Close()
		if err := ask(s, "GET", "/gone"); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("end requests: %d goroutines more than before", runtime.NumGoroutine()-before)
		}
	}
	return nil
}

func ask(s *httptest.Server, method, path string) error {
	request, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		return err
	}
	response, err := s.Client().Do(request)
	if err != nil {
		note("asked", "-", method, s.URL+path)
		return nil
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	note("asked", response.StatusCode, method, s.URL+path)
	return response.Body.Close()
}

// reads reads a pipe, which gives less than is asked for.
func reads() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	for i := range 7 {
		if _, err := w.WriteString(strings.Repeat("x", 10+10*(i%2))); err != nil {
			return err
		}
		if err := read(r, 20); err != nil {
			return err
		}
	}
	return nil
}

//go:noinline
func read(r io.Reader, size int) error {
	n, err := r.Read(make([]byte, size))
	note(n, size)
	return err
}
