package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// checkLine is a line of doctor -o json.
type checkLine struct {
	Type, Check, State, Text, Fix string
	NS                            struct{ Entry, Return, Word, Fault float64 }
}

func readChecks(t *testing.T, text string) map[string]checkLine {
	t.Helper()
	checks := make(map[string]checkLine)
	for _, c := range decoded[checkLine](t, text) {
		if c.Type != "check" || c.Text == "" || checks[c.Check].Type != "" {
			t.Errorf("%+v in\n%s", c, text)
		}
		checks[c.Check] = c
	}
	return checks
}

// TestKernelDoctor: where the kernel tests run, probing works, and can be tried with an
// executable that is stripped, too.
func TestKernelDoctor(t *testing.T) {
	f := tracetest.Kernel(t)
	good := map[string]bool{"ok": true, "warning": !f.Features().Append} // of the kernel's age
	stripped := fixture.Command(t, "cmd/ftgo", "-ldflags=-s -w")
	for _, bin := range []string{built(t), stripped} {
		out, err := exec.Command(bin, "doctor", "-o", "json").Output()
		if err != nil {
			t.Errorf("doctor: %v", err)
		}
		checks := readChecks(t, string(out))
		for name, c := range checks {
			if c.State == "missing" {
				t.Errorf("%s: missing: %s", name, c.Text)
			}
		}
		for _, name := range []string{"uprobe_events", "tracefs", "permission", "instances", "cost"} {
			if checks[name].State != "ok" {
				t.Errorf("%s: %+v", name, checks[name])
			}
		}
		if !good[checks["kernel"].State] {
			t.Errorf("kernel: %+v", checks["kernel"])
		}
		if ns := checks["cost"].NS; ns.Entry <= 0 || ns.Return <= 0 || ns.Word < 0 || ns.Fault < 0 { // the last is a difference, which noise may cover
			t.Errorf("cost: %+v", checks["cost"])
		}
	}
	// Where the top level of tracefs is all there is, nothing is tried unasked.
	if r := ftgoOn(t, linux310, "doctor", "-o", "json"); r.code != 0 || !strings.Contains(readChecks(t, r.stdout)["cost"].Text, "top level") {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	// In this process, ftgo's functions have other names: that can't be tried is said.
	if r := ftgo(t, "doctor", "-o", "json"); r.code != 0 || readChecks(t, r.stdout)["cost"].State != "unknown" {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestRemedy(t *testing.T) {
	ok := doctor.Finding{Check: "kernel", State: doctor.OK, Text: "Linux"}
	for _, c := range []struct {
		found []doctor.Finding
		want  string
	}{
		{nil, "; see ftgo doctor"},
		{[]doctor.Finding{ok, {Check: "hist", State: doctor.Warning, Text: "no"}}, "; see ftgo doctor"},
		{[]doctor.Finding{ok, {Check: "lockdown", State: doctor.Missing, Text: "locked down"}, {Check: "permission", State: doctor.Missing}},
			"; lockdown: locked down; see ftgo doctor"},
		{[]doctor.Finding{{Check: "tracefs", State: doctor.Missing, Text: "not mounted", Fix: "mount it"}}, "; tracefs: not mounted: $ mount it; see ftgo doctor"},
		{[]doctor.Finding{{Check: "permission", State: doctor.Missing, Text: "no", Fix: "sudo ftgo doctor"}}, "; permission: no: $ sudo ftgo doctor"},
	} {
		if got := remedy(c.found); got != c.want {
			t.Errorf("remedy %q, want %q", got, c.want)
		}
	}
}

// TestWriteChecks: findings are a line each, and what is foreign in them is escaped.
func TestWriteChecks(t *testing.T) {
	checks := []doctor.Finding{
		{Check: "kernel", State: "ok", Text: "Linux 6.18.0"},
		{Check: "tracefs", State: "missing", Text: "since Linux 5.4: an event \x1b[31ma site\n=1", Fix: "mount -t tracefs \x1b[2J"},
		{Check: "cost", State: "ok", Text: "a hit costs 593ns"},
	}
	for format, want := range map[render.Format]string{
		render.Table: `ok       kernel   Linux 6.18.0
missing  tracefs  since Linux 5.4: an event \x1b[31ma site\x0a=1
                  $ mount -t tracefs \x1b[2J
ok       cost     a hit costs 593ns
`,
		render.JSON: `{"type":"check","check":"kernel","state":"ok","text":"Linux 6.18.0"}
{"type":"check","check":"tracefs","state":"missing","text":"since Linux 5.4: an event \u001b[31ma site\n=1","fix":"mount -t tracefs \u001b[2J"}
{"type":"check","check":"cost","state":"ok","text":"a hit costs 593ns","ns":{"entry":593.5,"fault":450}}
`,
		render.CSV: `check,state,text,fix
kernel,ok,Linux 6.18.0,
tracefs,missing,since Linux 5.4: an event \x1b[31ma site\x0a=1,mount -t tracefs \x1b[2J
cost,ok,a hit costs 593ns,
`,
	} {
		var b bytes.Buffer
		if err := writeChecks(&b, format, checks, map[string]float64{"entry": 593.5, "fault": 450}); err != nil || b.String() != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", format, err, b.String(), want)
		}
	}
}
