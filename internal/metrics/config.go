package metrics

import (
	"cmp"
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
	URL      *url.URL // of the collector, without the path for a kind of data
	Headers  http.Header
	Timeout  time.Duration // time limit of one request
	Gzip     bool
	TLS      *tls.Config       // nil for the default: the system's certificates
	Every    time.Duration     // interval between two snapshots, OTEL_METRIC_EXPORT_INTERVAL
	Resource map[string]string // attributes of all data, OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME
	// Warnings name the variables that Configure ignored. The specification demands a warning, not an error, for a
	// value that is invalid or unsupported.
	Warnings []string
	getenv   func(string) string
}

// Defaults of the specification.
const (
	defaultTimeout = 10 * time.Second
	defaultEvery   = time.Minute
)

// prefix is the beginning of the names of most variables.
const prefix = "OTEL_EXPORTER_OTLP_"

// Configure reads the configuration from environment variables. If base is not "", it replaces
// OTEL_EXPORTER_OTLP_ENDPOINT. Configure returns an error only if nothing could be sent: for an invalid URL, and for
// files without valid keys or certificates. It does not read the variables for one kind of data.
//
// See https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
func Configure(base string, getenv func(string) string) (c *Config, err error) {
	c = &Config{getenv: getenv}
	name, address := "--otlp", base
	if address == "" {
		name, address = prefix+"ENDPOINT", cmp.Or(strings.TrimSpace(getenv(prefix+"ENDPOINT")), "http://localhost:4318")
	}
	if c.URL, err = parseURL(address); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.TLS, err = c.tls(); err != nil {
		return nil, err
	}
	headers, invalid := parsePairs(getenv(prefix + "HEADERS"))
	if invalid > 0 { // not quoted, because they may contain secrets
		c.warn("%d pairs of %sHEADERS ignored: they are not headers like key=value", invalid, prefix)
	}
	c.Headers = make(http.Header)
	for key, value := range headers { // package net/http refuses to send headers with invalid characters
		c.Headers.Set(key, value)
	}
	c.Timeout = c.milliseconds(prefix+"TIMEOUT", defaultTimeout)
	c.Every = c.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", defaultEvery)
	c.Gzip = c.only(prefix+"COMPRESSION", "gzip", "none")
	c.only(prefix+"PROTOCOL", "http/protobuf", "")
	c.only(prefix+"METRICS_TEMPORALITY_PREFERENCE", "cumulative", "")
	for _, name := range [...]string{"TRACES_ENDPOINT", "METRICS_ENDPOINT"} {
		if getenv(prefix+name) != "" {
			c.warn("%s ignored: %sENDPOINT is for all data", prefix+name, prefix)
		}
	}
	if c.Resource, invalid = parsePairs(getenv("OTEL_RESOURCE_ATTRIBUTES")); invalid > 0 { // the specification demands to ignore all
		c.warn("OTEL_RESOURCE_ATTRIBUTES ignored: %d of its pairs are not like key=value", invalid)
		c.Resource = make(map[string]string)
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	}
	return c, nil
}

// Configured reports whether the environment variable for the endpoint is set.
func Configured(getenv func(string) string) bool {
	return strings.TrimSpace(getenv(prefix+"ENDPOINT")) != ""
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// milliseconds parses the value of a variable. It returns byDefault if the value is empty or, with a warning, if it is
// not a positive number.
func (c *Config) milliseconds(name string, byDefault time.Duration) time.Duration {
	value := strings.TrimSpace(c.getenv(name))
	if value == "" {
		return byDefault
	}
	if ms, err := strconv.ParseInt(value, 10, 32); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	c.warn("%s ignored: %q is not a number of milliseconds", name, value)
	return byDefault
}

// only reports whether the value of a variable is the one that ftgo supports. It warns of a value that is neither this
// one nor the default.
func (c *Config) only(name, supported, byDefault string) bool {
	value := strings.TrimSpace(c.getenv(name))
	yes := strings.EqualFold(value, supported)
	if !yes && value != "" && value != byDefault {
		c.warn("%s ignored: %q is not %s", name, value, supported)
	}
	return yes
}

// parseURL parses the address of a collector. Its errors quote no password of the URL.
func parseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		if reason, ok := errors.AsType[*url.Error](err); ok {
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

// tls reads the files with keys and certificates. It returns nil if no variable names such a file.
func (c *Config) tls() (*tls.Config, error) {
	const certificateName, clientName, keyName = prefix + "CERTIFICATE", prefix + "CLIENT_CERTIFICATE", prefix + "CLIENT_KEY"
	trusted, client, key := c.getenv(certificateName), c.getenv(clientName), c.getenv(keyName)
	if trusted+client+key == "" {
		return nil, nil
	}
	var config tls.Config
	if trusted != "" {
		pem, err := os.ReadFile(trusted)
		if err != nil {
			return nil, fmt.Errorf("%s: read the collector's certificate: %w", certificateName, err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in %q", certificateName, trusted)
		}
	}
	if (client == "") != (key == "") {
		return nil, fmt.Errorf("%s and %s: one is set without the other", clientName, keyName)
	}
	if client != "" {
		pair, err := tls.LoadX509KeyPair(client, key)
		if err != nil {
			return nil, fmt.Errorf("%s: read certificate %q with key %q: %w", clientName, client, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &config, nil
}
