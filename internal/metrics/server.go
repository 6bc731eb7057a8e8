package metrics

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of the server, so that its clients take little CPU time and memory from the program.
const (
	maxRequests    = 4
	maxConnections = 64
)

// NewHandler returns a handler that serves the snapshot returned by latest, at /metrics.
func NewHandler(latest func() *Snapshot) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(snapshots(latest), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxRequests, ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ftgo export: see /metrics") })
	return mux
}

// Server serves metrics over HTTP.
type Server struct {
	listener net.Listener
	http     http.Server
	ended    chan struct{}

	mu   sync.Mutex
	idle []net.Conn        // connections without a running request, the one that is idle for longest first
	busy map[net.Conn]bool // connections with a running request
}

// limit is the ConnState callback of the HTTP server. If more than maxConnections are open, it closes the one that is idle
// for longest, so that a client with many connections can't lock out others. It closes no connection with a running
// request.
func (s *Server) limit(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = slices.DeleteFunc(s.idle, func(other net.Conn) bool { return other == c })
	delete(s.busy, c)
	switch state {
	case http.StateActive: // the request's header was read
		s.busy[c] = true
	case http.StateNew, http.StateIdle:
		s.idle = append(s.idle, c)
	}
	if len(s.idle)+len(s.busy) > maxConnections && len(s.idle) > 0 {
		s.idle[0].Close()
		s.idle = slices.Delete(s.idle, 0, 1)
	}
}

// Listen listens at a TCP address. Connections wait until Serve is called.
func Listen(address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // without the address, which the message below has
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return &Server{listener: l, ended: make(chan struct{}), busy: make(map[net.Conn]bool)}, nil
}

// Address returns the address of the listener, with the actual port even if the port given to Listen was 0.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve begins to answer requests, in the background.
func (s *Server) Serve(h http.Handler) {
	s.http = http.Server{
		Handler: h, ConnState: s.limit, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 16 << 10,
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(s.listener) // returns http.ErrServerClosed after Close
	}()
}

// Close closes the listener and all connections.
func (s *Server) Close() error {
	err := s.http.Close()
	if s.http.Handler == nil {
		return s.listener.Close()
	}
	<-s.ended
	return err
}
