package metrics

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"google.golang.org/protobuf/proto"
)

// quiet is the log of servers whose clients cause the errors on purpose.
var quiet = log.New(io.Discard, "", 0)

// env returns a function that looks up variables in KEY=value words. A KEY that begins with _ stands for
// OTEL_EXPORTER_OTLP_KEY.
func env(words ...string) func(string) string {
	return func(name string) string {
		for _, word := range words {
			if key, value, _ := strings.Cut(word, "="); key == name || strings.HasPrefix(key, "_") && "OTEL_EXPORTER_OTLP"+key == name {
				return value
			}
		}
		return ""
	}
}

func TestConfigure(t *testing.T) {
	for _, c := range []struct {
		name, base      string
		vars            []string
		traces, metrics string
	}{
		{"nothing", "", nil, "http://localhost:4318/v1/traces", "http://localhost:4318/v1/metrics"},
		{"the flag", "http://c:88", nil, "http://c:88/v1/traces", "http://c:88/v1/metrics"},
		{"with a path", "https://c/otlp/", nil, "https://c/otlp/v1/traces", "https://c/otlp/v1/metrics"},
		{"for all", "", []string{"_ENDPOINT=http://c"}, "http://c/v1/traces", "http://c/v1/metrics"},
		{"the flag comes first", "http://f", []string{"_ENDPOINT=http://c"}, "http://f/v1/traces", "http://f/v1/metrics"},
		{"its own is taken as it is", "http://f", []string{"_TRACES_ENDPOINT=http://t/x", "_METRICS_ENDPOINT=http://m"}, "http://t/x", "http://m/"},
		{"one of them", "", []string{"_ENDPOINT=http://c", "_METRICS_ENDPOINT=http://m/in"}, "http://c/v1/traces", "http://m/in"},
		{"empty is not set", "", []string{"_ENDPOINT=http://c", "_TRACES_ENDPOINT= "}, "http://c/v1/traces", "http://c/v1/metrics"},
		{"IPv6", "http://[::1]:4318", nil, "http://[::1]:4318/v1/traces", "http://[::1]:4318/v1/metrics"},
	} {
		got, err := Configure(c.base, env(c.vars...))
		if err != nil || got.Traces.URL.String() != c.traces || got.Metrics.URL.String() != c.metrics || len(got.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestConfigureDetails checks the variables besides the endpoints, for all signals and for one, and the warnings.
func TestConfigureDetails(t *testing.T) {
	for _, c := range []struct {
		vars string // by ;
		want string // timeout gzip headers of traces / of metrics
		warn string
	}{
		{"", "10s false map[] / 10s false map[]", ""},
		{"_TIMEOUT=2500;_METRICS_TIMEOUT=100", "2.5s false map[] / 100ms false map[]", ""},
		{"_TIMEOUT=10s", "10s false map[] / 10s false map[]", `OTEL_EXPORTER_OTLP_TIMEOUT ignored: "10s" is not a number of milliseconds`},
		{"_TRACES_TIMEOUT=0", "10s false map[] / 10s false map[]", `"0" is not a number`},
		{"_COMPRESSION=gzip;_TRACES_COMPRESSION=none", "10s false map[] / 10s true map[]", ""},
		{"_COMPRESSION=zstd", "10s false map[] / 10s false map[]", `OTEL_EXPORTER_OTLP_COMPRESSION ignored: "zstd" is not gzip`},
		{"_HEADERS=a=1, b = two%20words%2C ,a-b=x==", "10s false map[A:[1] A-B:[x==] B:[two words,]] / 10s false map[A:[1] A-B:[x==] B:[two words,]]", ""},
		{"_HEADERS=a=1,b=1;_TRACES_HEADERS=b=2,c=3", "10s false map[A:[1] B:[2] C:[3]] / 10s false map[A:[1] B:[1]]", ""},
		{"_HEADERS=secret,a=1,e=%zz", "10s false map[A:[1]] / 10s false map[A:[1]]", "2 pairs of OTEL_EXPORTER_OTLP_HEADERS ignored: they are not headers like key=value"},
		{"_PROTOCOL=http/protobuf", "10s false map[] / 10s false map[]", ""},
		{"_PROTOCOL=grpc", "10s false map[] / 10s false map[]", `"grpc" is not http/protobuf`},
		{"_METRICS_TEMPORALITY_PREFERENCE=Cumulative", "10s false map[] / 10s false map[]", ""},
		{"_METRICS_TEMPORALITY_PREFERENCE=delta", "10s false map[] / 10s false map[]", `"delta" is not cumulative`},
		{"_INSECURE=true", "10s false map[] / 10s false map[]", ""},
	} {
		got, err := Configure("http://c", env(strings.Split(c.vars, ";")...))
		if err != nil {
			t.Errorf("%s: %v", c.vars, err)
			continue
		}
		details := func(e *Endpoint) string { return fmt.Sprintf("%v %v %v", e.Timeout, e.Gzip, e.Headers) }
		if text := details(&got.Traces) + " / " + details(&got.Metrics); text != c.want {
			t.Errorf("%s: %s, want %s", c.vars, text, c.want)
		}
		if text := strings.Join(got.Warnings, "\n"); !strings.Contains(text, c.warn) || c.warn == "" && text != "" || len(got.Warnings) > 1 || strings.Contains(text, "secret") {
			t.Errorf("%s: warnings %q, want %q", c.vars, text, c.warn)
		}
	}
}

func TestConfigureResource(t *testing.T) {
	for _, c := range []struct{ vars, want string }{
		{"", "map[] []"},
		{"OTEL_SERVICE_NAME=shop", "map[service.name:shop] []"},
		{"OTEL_RESOURCE_ATTRIBUTES=service.name=other,deployment.environment.name=a%2Cb", "map[deployment.environment.name:a,b service.name:other] []"},
		{"OTEL_SERVICE_NAME=shop;OTEL_RESOURCE_ATTRIBUTES=service.name=other,a=b", "map[a:b service.name:shop] []"},
		{"OTEL_SERVICE_NAME=shop;OTEL_RESOURCE_ATTRIBUTES=a=b,c", "map[service.name:shop] [OTEL_RESOURCE_ATTRIBUTES ignored: 1 of its pairs are not like key=value]"},
	} {
		got, err := Configure("", env(strings.Split(c.vars, ";")...))
		if err != nil || fmt.Sprint(got.Resource, got.Warnings) != c.want {
			t.Errorf("%s: %v %v %v, want %s", c.vars, got.Resource, got.Warnings, err, c.want)
		}
	}
}

// TestConfigureErrors checks that invalid endpoints and certificates are errors, and that these quote no password.
func TestConfigureErrors(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.pem")
	fixture.NoError(t, os.WriteFile(none, []byte("nothing"), 0o600))
	for _, c := range []struct{ base, vars, want string }{
		{"collector:4318", "", `--otlp: "collector:4318" is not a URL like http://localhost:4318`},
		{"user:secret@c:4318", "", "--otlp: it is not a URL like http://localhost:4318"},
		{"http://:4318", "", "is not a URL"},
		{"http://c:x", "", "--otlp: parse the collector's URL: invalid port"},
		{"http://c\x7f", "", "--otlp: parse the collector's URL: net/url: invalid control character in URL"},
		{"", "_ENDPOINT=c", `OTEL_EXPORTER_OTLP_ENDPOINT: "c" is not a URL`},
		{"http://c", "_CERTIFICATE=/none/such", "OTEL_EXPORTER_OTLP_CERTIFICATE: read the collector's certificate: open /none/such: no such file"},
		{"http://c", "_TRACES_CERTIFICATE=" + none, fmt.Sprintf("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: no certificate in %q", none)},
		{"http://c", "_CLIENT_KEY=k", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: one is set without the other"},
		{"http://c", "_CLIENT_KEY=" + none + ";_CLIENT_CERTIFICATE=" + none, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: read certificate "},
	} {
		_, err := Configure(c.base, env(strings.Split(c.vars, ";")...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %s: %v, want %s", c.base, c.vars, err, c.want)
		}
	}
}

// TestConfigureTrust checks the certificates of the collector and of the client, and the message for a collector with
// an unknown certificate.
func TestConfigureTrust(t *testing.T) {
	var bodies []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
	}))
	server.TLS, server.Config.ErrorLog = &tls.Config{ClientAuth: tls.RequireAnyClientCert}, quiet
	server.StartTLS()
	defer server.Close()
	private, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	fixture.NoError(t, err)
	certificate, key := filepath.Join(t.TempDir(), "certificate.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		fixture.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	got, err := Configure(server.URL, env("_CERTIFICATE="+certificate, "_CLIENT_CERTIFICATE="+certificate, "_TRACES_CLIENT_KEY="+key, "_METRICS_CLIENT_KEY="+key))
	if err != nil || got.Traces.TLS.RootCAs == nil || len(got.Metrics.TLS.Certificates) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	news := make(chan string, 1)
	s := newSender(&got.Traces, spanKind, "", 1000, news)
	s.putEncoded([]byte("spans"), 7)
	s.close(t.Context())
	if summary(s.sendingCounts()) != "sent 7" {
		t.Error(summary(s.sendingCounts()))
	}
	got, err = Configure(server.URL, env())
	fixture.NoError(t, err)
	s = newSender(&got.Traces, spanKind, "", 1000, news)
	s.putEncoded([]byte("spans"), 7)
	over, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s.close(over)
	if text := <-news; !strings.Contains(text, "certificate signed by unknown authority") || len(bodies) != 1 {
		t.Error(text)
	}
}

func TestAsked(t *testing.T) {
	for vars, want := range map[string]bool{"": false, "_ENDPOINT=http://c": true, "_METRICS_ENDPOINT=x": true, "_TRACES_ENDPOINT=x": true, "_LOGS_ENDPOINT=x": false} {
		if Configured(env(vars)) != want {
			t.Errorf("%s: not %v", vars, want)
		}
	}
}

func FuzzConfigure(f *testing.F) {
	f.Add("http://c", "a=b,c=%20", "1000", "k=v")
	f.Add("https://u:p@[::1]:1/x?y#z", "a", "-1", "k=%ff,%fe=v")
	f.Fuzz(func(t *testing.T, base, headers, timeout, resource string) {
		c, err := Configure(base, env("_HEADERS="+headers, "_TIMEOUT="+timeout, "OTEL_RESOURCE_ATTRIBUTES="+resource))
		if err != nil {
			return
		}
		for _, e := range []*Endpoint{&c.Traces, &c.Metrics} {
			if e.URL.Hostname() == "" || e.Timeout <= 0 || e.Timeout > 1<<31*time.Millisecond {
				t.Errorf("%v, %v", e.URL, e.Timeout)
			}
			s := &sender{to: e, kind: spanKind, client: newClient(e)}
			(&fakeCollector{}).to(s)
			if o := s.post(t.Context(), message{items: 1}); o.message != "" && !strings.Contains(o.message, "invalid header field") {
				t.Errorf("%+v", o)
			}
		}
		if _, err := proto.Marshal(resourceOf(&about, c.Resource, 0)); err != nil {
			t.Error(err)
		}
	})
}
