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
	for _, c := range []struct{ name, base, vars, want string }{
		{"nothing", "", "", "http://localhost:4318"},
		{"the flag", "http://c:88", "", "http://c:88"},
		{"with a path", "https://c/otlp/", "", "https://c/otlp/"},
		{"the variable", "", "_ENDPOINT=http://c", "http://c"},
		{"the flag comes first", "http://f", "_ENDPOINT=http://c", "http://f"},
		{"empty is not set", "", "_ENDPOINT= ", "http://localhost:4318"},
		{"IPv6", "http://[::1]:4318", "", "http://[::1]:4318"},
	} {
		got, err := Configure(c.base, env(c.vars))
		if err != nil || got.URL.String() != c.want || len(got.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestConfigureDetails checks the variables besides the endpoint, and the warnings.
func TestConfigureDetails(t *testing.T) {
	for _, c := range []struct {
		vars string // by ;
		want string // timeout gzip headers
		warn string
	}{
		{"", "10s false map[]", ""},
		{"_TIMEOUT=2500", "2.5s false map[]", ""},
		{"_TIMEOUT=10s", "10s false map[]", `OTEL_EXPORTER_OTLP_TIMEOUT ignored: "10s" is not a number of milliseconds`},
		{"_TIMEOUT=0", "10s false map[]", `"0" is not a number`},
		{"_COMPRESSION=gzip", "10s true map[]", ""},
		{"_COMPRESSION=none", "10s false map[]", ""},
		{"_COMPRESSION=zstd", "10s false map[]", `OTEL_EXPORTER_OTLP_COMPRESSION ignored: "zstd" is not gzip`},
		{"_HEADERS=a=1, b = two%20words%2C ,a-b=x==", "10s false map[A:[1] A-B:[x==] B:[two words,]]", ""},
		{"_HEADERS=secret,a=1,e=%zz", "10s false map[A:[1]]", "2 pairs of OTEL_EXPORTER_OTLP_HEADERS ignored: they are not headers like key=value"},
		{"_PROTOCOL=http/protobuf", "10s false map[]", ""},
		{"_PROTOCOL=grpc", "10s false map[]", `"grpc" is not http/protobuf`},
		{"_METRICS_TEMPORALITY_PREFERENCE=Cumulative", "10s false map[]", ""},
		{"_METRICS_TEMPORALITY_PREFERENCE=delta", "10s false map[]", `"delta" is not cumulative`},
		{"_TRACES_ENDPOINT=http://d", "10s false map[]", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ignored: OTEL_EXPORTER_OTLP_ENDPOINT is for all data"},
		{"_INSECURE=true", "10s false map[]", ""},
	} {
		got, err := Configure("http://c", env(strings.Split(c.vars, ";")...))
		if err != nil {
			t.Errorf("%s: %v", c.vars, err)
			continue
		}
		if text := fmt.Sprintf("%v %v %v", got.Timeout, got.Gzip, got.Headers); text != c.want {
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
		{"http://c", "_CERTIFICATE=" + none, fmt.Sprintf("OTEL_EXPORTER_OTLP_CERTIFICATE: no certificate in %q", none)},
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
	got, err := Configure(server.URL, env("_CERTIFICATE="+certificate, "_CLIENT_CERTIFICATE="+certificate, "_CLIENT_KEY="+key))
	if err != nil || got.TLS.RootCAs == nil || len(got.TLS.Certificates) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	news := make(chan string, 1)
	s := newSender(got, "traces", spanKind, "", 1000, news)
	s.putEncoded([]byte("spans"), 7)
	s.close(t.Context())
	if summary(s.sendingCounts()) != "sent 7" {
		t.Error(summary(s.sendingCounts()))
	}
	got, err = Configure(server.URL, env())
	fixture.NoError(t, err)
	s = newSender(got, "traces", spanKind, "", 1000, news)
	s.putEncoded([]byte("spans"), 7)
	over, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s.close(over)
	if text := <-news; !strings.Contains(text, "certificate signed by unknown authority") || len(bodies) != 1 {
		t.Error(text)
	}
}

func TestAsked(t *testing.T) {
	for vars, want := range map[string]bool{"": false, "_ENDPOINT=http://c": true, "_ENDPOINT= ": false, "_LOGS_ENDPOINT=x": false} {
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
		if c.URL.Hostname() == "" || c.Timeout <= 0 || c.Timeout > 1<<31*time.Millisecond {
			t.Errorf("%v, %v", c.URL, c.Timeout)
		}
		s := &sender{to: c, url: c.URL, kind: spanKind, client: newClient(c)}
		(&fakeCollector{}).to(s)
		if o := s.post(t.Context(), message{items: 1}); o.message != "" && !strings.Contains(o.message, "invalid header field") {
			t.Errorf("%+v", o)
		}
		if _, err := proto.Marshal(resourceOf(&about, c.Resource, 0)); err != nil {
			t.Error(err)
		}
	})
}
