package metrics

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// limited is a listener that has only so many connections open. For one more, that which has asked for nothing for the
// longest goes: whoever opens many, and asks for little, would keep others from being answered.
type limited struct {
	net.Listener
	mu   sync.Mutex
	open []*connection // those first that have asked for nothing for the longest
}

// connection is one of them.
type connection struct {
	net.Conn
	of   *limited
	busy bool // is being answered
}

func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	added := &connection{Conn: c, of: l}
	if idle := l.add(added); idle != nil {
		idle.Close()
	}
	return added, nil
}

// add adds a connection, and returns what has to go for it: itself, if all are busy.
func (l *limited) add(c *connection) (idle *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= maxConnections {
		i := slices.IndexFunc(l.open, func(c *connection) bool { return !c.busy })
		if i < 0 {
			return c
		}
		idle = l.open[i]
	}
	l.open = append(l.open, c)
	return idle
}

// remove takes a connection out.
func (l *limited) remove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
	}
}

func (c *connection) Close() error {
	c.of.remove(c)
	return c.Conn.Close()
}

// set says whether a connection is being answered, unless it was closed. It is the last to go from then on.
func (c *connection) set(busy bool) {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, c); i >= 0 {
		c.busy = busy
		l.open = append(slices.Delete(l.open, i, i+1), c)
	}
}

// answering has connections known to be busy while a handler answers.
func answering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			c.set(true)
			defer c.set(false)
		}
		h.ServeHTTP(w, r)
	})
}

type connectionKey struct{}

// withConnection has requests know their connection.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
