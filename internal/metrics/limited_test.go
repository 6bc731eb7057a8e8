package metrics

import (
	"bufio"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// dialed is a client's connection to a server.
type dialed struct {
	net.Conn
	t *testing.T
}

func dial(t *testing.T, s *Server) *dialed {
	t.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &dialed{c, t}
}

func (c *dialed) ask() {
	c.t.Helper()
	if _, err := c.Write([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
		c.t.Fatal(err)
	}
}

// answered reports whether the next response is a success.
func (c *dialed) answered() bool {
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	return err == nil && answer.StatusCode == http.StatusOK
}

// TestIdleConnections checks that a request is answered at once however many idle connections are open, and that the
// server closes the ones that have been idle for longest, but none with a running handler.
func TestIdleConnections(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asked, answer := make(chan bool), make(chan bool)
	waiting := true
	s.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if waiting {
			waiting = false
			asked <- true
			<-answer
		}
	}))
	slow := dial(t, s)
	slow.ask()
	fixture.Receive(t, asked)
	scraper := dial(t, s)
	scraper.ask()
	if !scraper.answered() {
		t.Fatal("a scraper is not answered")
	}
	idle := []*dialed{}
	for range maxConnections - 2 {
		idle = append(idle, dial(t, s))
	}
	accepted := func() int {
		l := &s.connections
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.open)
	}
	for accepted() < maxConnections {
		runtime.Gosched()
	}
	scraper.ask()
	if !scraper.answered() {
		t.Error("a scraper is not answered beside idle connections")
	}
	for range 2 {
		idle = append(idle, dial(t, s))
		last := idle[len(idle)-1]
		last.ask()
		if !last.answered() {
			t.Error("one more is not answered")
		}
	}
	for i, c := range idle[:3] {
		if i < 2 { // idle since they were opened
			if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("idle connection %d gets an answer", i)
			}
			continue
		}
		if c.ask(); !c.answered() {
			t.Errorf("idle connection %d was closed", i)
		}
	}
	close(answer)
	if !slow.answered() {
		t.Error("the one that was being answered was closed")
	}
	if scraper.ask(); !scraper.answered() {
		t.Error("the scraper was closed, though it has asked since")
	}
}
