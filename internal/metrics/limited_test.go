package metrics

import (
	"bufio"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestConnections checks that the server closes connections beyond maxConnections, answers the others, keeps none of
// them, and then takes new connections.
func TestConnections(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	fixture.NoError(t, err)
	defer Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).Close()
	connect := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		fixture.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	answered := func(c net.Conn) bool {
		_, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
		if err != nil {
			return false
		}
		r := bufio.NewReader(c)
		if answer, err := http.ReadResponse(r, nil); err != nil || answer.StatusCode != http.StatusOK {
			return false
		}
		if _, err := r.ReadByte(); err == nil {
			t.Error("the connection is still open after the answer")
		}
		return true
	}
	var open []net.Conn
	for range maxConnections {
		open = append(open, connect())
	}
	if answered(connect()) {
		t.Errorf("more than %d connections", maxConnections)
	}
	for i, c := range open {
		if !answered(c) {
			t.Errorf("connection %d is not answered", i)
		}
	}
	for !answered(connect()) { // the server closes connections after its answers
		runtime.Gosched()
	}
}
