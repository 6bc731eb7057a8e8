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

// Config is the configuration of an OTLP exporter, read from OpenTelemetry's environment variables.
type Config struct {
	Traces, Metrics Endpoint
	Every           time.Duration     // interval between two snapshots, OTEL_METRIC_EXPORT_INTERVAL
	Resource        map[string]string // attributes of all data, OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME
	// Warnings name the variables that Configure ignored. The specification demands a warning, not an error, for a
	// value that is invalid or unsupported.
	Warnings []string
	getenv   func(string) string
}

// Endpoint is the address that one kind of data is sent to, and the options of its requests.
type Endpoint struct {
	URL     *url.URL
	Headers http.Header
	Timeout time.Duration // time limit of one request
	Gzip    bool
	TLS     *tls.Config // nil for the default: the system's certificates
}

// Defaults of the specification.
const (
	defaultTimeout = 10 * time.Second
	defaultEvery   = time.Minute
)

// Configure reads the configuration from environment variables. If base is not "", it replaces
// OTEL_EXPORTER_OTLP_ENDPOINT. Configure returns an error only if nothing could be sent: for an invalid URL, and for
// files without valid keys or certificates.
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
	const temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	c.only(temporality, strings.ToLower(c.getenv(temporality)), "cumulative")
	return c, nil
}

// Configured reports whether an environment variable sets an endpoint.
func Configured(getenv func(string) string) bool {
	c := Config{getenv: getenv}
	_, traces := c.variable("TRACES", "ENDPOINT")
	_, metrics := c.variable("METRICS", "ENDPOINT")
	return traces+metrics != ""
}

// warn adds a warning, unless it is the same as the last one.
func (c *Config) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(c.Warnings) == 0 || c.Warnings[len(c.Warnings)-1] != text {
		c.Warnings = append(c.Warnings, text)
	}
}

// variable returns the name and value of an option's variable for one signal or, if that is not set or empty, for all
// signals.
func (c *Config) variable(signal, option string) (name, value string) {
	for _, name = range [...]string{"OTEL_EXPORTER_OTLP_" + signal + "_" + option, "OTEL_EXPORTER_OTLP_" + option} {
		if value = strings.TrimSpace(c.getenv(name)); value != "" {
			break
		}
	}
	return name, value
}

// endpoint sets the endpoint of a signal, TRACES or METRICS.
func (c *Config) endpoint(to *Endpoint, base, signal string) (err error) {
	name, address := c.variable(signal, "ENDPOINT")
	forSignal := strings.Contains(name, signal) && address != ""
	if !forSignal && base != "" {
		name, address = "--otlp", base
	}
	if address == "" {
		address = "http://localhost:4318"
	}
	if to.URL, err = parseURL(address); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !forSignal { // the specification appends the path only to the endpoint for all signals
		to.URL = to.URL.JoinPath("v1", strings.ToLower(signal))
	}
	if to.URL.Path == "" {
		to.URL.Path = "/"
	}
	to.Headers = c.headers(signal)
	name, value := c.variable(signal, "TIMEOUT")
	to.Timeout = c.milliseconds(name, value, defaultTimeout)
	name, value = c.variable(signal, "PROTOCOL")
	c.only(name, value, "http/protobuf")
	if name, value = c.variable(signal, "COMPRESSION"); value != "none" {
		to.Gzip = c.only(name, value, "gzip")
	}
	to.TLS, err = c.tls(signal)
	return err
}

// milliseconds parses the value of a variable. It returns byDefault if the value is empty or, with a warning, if it is
// not a positive number.
func (c *Config) milliseconds(name, value string, byDefault time.Duration) time.Duration {
	if value == "" {
		return byDefault
	}
	if ms, err := strconv.ParseInt(value, 10, 32); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	c.warn("%s ignored: %q is not a number of milliseconds", name, value)
	return byDefault
}

// parseURL parses the address of a collector. Its errors quote no password of the URL.
func parseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		var reason *url.Error
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return nil, fmt.Errorf("parse the collector's URL: %w", err)
	case u.Opaque != "" && strings.Contains(address, "@"): // user:password@host, whose password Redacted would not hide
		return nil, errors.New("it is not a URL like http://localhost:4318")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%q is not a URL like http://localhost:4318", u.Redacted())
	}
	return u, nil
}

// headers returns the headers for all signals, replaced and extended by the headers for one signal. Package net/http
// refuses to send headers with invalid characters.
func (c *Config) headers(signal string) http.Header {
	h := make(http.Header)
	for _, name := range [...]string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + signal + "_HEADERS"} {
		pairs, invalid := parsePairs(c.getenv(name))
		for key, value := range pairs {
			h.Set(key, value)
		}
		if invalid > 0 { // not quoted, because they may contain secrets
			c.warn("%d pairs of %s ignored: they are not headers like key=value", invalid, name)
		}
	}
	return h
}

// parsePairs parses key=value,key=value in the format of W3C Baggage without properties: keys and values are
// percent-encoded. It counts invalid pairs.
func parsePairs(text string) (pairs map[string]string, invalid int) {
	pairs = make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.PathUnescape(strings.TrimSpace(key))
		value, valueErr := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || errors.Join(keyErr, valueErr) != nil {
			invalid++
			continue
		}
		pairs[key] = value
	}
	return pairs, invalid
}

// resource sets Resource from OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME. If a pair of OTEL_RESOURCE_ATTRIBUTES is
// invalid, resource ignores the whole variable, as the specification demands.
func (c *Config) resource() {
	pairs, invalid := parsePairs(c.getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if invalid > 0 {
		c.warn("OTEL_RESOURCE_ATTRIBUTES ignored: %d of its pairs are not like key=value", invalid)
	} else {
		c.Resource = pairs
	}
	if name := c.getenv("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	}
}

// only reports whether the value of a variable is the only one that is supported. It warns of other values.
func (c *Config) only(name, value, supported string) bool {
	if value != "" && value != supported {
		c.warn("%s ignored: %q is not %s", name, value, supported)
	}
	return value == supported
}

// tls reads the files with keys and certificates. It returns nil if no variable names such a file.
func (c *Config) tls(signal string) (*tls.Config, error) {
	var config tls.Config
	name, trusted := c.variable(signal, "CERTIFICATE")
	if trusted != "" {
		pem, err := os.ReadFile(trusted)
		if err != nil {
			return nil, fmt.Errorf("%s: read the collector's certificate: %w", name, err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in %q", name, trusted)
		}
	}
	name, client := c.variable(signal, "CLIENT_CERTIFICATE")
	keyName, key := c.variable(signal, "CLIENT_KEY")
	switch {
	case client == "" && key == "":
		if trusted == "" {
			return nil, nil
		}
	case client == "" || key == "":
		return nil, fmt.Errorf("%s and %s: one is set without the other", name, keyName)
	default:
		pair, err := tls.LoadX509KeyPair(client, key)
		if err != nil {
			return nil, fmt.Errorf("%s: read certificate %q with key %q: %w", name, client, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &config, nil
}
