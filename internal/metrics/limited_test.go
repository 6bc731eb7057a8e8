package metrics

import (
	"bufio"
	"net"
	"net/http"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestIdleConnections checks that a request is answered at once however many idle connections are open, and that the
// server closes the ones that have been idle for longest.
func TestIdleConnections(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	fixture.NoError(t, err)
	defer s.Close()
	s.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	answered := func(c net.Conn) bool {
		if _, err := c.Write([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
			return false
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && answer.StatusCode == http.StatusOK
	}
	var open []net.Conn
	for i := range maxConnections + 2 {
		c, err := net.Dial("tcp", s.Address())
		fixture.NoError(t, err)
		defer c.Close()
		if open = append(open, c); !answered(c) {
			t.Fatalf("connection %d is not answered", i)
		}
		if i > 0 && !answered(open[1]) {
			t.Fatal("a scraper was closed, though it has just asked")
		}
	}
	for i, want := range []bool{false, true, false, true} {
		if answered(open[i]) != want {
			t.Errorf("idle connection %d is answered: %v", i, !want)
		}
	}
}
