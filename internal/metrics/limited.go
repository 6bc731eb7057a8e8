package metrics

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections are those of a server that are open, of which there are only so many. For one more, that which has asked for
// nothing for the longest goes: whoever opens many, and asks for little, would keep others from being answered.
type connections struct {
	mu   sync.Mutex
	open []net.Conn // those first that have asked for nothing for the longest
	busy map[net.Conn]bool
}

// changed is the ConnState of an [http.Server].
func (l *connections) changed(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(l.open) >= maxConnections {
			i := slices.IndexFunc(l.open, func(c net.Conn) bool { return !l.busy[c] })
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
		delete(l.busy, c)
	}
}

// set says whether a connection is being answered, unless it was closed. It is the last to go from then on.
func (l *connections) set(c net.Conn, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = append(slices.Delete(l.open, i, i+1), c)
		l.busy[c] = busy
	}
}

// answering has connections known to be busy while a handler answers.
func (l *connections) answering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connectionKey{}).(net.Conn)
		l.set(c, true)
		defer l.set(c, false)
		h.ServeHTTP(w, r)
	})
}

type connectionKey struct{}

// withConnection has requests know their connection.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
