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

type outcome struct {
	rejected uint64        // items that the collector did not accept
	reason   string        // why the items were rejected: an error.type of OpenTelemetry
	message  string        // the collector's message, or the text of an error
	retry    bool          // send the request again
	after    time.Duration // do not retry earlier; 0 if the collector set no time
}

// maxResponse is the maximum number of bytes that are read of a response.
const maxResponse = 1 << 20

// newClient returns the HTTP client for an endpoint. It does not follow a redirection that changes the method or the
// host, because headers may contain secrets for this host only.
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

func (s *sender) post(ctx context.Context, message []byte, items uint64) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.to.Timeout)
	defer cancel()
	if s.to.Gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(message) // a bytes.Buffer returns no error
		w.Close()
		message = b.Bytes()
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
	if message := statusMessage(body); message != "" {
		o.message += ": " + message
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.retry, o.after = true, retryAfter(answer.Header.Get("Retry-After"))
	}
	return o
}

// noAnswer returns the outcome of a request without a complete response.
func (s *sender) noAnswer(err error) outcome {
	var reason *url.Error
	if errors.As(err, &reason) {
		err = reason.Err // without the method and the URL
	}
	o := outcome{reason: "_OTHER", message: err.Error(), retry: true}
	if errors.Is(err, context.DeadlineExceeded) {
		o.reason, o.message = "timeout", fmt.Sprintf("no answer within %v", s.to.Timeout)
	}
	return o
}

// maxRetryAfter limits the wait that a collector demands, because its clock may be wrong.
const maxRetryAfter = time.Hour

// retryAfter returns the wait that a header Retry-After demands in seconds or as a date, 0 if it has neither.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(n, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// accepted returns the outcome of a request that the collector has accepted, at least in part. The response to metrics
// has the same field numbers as the response to traces, so that one type decodes both. A response that can't be decoded
// counts as full success.
func accepted(body []byte, items uint64) outcome {
	var r traceservice.ExportTraceServiceResponse
	if proto.Unmarshal(body, &r) != nil {
		return outcome{}
	}
	p := r.GetPartialSuccess()
	return outcome{rejected: min(uint64(max(p.GetRejectedSpans(), 0)), items), reason: "rejected", message: shorten(p.GetErrorMessage())}
}

// statusMessage returns the message of a google.rpc.Status, the body of an error response, or "" if it can't be
// decoded. Status has the same field numbers as ExportTracePartialSuccess: 1 for an integer, 2 for the message.
func statusMessage(body []byte) string {
	var s traceservice.ExportTracePartialSuccess
	if proto.Unmarshal(body, &s) != nil {
		return ""
	}
	return shorten(s.ErrorMessage)
}

// shorten cuts a text of the collector to 200 bytes.
func shorten(text string) string {
	const longest = 200
	if text = valid(text); len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
