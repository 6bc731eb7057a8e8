package metrics

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Config is where to send what, as OpenTelemetry's environment variables say.
type Config struct {
	Traces, Metrics Endpoint
	// Every is how often metrics are sent, OTEL_METRIC_EXPORT_INTERVAL.
	Every time.Duration
	// Resource are attributes of all that is sent, OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
	Resource map[string]string
	// Warnings say which variables were passed over. The specification wants what is not understood to be told,
	// and not to keep anybody from starting.
	Warnings []string
	getenv   func(string) string
}

// Endpoint is where one kind of data is sent, and how.
type Endpoint struct {
	URL     *url.URL
	Headers http.Header
	Timeout time.Duration // of one request
	Gzip    bool
	TLS     *tls.Config // nil for what the system trusts
}

// What the specification has where nothing is said.
const (
	defaultTimeout = 10 * time.Second
	defaultEvery   = time.Minute
)

// Configure tells where to send to. base stands for OTEL_EXPORTER_OTLP_ENDPOINT, unless it is "". It is an error
// what nothing could be sent with: an address that is none, and files that hold no keys or certificates.
//
// See https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
func Configure(base string, getenv func(string) string) (*Config, error) {
	c := &Config{Resource: make(map[string]string), getenv: getenv}
	for _, signal := range [...]struct {
		to   *Endpoint
		name string
	}{{&c.Traces, "TRACES"}, {&c.Metrics, "METRICS"}} {
		if err := c.endpoint(signal.to, base, signal.name); err != nil {
			return nil, err
		}
	}
	const interval = "OTEL_METRIC_EXPORT_INTERVAL"
	c.Every = c.milliseconds(interval, c.getenv(interval), defaultEvery)
	c.resource()
	c.unsupported()
	return c, nil
}

// Asked tells whether variables say where to send to.
func Asked(getenv func(string) string) bool {
	c := Config{getenv: getenv}
	_, traces := c.of("TRACES", "ENDPOINT")
	_, metrics := c.of("METRICS", "ENDPOINT")
	return traces+metrics != ""
}

func (c *Config) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(c.Warnings) == 0 || c.Warnings[len(c.Warnings)-1] != text {
		c.Warnings = append(c.Warnings, text)
	}
}

// of is the variable of a signal, or else the one of all, and its name. One that is empty is not set.
func (c *Config) of(signal, what string) (name, value string) {
	for _, name = range [...]string{"OTEL_EXPORTER_OTLP_" + signal + "_" + what, "OTEL_EXPORTER_OTLP_" + what} {
		if value = strings.TrimSpace(c.getenv(name)); value != "" {
			break
		}
	}
	return name, value
}

func (c *Config) endpoint(to *Endpoint, base, signal string) (err error) {
	name, address := c.of(signal, "ENDPOINT")
	own := strings.Contains(name, signal) && address != ""
	if !own && base != "" {
		name, address = "--otlp", base
	}
	if address == "" {
		address = "http://localhost:4318"
	}
	if to.URL, err = parseURL(address); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !own { // one of its own is taken as it is
		to.URL = to.URL.JoinPath("v1", strings.ToLower(signal))
	}
	if to.URL.Path == "" {
		to.URL.Path = "/"
	}
	to.Headers = c.headers(signal)
	name, value := c.of(signal, "TIMEOUT")
	to.Timeout = c.milliseconds(name, value, defaultTimeout)
	switch name, value := c.of(signal, "COMPRESSION"); value {
	case "", "none":
	case "gzip":
		to.Gzip = true
	default:
		c.warn("%s passed over: %q is not gzip", name, value)
	}
	to.TLS, err = c.tls(signal)
	return err
}

// milliseconds are those of a variable, or else what is usual.
func (c *Config) milliseconds(name, value string, usual time.Duration) time.Duration {
	if value == "" {
		return usual
	}
	if ms, err := strconv.ParseInt(value, 10, 32); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	c.warn("%s passed over: %q is no number of milliseconds", name, value)
	return usual
}

