package trials

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

const (
	exportHalves = 20   // of minutes, unless -runs says otherwise
	exportOff    = 0.01 // what rates and quantiles may be off
	prometheusAt = "127.0.0.1:8703"
)

// clerkPage is what a testdata/clerk knows of a function.
type clerkPage struct {
	Calls     int
	Quantiles []float64
}

// exports compares what Prometheus makes of ftgo export on a server under load with the server's own books.
func exports(t *testing.T) {
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v (Debian's package prometheus has it)", err)
		}
	}
	clerk := command(t, time.Hour, fixture.Build(t, "clerk"))
	address := spoken(t, clerk, "")
	ftgo := command(t, time.Hour, fixture.Command(t, "cmd/ftgo"), "export", "--listen", "127.0.0.1:8702", clerk.Path, "main.greet", "main.search", "main.weigh", "main.pack", "main.deliver")
	check(t, ftgo.start())
	awaited(t, func() bool {
		return strings.Contains(fetched("http://127.0.0.1:8702/metrics"), "ftgo_function_calls_total")
	})
	linted := exec.Command("promtool", "check", "metrics")
	linted.Stdin = strings.NewReader(fetched("http://127.0.0.1:8702/metrics"))
	if out, err := linted.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}

	dir := t.TempDir()
	config := "global: {scrape_interval: 1s}\nscrape_configs:\n- {job_name: ftgo, static_configs: [{targets: ['127.0.0.1:8702']}]}\n- {job_name: clerk, static_configs: [{targets: ['" + address + "']}]}\n"
	check(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	prometheus := command(t, time.Hour, "prometheus", "--config.file="+dir+"/prometheus.yml", "--storage.tsdb.path="+dir+"/data", "--web.listen-address="+prometheusAt, "--enable-feature=native-histograms")
	check(t, prometheus.start())
	awaited(t, func() bool { return len(queried("ftgo_function_calls_total")) == 5 })
	window := cmp.Or(*runs, exportHalves) * 30
	select {
	case <-interrupted.Done():
		t.Fatal("interrupted")
	case <-time.After(time.Duration(window+2) * time.Second):
	}
	compareBooks(t, window, address)
	check(t, ftgo.signal(syscall.SIGTERM))
	if o, err := ftgo.wait(); err != nil {
		t.Errorf("%v: %s", err, o.stderr)
	}
}

// compareBooks compares the numbers of so many seconds until now.
func compareBooks(t *testing.T, seconds int, address string) {
	at := time.Now()
	window := fmt.Sprintf("[%ds]", seconds)
	var books map[string]clerkPage
	check(t, json.Unmarshal([]byte(fetched(fmt.Sprintf("http://%s/books?from=%d&to=%d", address, at.Add(-time.Duration(seconds)*time.Second).UnixNano(), at.UnixNano()))), &books))
	seen, own := queried("rate(ftgo_function_calls_total"+window+")"), queried("rate(clerk_calls_total"+window+")")
	compare := func(what, function string, got, want float64) {
		off, verdict := got/want-1, ""
		if !(math.Abs(off) <= exportOff) {
			verdict = ": too far"
			t.Errorf("%s of %s: %v, not %v", what, function, got, want)
		}
		fmt.Printf("%-13s %-4s %10.6f, by its books %10.6f: %+.2f%%%s\n", function, what, got, want, 100*off, verdict)
	}
	functions := slices.Sorted(maps.Keys(books))
	for _, function := range functions {
		compare("rate", function, seen[function], own[function])
	}
	for i, percent := range []int{50, 90, 99} { // as the books have them
		quantiles := queried(fmt.Sprintf("histogram_quantile(0.%d, rate(ftgo_function_duration_seconds%s))", percent, window))
		for _, function := range functions {
			compare(fmt.Sprint("p", percent), function, quantiles[function], books[function].Quantiles[i])
		}
	}
}

// spoken starts a program, and is the first line that it prints behind some text.
func spoken(t *testing.T, c *child, behind string) string {
	c.Stdout = nil
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.start())
	line, err := bufio.NewReader(out).ReadString('\n')
	check(t, err)
	return strings.TrimSpace(strings.TrimPrefix(line, behind))
}

// fetched is what is at an address, "" if nobody answers.
func fetched(address string) string {
	answer, err := http.Get(address)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}

// queried is what Prometheus answers, by function.
func queried(query string) map[string]float64 {
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	_ = json.Unmarshal([]byte(fetched("http://"+prometheusAt+"/api/v1/query?query="+url.QueryEscape(query))), &answer) // none is none
	values := make(map[string]float64)
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[r.Metric["function"]] = value
		}
	}
	return values
}

// awaited waits until something is so.
func awaited(t *testing.T, so func() bool) {
	for range 300 {
		if so() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("it does not come to that within 30 s")
}
