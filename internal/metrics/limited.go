package metrics

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections limits the open connections of a server to maxConnections. If a new connection exceeds the limit, it
// closes the connection that has been idle for longest, so that a client with many idle connections can't lock out
// others. If no connection is idle, it closes the new one.
type connections struct {
	mu   sync.Mutex
	open []net.Conn      // in the order of their last request, the oldest first
	busy map[string]bool // by remote address: true while a handler runs for the connection
}

// changed is the ConnState callback of an [http.Server].
func (l *connections) changed(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(l.open) >= maxConnections {
			i := slices.IndexFunc(l.open, func(c net.Conn) bool { return !l.busy[c.RemoteAddr().String()] })
			if i < 0 {
				c.Close()
				return
			}
			l.open[i].Close()
			l.open = slices.Delete(l.open, i, i+1)
		}
		l.open = append(l.open, c)
	case http.StateClosed:
		l.open = slices.DeleteFunc(l.open, func(other net.Conn) bool { return other == c })
		delete(l.busy, c.RemoteAddr().String())
	}
}

// setBusy notes that a handler begins or ends on an open connection, and moves the connection to the end of open.
func (l *connections) setBusy(remote string, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.open, func(c net.Conn) bool { return c.RemoteAddr().String() == remote }); i >= 0 {
		c := l.open[i]
		l.open = append(slices.Delete(l.open, i, i+1), c)
		l.busy[remote] = busy
	}
}

// handler returns h with calls of setBusy before and after each request.
func (l *connections) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.setBusy(r.RemoteAddr, true)
		defer l.setBusy(r.RemoteAddr, false)
		h.ServeHTTP(w, r)
	})
}
