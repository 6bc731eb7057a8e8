package trials

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// Functions of servers that their metrics count.
const (
	statsdLine  = "github.com/prometheus/statsd_exporter/pkg/line.(*Parser).LineToEvents"
	statsdEvent = "github.com/prometheus/statsd_exporter/pkg/exporter.(*Exporter).handleEvent"
	proxyServe  = "main.(*OAuthProxy).ServeHTTP"
)

// startStatsd starts a statsd_exporter that gets 20,000 lines a second of three counters.
func startStatsd(t *testing.T) *tallyRun {
	address, books := freeAddress(t), freeAddress(t)
	w := startServer(t, "github.com/prometheus/statsd_exporter@v0.31.0", books,
		[]string{"--web.listen-address", books, "--statsd.listen-udp=", "--statsd.listen-tcp", address, "--statsd.event-flush-interval=10ms", "--log.level=error"},
		[]tallyRow{{Function: statsdLine, Units: 1}, {Function: statsdLine, Value: "tea:1|c"}, {Function: statsdLine, Value: "cup:1|c"}, {Function: statsdLine, Value: "mug:1|c"}, {Function: statsdEvent}},
		[]string{"statsd_exporter_lines_total", "tea", "cup", "mug", `statsd_exporter_events_total{type="counter"}`})
	conn, err := net.Dial("tcp", address)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		lines := strings.Repeat("tea:1|c\n", 70) + strings.Repeat("cup:1|c\n", 25) + strings.Repeat("mug:1|c\n", 5)
		for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
			if _, err := io.WriteString(conn, lines); err != nil {
				return
			}
		}
	}()
	return w
}

// startProxy starts an oauth2-proxy that gets some thousand requests a second.
func startProxy(t *testing.T) *tallyRun {
	address, books := freeAddress(t), freeAddress(t)
	w := startServer(t, "github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6", books,
		[]string{"--http-address", address, "--metrics-address", books, "--upstream=static://200", "--skip-auth-route=.*", "--email-domain=*",
			"--cookie-secret=0123456789abcdef", "--client-id=a", "--client-secret=b", "--provider=github", "--request-logging=false"},
		[]tallyRow{{Function: proxyServe, Units: 1}}, []string{`oauth2_proxy_requests_total{code="200"}`})
	for range 4 {
		go func() {
			for tick := time.NewTicker(4 * time.Millisecond); ; <-tick.C {
				answer, err := http.Get("http://" + address + "/tea")
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
	}
	return w
}

// startServer installs and starts a server whose metrics have the calls of rows.
func startServer(t *testing.T, module, books string, args []string, rows []tallyRow, metrics []string) *tallyRun {
	install := command(t, 10*time.Minute, "go", "install", module)
	install.Env = append(install.Environ(), "GOBIN="+fixture.Dir(t))
	_, err := install.run()
	check(t, err)
	path, _, _ := strings.Cut(module, "@")
	name := filepath.Base(path)
	if strings.HasPrefix(name, "v") {
		name = filepath.Base(filepath.Dir(path))
	}
	server := command(t, time.Hour, filepath.Join(fixture.Dir(t), name), args...)
	check(t, server.start())
	w := &tallyRun{pid: server.Process.Pid, rows: rows, every: 25 * time.Millisecond, slack: 25 * time.Millisecond, end: server.kill}
	w.read = func() []tallyCounts {
		now, err := scraped(books, metrics)
		if err != nil {
			return make([]tallyCounts, len(metrics))
		}
		return now
	}
	awaited(t, func() bool {
		_, err := scraped(books, metrics)
		return err == nil
	})
	w.begin()
	return w
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

// scraped are the values of metrics; what is not there yet is 0.
func scraped(address string, metrics []string) ([]tallyCounts, error) {
	page, err := get("http://" + address + "/metrics")
	if err != nil {
		return nil, err
	}
	values := make([]tallyCounts, len(metrics))
	for line := range strings.Lines(string(page)) {
		for i, name := range metrics {
			if text, ok := strings.CutPrefix(line, name+" "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil {
					return nil, fmt.Errorf("read %s: %w", line, err)
				}
				values[i].calls = uint64(v)
			}
		}
	}
	return values, nil
}
