package main

import (
	"bytes"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/doctor"
)

// checkLine is a line of doctor -o json.
type checkLine struct {
	Type, Check, State, Text, Fix string
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
