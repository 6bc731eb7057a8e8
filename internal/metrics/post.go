package metrics

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
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
const maxResponse = 1 << 16

// newClient returns the HTTP client for an endpoint. It does not follow redirections, because headers may contain secrets
// for this endpoint only.
func newClient(c *Config) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = c.TLS
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (s *sender) post(ctx context.Context, m message) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.to.Timeout)
	defer cancel()
	body := m.body
	if s.to.Gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(body) // a bytes.Buffer returns no error
		w.Close()
		body = b.Bytes()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return outcome{rejected: m.items, reason: "_OTHER", message: err.Error()}
	}
	r.Header.Set("User-Agent", s.agent)
	maps.Copy(r.Header, s.to.Headers)
	r.Header.Set("Content-Type", "application/x-protobuf")
	if s.to.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return s.noAnswer(err)
	}
	defer answer.Body.Close()
	received, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse))
	if answer.StatusCode/100 == 2 {
		if err != nil {
			return s.noAnswer(err)
		}
		return accepted(received, m.items)
	}
	o := outcome{rejected: m.items, reason: strconv.Itoa(answer.StatusCode), message: answer.Status}
	if message := statusMessage(received); message != "" {
		o.message += ": " + message
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 64) // 0 if it is a date or missing
		o.retry, o.after = true, time.Duration(min(seconds, maxRetryAfter))*time.Second
	}
	return o
}

// maxRetryAfter limits the wait that a collector demands, in seconds.
const maxRetryAfter = 3600

// noAnswer returns the outcome of a request without a complete response.
func (s *sender) noAnswer(err error) outcome {
	if reason, ok := errors.AsType[*url.Error](err); ok {
		err = reason.Err // without the method and the URL
	}
	o := outcome{message: err.Error(), retry: true}
	if errors.Is(err, context.DeadlineExceeded) {
		o.message = fmt.Sprintf("no answer within %v", s.to.Timeout)
	}
	return o
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
	return outcome{rejected: min(uint64(max(p.GetRejectedSpans(), 0)), items), reason: "rejected", message: p.GetErrorMessage()}
}

// statusMessage returns the message of a google.rpc.Status, the body of an error response, or "" if it can't be
// decoded. Status has the same field numbers as ExportTracePartialSuccess: 1 for an integer, 2 for the message.
func statusMessage(body []byte) string {
	var s traceservice.ExportTracePartialSuccess
	if proto.Unmarshal(body, &s) != nil {
		return ""
	}
	return s.ErrorMessage
}
