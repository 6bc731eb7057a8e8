package metrics

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	traceservice "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// outcome is what has become of a request.
type outcome struct {
	// rejected of the items were not taken, for a reason that is an error.type of OpenTelemetry.
	rejected uint64
	reason   string
	message  string        // what the collector says, or what has failed
	again    bool          // it is to be tried again
	after    time.Duration // but not before; 0 if the collector does not say when
}

// maxResponse is how much of an answer is read.
const maxResponse = 1 << 20

// newClient returns what posts to an endpoint. A redirection is none if nothing would be posted there, or to somebody else:
// headers may have keys that are for the collector alone.
func newClient(e *Endpoint) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = e.TLS
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.Method != http.MethodPost || r.URL.Scheme != e.URL.Scheme || r.URL.Host != e.URL.Host || len(via) >= 10 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// compress compresses a message.
func compress(message []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(message) // to memory: there is no error
	w.Close()
	return b.Bytes()
}

// post sends a message, of so many items, once.
func (s *Sender) post(ctx context.Context, message []byte, items uint64) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.to.Timeout)
	defer cancel()
	if s.to.Gzip {
		message = compress(message)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to.URL.String(), bytes.NewReader(message))
	if err != nil {
		return outcome{rejected: items, reason: "_OTHER", message: err.Error()}
	}
	r.Header.Set("User-Agent", s.agent)
	for name, values := range s.to.Headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if s.to.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return s.noAnswer(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse))
	if answer.StatusCode/100 == 2 {
		if err != nil {
			return s.noAnswer(err)
		}
		return accepted(body, items)
	}
	o := outcome{rejected: items, reason: strconv.Itoa(answer.StatusCode), message: answer.Status}
	if said := statusMessage(body); said != "" {
		o.message += ": " + said
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.again, o.after = true, retryAfter(answer.Header, s.clock.Now())
	}
	return o
}

// noAnswer is the outcome if the collector has said nothing.
func (s *Sender) noAnswer(err error) outcome {
	var reason *url.Error
	if errors.As(err, &reason) {
		err = reason.Err // without the method, and the URL
	}
	o := outcome{reason: "_OTHER", message: err.Error(), again: true}
	if errors.Is(err, context.DeadlineExceeded) {
		o.reason, o.message = "timeout", fmt.Sprintf("no answer within %v", s.to.Timeout)
	}
	return o
}

// longestWait is what a collector can ask for at most: its clock may be wrong.
const longestWait = time.Hour

// retryAfter is how long to wait, by Retry-After, which has seconds or a date; 0 if it has neither. A date is one of the
// collector's clock, which tells in Date what it is now: it may have been set, or ours.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if n, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(n, uint64(longestWait/time.Second))) * time.Second
	}
	if there, err := http.ParseTime(header.Get("Date")); err == nil {
		now = there
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	return 0
}

// accepted is the outcome of a request that the collector has taken, or most of it. Its answer has the same numbers for
// data points as for spans; one that can't be read says nothing else than that it was taken.
func accepted(body []byte, items uint64) outcome {
	var r traceservice.ExportTraceServiceResponse
	if proto.Unmarshal(body, &r) != nil {
		return outcome{}
	}
	p := r.GetPartialSuccess()
	return outcome{rejected: min(uint64(max(p.GetRejectedSpans(), 0)), items), reason: "rejected", message: shorten(p.GetErrorMessage())}
}

// statusMessage is the message of a google.rpc.Status, which failures are told by; "" if that can't be read. The message of a
// partial success has the same number there, and so has the code before it.
func statusMessage(body []byte) string {
	var s traceservice.ExportTracePartialSuccess
	if proto.Unmarshal(body, &s) != nil {
		return ""
	}
	return shorten(s.ErrorMessage)
}

// shorten makes a foreign text fit for a line.
func shorten(text string) string {
	const longest = 200
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
