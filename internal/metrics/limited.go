package metrics

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections are those of a server that are open, of which there are only so many. For one more, that which has asked for
// nothing for the longest goes: whoever opens many, and asks for little, would keep others from being answered.
type connections struct {
	mu   sync.Mutex
	open []net.Conn      // those first that have asked for nothing for the longest
	busy map[string]bool // those that are being answered, by their remote addresses
}

// changed is the ConnState of an [http.Server].
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

// set says whether a connection is being answered, unless it was closed. It is the last to go from then on.
func (l *connections) set(remote string, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.open, func(c net.Conn) bool { return c.RemoteAddr().String() == remote }); i >= 0 {
		c := l.open[i]
		l.open = append(slices.Delete(l.open, i, i+1), c)
		l.busy[remote] = busy
	}
}

// answering has connections known to be busy while a handler answers.
func (l *connections) answering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.set(r.RemoteAddr, true)
		defer l.set(r.RemoteAddr, false)
		h.ServeHTTP(w, r)
	})
}
