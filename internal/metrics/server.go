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
	open []net.Conn // in the order of their last change of state, the oldest first
}

// limit is the ConnState callback of the HTTP server. If more than maxConnections are open, it closes the one whose state
// has not changed for longest, so that a client with many connections can't lock out others.
func (s *Server) limit(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(other net.Conn) bool { return other == c })
	if state != http.StateClosed {
		s.open = append(s.open, c)
	}
	if len(s.open) > maxConnections {
		s.open[0].Close()
		s.open = slices.Delete(s.open, 0, 1)
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
	return &Server{listener: l, ended: make(chan struct{})}, nil
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