// parseURL parses the address of a collector. What an error quotes may have a password in it.
func parseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		var reason *url.Error
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return nil, fmt.Errorf("parse the collector's URL: %w", err)
	case u.Opaque != "" && strings.Contains(address, "@"): // of user:password@host, Redacted shows all
		return nil, errors.New("it is no URL like http://localhost:4318")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%q is no URL like http://localhost:4318", u.Redacted())
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("%q has no port from 1 to 65535", u.Redacted())
		}
	}
	return u, nil
}

// headers are those of all signals, then those of its own.
func (c *Config) headers(signal string) http.Header {
	h := make(http.Header)
	for _, name := range [...]string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + signal + "_HEADERS"} {
		pairs, wrong := parsePairs(c.getenv(name))
		for key, value := range pairs {
			if !isToken(key) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				wrong++
				continue
			}
			h.Set(key, value)
		}
		if wrong > 0 { // which are perhaps secrets
			c.warn("%d of the pairs of %s passed over: they are no header like key=value", wrong, name)
		}
	}
	return h
}

// isToken tells whether a text can be the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// parsePairs parses key=value,key=value as W3C Baggage has it, without properties: both are percent-encoded.
func parsePairs(text string) (pairs map[string]string, wrong int) {
	pairs = make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.PathUnescape(strings.TrimSpace(key))
		value, valueErr := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || errors.Join(keyErr, valueErr) != nil {
			wrong++
			continue
		}
		pairs[key] = value
	}
	return pairs, wrong
}

// resource takes OTEL_RESOURCE_ATTRIBUTES, none of which count if one is wrong, and OTEL_SERVICE_NAME.
func (c *Config) resource() {
	pairs, wrong := parsePairs(c.getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if wrong > 0 {
		c.warn("OTEL_RESOURCE_ATTRIBUTES passed over: %d of its pairs are not like key=value", wrong)
	} else {
		c.Resource = pairs
	}
	if name := c.getenv("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	}
	for key, value := range c.Resource { // protobuf takes nothing else
		c.Resource[key] = strings.ToValidUTF8(value, "\uFFFD")
		if valid := strings.ToValidUTF8(key, "\uFFFD"); valid != key {
			delete(c.Resource, key)
		}
	}
}

// unsupported warns of variables that ask for what there is not.
func (c *Config) unsupported() {
	for _, signal := range [...]string{"TRACES", "METRICS"} {
		if name, value := c.of(signal, "PROTOCOL"); value != "" && value != "http/protobuf" {
			c.warn("%s passed over: %q is not http/protobuf", name, value)
		}
	}
	const temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	if value := c.getenv(temporality); value != "" && !strings.EqualFold(value, "cumulative") {
		c.warn("%s passed over: %q is not cumulative", temporality, value)
	}
}

// tls reads the files with keys and certificates; nil if there are none.
func (c *Config) tls(signal string) (*tls.Config, error) {
	var config tls.Config
	name, trusted := c.of(signal, "CERTIFICATE")
	if trusted != "" {
		pem, err := os.ReadFile(trusted)
		if err != nil {
			return nil, fmt.Errorf("%s: read the collector's certificate: %w", name, err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: there is no certificate in %q", name, trusted)
		}
	}
	name, own := c.of(signal, "CLIENT_CERTIFICATE")
	keyName, key := c.of(signal, "CLIENT_KEY")
	switch {
	case own == "" && key == "":
		if trusted == "" {
			return nil, nil
		}
	case own == "" || key == "":
		return nil, fmt.Errorf("%s and %s: one is set without the other", name, keyName)
	default:
		pair, err := tls.LoadX509KeyPair(own, key)
		if err != nil {
			return nil, fmt.Errorf("%s: read certificate %q with key %q: %w", name, own, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &config, nil
}
