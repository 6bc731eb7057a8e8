package metrics

import (
	"bufio"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestIdleConnections checks that a request is answered at once however many idle connections are open, and that the
// server closes the ones that have been idle for longest, but none with a running request.
func TestIdleConnections(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	fixture.NoError(t, err)
	defer s.Close()
	asked, answer := make(chan bool), make(chan bool)
	s.Serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- true
			<-answer
		}
	}))
	ask := func(c net.Conn, path string) error {
		_, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"))
		return err
	}
	running := 0 // requests to /slow
	idle := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.busy) == running
	}
	answered := func(c net.Conn) bool {
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		for !idle() {
			runtime.Gosched()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	}
	var open []net.Conn
	for i := range maxConnections + 2 {
		c, err := net.Dial("tcp", s.Address())
		fixture.NoError(t, err)
		defer c.Close()
		open = append(open, c)
		if i == 2 {
			fixture.NoError(t, ask(c, "/slow"))
			fixture.Receive(t, asked)
			running = 1
			continue
		}
		if ask(c, "/") != nil || !answered(c) {
			t.Fatalf("connection %d is not answered", i)
		}
		if i > 0 && (ask(open[1], "/") != nil || !answered(open[1])) {
			t.Fatal("a scraper was closed, though it has just asked")
		}
	}
	running = 0
	close(answer)
	if !answered(open[2]) {
		t.Error("the connection with a running request was closed")
	}
	for i, want := range []bool{false, true, true, false, true} {
		if got := ask(open[i], "/") == nil && answered(open[i]); got != want {
			t.Errorf("connection %d is answered: %v", i, got)
		}
	}
}
