package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// measuredBefore are a network and ftgo for a test without other machines: what runs "on" a host is told its
// name, and ftgo there has measured before. Its flags are read by the real one.
var measuredBefore = map[string]string{
	"ssh": `FAKE_HOST=$1; export FAKE_HOST; shift; case $1 in deploy) : >"$FAKES/deployed"; exit ;; esac; exec sh -c "$*"`,
	"ftgo": `case "$1 $FAKE_HOST" in
"probe "?*|"count "?*)
	set -- "$@" -h
	for arg; do shift; [ "$arg" = -p ] && arg=-q; [ "$arg" = shop ] && arg=./shop; set -- "$@" "$arg"; done
	"$FTGO" "$@" >/dev/null || exit
	age=old
	[ ! -e "$FAKES/deployed" ] || age=new
	file=; next=
	for arg; do [ "$next" != -w ] || file=$arg; next=$arg; done
	if [ -n "$file" ]; then cat "$FAKES/$age-$FAKE_HOST" >"$file"; else cat "$FAKES/$age-$FAKE_HOST"; fi ;;
"script "*) echo "cat $FAKES/recording" >record.sh ;;
*) exec "$FTGO" "$@" ;;
esac`,
}

// hereAs runs what a host is told here, under its name.
const hereAs = `name=$1; shift; [ "$1" != deploy ] || exit 0
exec unshare -u sh -c 'hostname "$1"; shift; exec sh -c "$*"' sh "$name" "$@"`

// onMachines runs the shell commands of docs/many-machines.md, as a wording has them, and tells what they
// print, and what is shown behind them.
func onMachines(t *testing.T, dir string, env []string, wording *strings.Replacer, ran func(script, out, shown string)) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixture.Root(), "docs", "many-machines.md"))
	noError(t, err)
	run := func(script string) string {
		cmd := exec.Command("sh", "-eu", "-c", wording.Replace(script))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s\n%v\n%s", script, err, errs.String())
		}
		return string(out)
	}
	blocks := fenced.FindAllStringSubmatch(string(b), -1)
	scripts := 0
	for i, block := range blocks {
		switch {
		case block[1] == "sh":
			scripts++
			out, shown := run(block[2]), ""
			if i+1 < len(blocks) && blocks[i+1][1] == "" {
				shown = blocks[i+1][2]
			}
			ran(block[2], out, shown)
		case block[1] == "yaml":
			_, command, found := strings.Cut(block[2], "cmd: ")
			command, _, _ = strings.Cut(command, "\n")
			if !found || !strings.Contains(command, "{{ at }}") {
				t.Fatalf("no command with a time in\n%s", block[2])
			}
			command = strings.NewReplacer("{{ at }}", "+15s", "/var/tmp/ftgo.json", "ansible.json").Replace(command)
			ran(command, run("ssh web2 \""+command+"\"\nftgo report ansible.json"), "")
		}
	}
	if scripts < 6 {
		t.Errorf("%d scripts", scripts)
	}
}

// TestManyMachines runs the shell commands of docs/many-machines.md, and compares what they print with what is
// shown.
func TestManyMachines(t *testing.T) {
	dir, bin := t.TempDir(), withStandIns(t, measuredBefore)
	hosts := []string{"web1", "web2", "web3"}
	for i, host := range hosts {
		old := []behaviour{{"main.get", 1000 + 5*i*(i-1), 76e3, 2}, {"main.put", 200, 12e3, 0}}
		now := []behaviour{{"main.get", 1005, 84e3, 2}, {"main.put", 200, 12e3, 0}}
		for age, text := range map[string]string{"old": ranWith(t, uint64(i), host, old...), "new": ranWith(t, uint64(i+10), host, now...)} {
			noError(t, os.WriteFile(filepath.Join(bin, age+"-"+host), []byte(text), 0o600))
		}
	}
	noError(t, os.WriteFile(filepath.Join(bin, "recording"), []byte(madeUp), 0o600))
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "FAKES=" + bin, "FTGO=" + built(t), "FAKE_HOST=", "TZ=UTC"}
	onMachines(t, dir, env, strings.NewReplacer(), func(script, out, shown string) {
		if shown != "" && out != shown {
			t.Errorf("%s\nprints\n%s\nthe page says\n%s", script, out, shown)
		}
	})
}

// TestKernelManyMachines runs the same commands, each host being this one under another name: what they measure
// is of that name, all of it is accounted for, and it is in each table.
func TestKernelManyMachines(t *testing.T) {
	tracetest.Kernel(t)
	fixture.NeedLong(t) // each moment is as far ahead as the page has it
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command("date", "-d", "+1 seconds").CombinedOutput(); err != nil {
		t.Skipf("the page's date is GNU's: %v\n%s", err, out)
	}
	dir, shop := t.TempDir(), fmt.Sprintf("shop-%d", os.Getpid())
	program := filepath.Join(dir, shop)
	copyFile(t, fixture.Build(t, "server"), program)
	server(t, program)
	noError(t, os.Symlink(program, filepath.Join(dir, "shop")))
	env := []string{"PATH=" + withStandIns(t, map[string]string{"ssh": hereAs}) + ":" + os.Getenv("PATH")}
	wording := strings.NewReplacer("-p shop ", "-p "+shop+" ", "main.get", "main.tick", "-d 20", "-d 3")
	onMachines(t, dir, env, wording, func(script, out, shown string) {
		if shown != "" && !strings.Contains(out, "\nmain.tick ") || strings.Contains(script, "ftgo report") && !strings.Contains(out, "main.tick") {
			t.Errorf("%s\nprints\n%s", script, out)
		}
		if strings.Contains(script, "--per-host") && !strings.Contains(out, "web") {
			t.Errorf("%s\nhas no hosts\n%s", script, out)
		}
	})
	for _, name := range []string{"web1.json", "web2.json", "web3.json", "web1.count.json", "ansible.json", "old/web1.json", "new/web3.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		noError(t, err)
		o := readObserved(t, string(text))
		if s := o.summary; s.Probes == 0 || s.Delivered+s.Lost != s.Hits || !strings.Contains(string(text), `"host":"web`) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
