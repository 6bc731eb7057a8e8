package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestDashboard: docs/grafana-dashboard.json asks for metrics that docs/formats.md has, by labels that these have.
func TestDashboard(t *testing.T) {
	read := func(name string) string { return readFile(t, filepath.Join(fixture.Root(), "docs", name)) }
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Definition string }
		}
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	noError(t, json.Unmarshal([]byte(read("grafana-dashboard.json")), &dashboard))
	// What a metric may be asked for, and its labels; targets of Prometheus have more.
	labels := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(ftgo_\\w+)` \\| (\\w+) \\| ([^|]*) \\|").FindAllStringSubmatch(read("formats.md"), -1) {
		if m[2] != "histogram" {
			labels[m[1]] = m[3]
			continue
		}
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			labels[m[1]+part] = m[3] + ", le"
		}
	}
	if len(labels) < 20 {
		t.Fatalf("docs/formats.md has the metrics %v", labels)
	}
	metric := regexp.MustCompile(`(ftgo_\w+)(?:\{(\w+)=~)?`)
	check := func(where, expr string) {
		t.Helper()
		found := metric.FindAllStringSubmatch(expr, -1)
		for _, m := range found {
			of, known := labels[m[1]]
			if !known || m[2] != "" && !strings.Contains(of, m[2]) {
				t.Errorf("%s: no metric %s, or none with label %q: %s", where, m[1], m[2], expr)
			}
		}
		if len(found) == 0 || strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
			t.Errorf("%s: %s", where, expr)
		}
	}
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range dashboard.Templating.List {
		if variables[v.Name] = true; v.Definition != "" {
			check(v.Name, v.Definition)
		}
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || (p.Type != "row") != (len(p.Targets) > 0) {
			t.Errorf("panel %d %q, of type %s, has %d targets", p.ID, p.Title, p.Type, len(p.Targets))
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
			for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !variables[v[1]] {
					t.Errorf("%s: no variable %s", p.Title, v[0])
				}
			}
			for _, l := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				if by := regexp.MustCompile(`sum by \(([^)]*)\)`).FindStringSubmatch(target.Expr); by == nil || !strings.Contains(by[1], l[1]) {
					t.Errorf("%s: no label %s is left by %s", p.Title, l[1], target.Expr)
				}
			}
		}
	}
	if len(ids) < 10 {
		t.Errorf("%d panels", len(ids))
	}
}
